package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// markup is the text of a hover, of which the protocol has four forms.
type markup string

// UnmarshalJSON implements [json.Unmarshaler].
func (m *markup) UnmarshalJSON(data []byte) error {
	var many []markup
	var one struct{ Value string }
	var text string
	switch {
	case json.Unmarshal(data, &text) == nil:
		*m = markup(text)
	case json.Unmarshal(data, &many) == nil:
		for _, each := range many {
			*m += each + "\n"
		}
	default:
		err := json.Unmarshal(data, &one)
		*m = markup(one.Value)
		return err
	}
	return nil
}

// locations are one or several locations or links.
type locations []location

// UnmarshalJSON implements [json.Unmarshaler].
func (l *locations) UnmarshalJSON(data []byte) error {
	var many []location
	if err := json.Unmarshal(data, &many); err != nil {
		many = make([]location, 1)
		if err := json.Unmarshal(data, &many[0]); err != nil {
			return err
		}
	}
	for i, one := range many {
		if one.TargetURI != "" {
			many[i] = location{URI: one.TargetURI, Range: one.TargetRange}
		}
	}
	*l = many
	return nil
}

// symbol is a symbol of a file or of the project.
type symbol struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Container string   `json:"containerName"`
	Range     span     `json:"range"`
	Selection span     `json:"selectionRange"`
	Location  location `json:"location"` // in lists without children
	Children  []symbol `json:"children"`
}

// kinds are the names of the kinds of symbols, from 1.
const kinds = "file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter"

func (s symbol) kind() string {
	if names := strings.Fields(kinds); s.Kind >= 1 && s.Kind <= len(names) {
		return names[s.Kind-1]
	}
	return "symbol"
}

// matches reports whether a symbol has a name, such as Load or Config.Load.
func (s symbol) matches(name string) bool {
	whole := s.Name
	if s.Container != "" {
		whole = s.Container + "." + s.Name
	}
	return s.Name == name || strings.HasSuffix(s.Name, "."+name) || strings.HasSuffix(whole, "."+name) ||
		strings.HasSuffix(s.Name, ")."+name) || strings.TrimLeft(strings.NewReplacer("(", "", ")", "", "*", "").Replace(s.Name), "*") == name
}

// place is a symbol in an open file.
type place struct {
	*server
	name string
	at   position
}

func (p place) params() map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uriOf(p.name)}, "position": p.at}
}

// find returns the place of the symbol of a call.
func (a asker) find(ctx context.Context, args arguments) (place, error) {
	name, line := "", args.Line
	if args.Path != "" {
		var err error
		if name, err = a.ws.Resolve(args.Path); err != nil {
			return place{}, err
		}
	} else {
		found, err := a.search(ctx, args.Name)
		if err != nil {
			return place{}, err
		}
		found = slices.DeleteFunc(found, func(s symbol) bool { return !s.matches(args.Name) || pathOf(s.Location.URI) == "" })
		switch {
		case len(found) == 0:
			return place{}, tool.Codef("tool.not_found", "the project has no symbol %s; give the path and line of one of its occurrences", oneLine(args.Name, maxLine))
		case len(found) > 1:
			return place{}, tool.Codef("tool.ambiguous", "several symbols have this name; give path and line of the one you mean:\n%s", a.symbolList(found))
		}
		name, line = pathOf(found[0].Location.URI), found[0].Location.Range.Start.Line+1
	}
	s, err := a.opened(ctx, name)
	if err != nil {
		return place{}, err
	}
	text := s.text(a.ws, name)
	at := -1
	if line == 0 {
		at = s.declared(ctx, name, text, args.Name)
	}
	if at < 0 {
		if at, err = occurrence(text, args.Name, line); err != nil {
			return place{}, fmt.Errorf("%s: %w", workspace.Quote(a.ws.Rel(name)), err)
		}
	}
	return place{s, name, positionAt(text, at, s.bytes)}, nil
}

// declared returns the offset at which a file declares a symbol, if the server names exactly one; else -1.
func (s *server) declared(ctx context.Context, name, text, symbolName string) int {
	all, err := s.outline(ctx, name)
	if err != nil {
		return -1
	}
	var found []symbol
	var look func(all []symbol, within string)
	look = func(all []symbol, within string) {
		for _, one := range all {
			if one.Container == "" {
				one.Container = within
			}
			if one.matches(symbolName) {
				found = append(found, one)
			}
			look(one.Children, one.Name)
		}
	}
	if look(all, ""); len(found) != 1 {
		return -1
	}
	from := offset(text, found[0].Selection.Start, s.bytes)
	if at := word(text[from:], last(symbolName)); at >= 0 {
		return from + at
	}
	return -1
}

func (s *server) outline(ctx context.Context, name string) ([]symbol, error) {
	var all []symbol
	err := s.call(ctx, "textDocument/documentSymbol", document1(name), &all)
	for i, one := range all {
		if one.Location.URI != "" {
			all[i].Range, all[i].Selection = one.Location.Range, one.Location.Range
		}
	}
	return all, err
}

// last is the last part of a qualified name.
func last(name string) string { return name[strings.LastIndexAny(name, ".:#")+1:] }

// occurrence returns the offset of a symbol in a line, or of its first occurrence if line is 0.
func occurrence(text, name string, line int) (int, error) {
	short := last(name)
	if line > 0 {
		from := lineStart(text, line-1)
		row, _, _ := strings.Cut(text[from:], "\n")
		if at := word(row, name); at >= 0 {
			return from + at + len(name) - len(short), nil
		}
		if at := word(row, short); at >= 0 {
			return from + at, nil
		}
	} else if at := word(text, short); at >= 0 {
		return at, nil
	}
	var lines []string
	for i, row := range strings.Split(text, "\n") {
		if word(row, short) >= 0 && len(lines) < 20 {
			lines = append(lines, fmt.Sprint(i+1))
		}
	}
	if len(lines) == 0 {
		return 0, tool.Codef("tool.not_found", "the file does not contain %s", oneLine(short, maxLine))
	}
	return 0, tool.Codef("tool.not_found", "line %d does not contain %s; these lines do: %s", line, oneLine(short, maxLine), strings.Join(lines, ", "))
}

// word returns the offset of the first occurrence of a name that is not a part of a longer one; -1: there is none.
func word(text, name string) int {
	if name == "" {
		return -1
	}
	part := func(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !part(before) && !part(after) {
			return i
		}
		from = i + len(name)
	}
}

// search finds symbols of the project by a part of their name.
func (a asker) search(ctx context.Context, name string) (found []symbol, err error) {
	all, err := a.project(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		s.open(a.ws)
		var some []symbol
		if err = s.call(ctx, "workspace/symbol", map[string]any{"query": last(name)}, &some); err == nil {
			found = append(found, some...)
		}
	}
	if len(found) > 0 {
		err = nil
	}
	return found, err
}

// symbols lists the outline of a file, or the symbols of the project with a name.
func (a asker) symbols(ctx context.Context, args arguments) (text, brief string, err error) {
	ctx, cancel := a.limited(ctx)
	defer cancel()
	if args.Path == "" {
		found, err := a.search(ctx, args.Name)
		if err != nil {
			return "", "", err
		}
		if len(found) == 0 {
			return "no symbols found", "none", nil
		}
		return a.symbolList(found), tool.Count(len(found), "symbol"), nil
	}
	name, err := a.ws.Resolve(args.Path)
	if err != nil {
		return "", "", err
	}
	s, err := a.opened(ctx, name)
	if err != nil {
		return "", "", err
	}
	all, err := s.outline(ctx, name)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	count := 0
	var write func(all []symbol, indent string)
	write = func(all []symbol, indent string) {
		for _, one := range all {
			if count++; count <= 3*maxListed && len(indent) < 8 {
				fmt.Fprintf(&b, "%s%d-%d %s %s\n", indent, one.Range.Start.Line+1, one.Range.End.Line+1, one.kind(), oneLine(one.Name, maxLine))
			}
			write(one.Children, indent+"  ")
		}
	}
	if write(all, ""); count == 0 {
		return "no symbols found", "none", nil
	}
	return b.String(), tool.Count(count, "symbol"), nil
}

// symbolList lists symbols of the project.
func (a asker) symbolList(found []symbol) string {
	var b strings.Builder
	for _, one := range found[:min(len(found), maxListed/2)] {
		fmt.Fprintf(&b, "%s:%d %s %s\n", relative(a.o.Root, pathOf(one.Location.URI)), one.Location.Range.Start.Line+1, one.kind(), oneLine(one.Name, maxLine))
	}
	if more := len(found) - maxListed/2; more > 0 {
		fmt.Fprintf(&b, "[%d more]\n", more)
	}
	return b.String()
}
