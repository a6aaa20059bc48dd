package lsp

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
)

// Name is the name of the tool.
const Name = "lsp"

//go:embed lsp.md
var description string

type arguments struct {
	Action  string `json:"action" enum:"definition,references,hover,symbols,diagnostics,rename"`
	Name    string `json:"name,omitempty" jsonschema:"symbol, such as Parse or Config.Load"`
	Path    string `json:"path,omitempty" jsonschema:"file"`
	Line    int    `json:"line,omitempty" jsonschema:"line of the symbol in path" min:"1"`
	NewName string `json:"new_name,omitempty"`
}

// The actions.
const (
	definition  = "definition"
	references  = "references"
	hover       = "hover"
	symbols     = "symbols"
	diagnostics = "diagnostics"
	rename      = "rename"
)

// Tool returns the tool for a session in the directory. A rename changes files through set.
func (m *Servers) Tool(ws *workspace.Workspace, set *files.Set) tool.Tool {
	a := asker{m, ws, set}
	return tool.New(Name, description, a.effects, a.run, tool.WithTitle(title), tool.WithPreview(func(ctx context.Context, args arguments) (string, error) {
		if args.Action != rename {
			return "", nil
		}
		all, err := a.rename(ctx, args)
		if err != nil {
			return "", err
		}
		return set.PreviewRewrite(ctx, all)
	}))
}

func title(args arguments) string {
	words := []string{args.Action, args.Name}
	if args.Action == rename {
		words = append(words, "to", args.NewName)
	}
	if args.Path != "" {
		words = append(words, "in", args.Path)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// asker answers the calls of one session.
type asker struct {
	*Servers
	ws  *workspace.Workspace
	set *files.Set
}

// effects declares the whole project as read, because the server reads it, and the files that a rename changes.
func (a asker) effects(ctx context.Context, args arguments) (tool.Effects, error) {
	e := tool.Effects{Reads: []tool.Path{tool.Tree(a.ws.Dir())}, Idempotent: args.Action != rename}
	if args.Path != "" {
		name, err := a.ws.Resolve(args.Path)
		if err != nil {
			return e, err
		}
		if _, ok := a.specOf(name); !ok {
			return e, tool.Codef("lsp.no_server", "no language server is configured for %s", workspace.Quote(args.Path))
		}
	}
	switch {
	case args.Action == rename && (args.Name == "" || args.NewName == ""):
		return e, tool.Codef("tool.arguments", "rename needs name and new_name")
	case args.Action == rename:
		all, err := a.rename(ctx, args)
		for _, one := range all {
			e.Writes = append(e.Writes, tool.File(one.Path))
		}
		return e, err
	case args.Action == symbols && args.Name == "" && args.Path == "":
		return e, tool.Codef("tool.arguments", "symbols needs a path or a name")
	case args.Action != symbols && args.Action != diagnostics && args.Name == "":
		return e, tool.Codef("tool.arguments", "%s needs the name of a symbol", args.Action)
	}
	return e, nil
}

func (a asker) run(ctx context.Context, args arguments, _ tool.Report) (tool.Result, error) {
	var text, brief string
	var err error
	switch args.Action {
	case rename:
		return a.apply(ctx, args)
	case diagnostics:
		text, brief, err = a.diagnostics(ctx, args)
	case symbols:
		text, brief, err = a.symbols(ctx, args)
	case hover:
		text, err = a.hover(ctx, args)
	default:
		text, brief, err = a.locations(ctx, args)
	}
	if err != nil {
		return tool.Result{}, err
	}
	text, _ = tool.Bound(text, maxText)
	return tool.TextResult(text).With(brief, nil), nil
}

// apply makes a rename. If it has come to change other files than those that were approved, it changes nothing.
func (a asker) apply(ctx context.Context, args arguments) (tool.Result, error) {
	all, err := a.rename(ctx, args)
	if err != nil {
		return tool.Result{}, err
	}
	e, _ := tool.EffectsOf(ctx)
	for _, one := range all {
		if !slices.Contains(e.Writes, tool.File(one.Path)) {
			return tool.Result{}, tool.Codef("tool.changed", "the rename now also changes %s; call the tool again", workspace.Quote(a.ws.Rel(one.Path)))
		}
	}
	return a.set.Rewrite(ctx, all)
}

// limited returns a context that ends with the time for an answer.
func (a asker) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, a.o.Answer)
}

// diagnostics lists the problems of a file, or those of all files that the running servers know.
func (a asker) diagnostics(ctx context.Context, args arguments) (text, brief string, err error) {
	ctx, cancel := a.limited(ctx)
	defer cancel()
	var all []*server
	var only, late string
	if args.Path != "" {
		only, err = a.ws.Resolve(args.Path)
		if err != nil {
			return "", "", err
		}
		s, err := a.opened(ctx, only)
		if err != nil {
			return "", "", err
		}
		if !s.await(ctx, 0, []string{only}) {
			late = unchecked(s.spec.Name, a.o.Answer)
		}
		all = append(all, s)
	} else if all, err = a.project(ctx); err != nil {
		return "", "", err
	}
	var b strings.Builder
	count, shown := 0, 0
	for _, s := range all {
		if only == "" && !a.checked(ctx, s) {
			late += unchecked(s.spec.Name, a.o.First)
		}
		s.mu.Lock()
		for _, name := range slices.Sorted(maps.Keys(s.found)) {
			list := s.found[name].problems
			if only != "" && name != only || len(list) == 0 {
				continue
			}
			if count += len(list); shown < maxListed {
				fmt.Fprintf(&b, "%s:\n", relative(a.o.Root, name))
				s.list(&b, name, list, maxListed-shown)
				shown += len(list)
			}
		}
		s.mu.Unlock()
	}
	switch {
	case count == 0 && late != "":
		return late, "not checked", nil
	case count == 0:
		return "no errors or warnings", "no problems", nil
	case count > shown:
		fmt.Fprintf(&b, "[%d problems in all]\n", count)
	}
	return b.String() + late, tool.Count(count, "problem"), nil
}

// checked waits until a server has reported about its open files. If none is open, it opens a file of the project first: a server that has just
// started reports about that one even if it is in order, and so shows when it has looked.
func (a asker) checked(ctx context.Context, s *server) bool {
	ctx, cancel := context.WithTimeout(ctx, a.o.First)
	defer cancel()
	s.open(a.ws)
	if len(s.names()) == 0 {
		if name := s.spec.any(a.o.Root); name != "" {
			s.open(a.ws, name)
		}
	}
	return s.await(ctx, 0, s.names())
}

// unchecked says that a server has not reported in time.
func unchecked(name string, limit time.Duration) string {
	return fmt.Sprintf("[%s has not checked everything within %s; lsp diagnostics asks again]\n", name, limit)
}

// maxListed is the number of problems, symbols or places in an answer.
const maxListed = 100

// project returns the servers that run or, if there are none, those of the project.
func (a asker) project(ctx context.Context) (all []*server, err error) {
	for _, spec := range a.o.Servers {
		if s := a.current(spec.Name); s != nil {
			all = append(all, s)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	for _, spec := range a.o.Servers {
		if !Available(a.o.Root, []Spec{spec}) {
			continue
		}
		s, err := a.server(ctx, spec)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, tool.Codef("lsp.no_server", "no language server is running; give the path of a file")
	}
	return all, nil
}

// opened returns the server for a file, which is open there.
func (a asker) opened(ctx context.Context, name string) (*server, error) {
	spec, ok := a.specOf(name)
	if !ok {
		return nil, tool.Codef("lsp.no_server", "no language server is configured for %s", workspace.Quote(a.ws.Rel(name)))
	}
	if !installed(spec, a.o.Root) {
		return nil, tool.Codef("lsp.no_server", "%s is not installed", spec.Command)
	}
	if _, err := a.ws.Stat(name); err != nil {
		return nil, tool.NotFound(ctx, a.ws, a.ws.Rel(name), workspace.Quote)
	}
	s, err := a.server(ctx, spec)
	if err != nil {
		return nil, err
	}
	if len(s.open(a.ws, name)) == 0 {
		return nil, fmt.Errorf("%s cannot be read, or has more than %d bytes", workspace.Quote(a.ws.Rel(name)), maxDocument)
	}
	return s, nil
}

// hover returns what the server knows about a symbol: its signature and its documentation.
func (a asker) hover(ctx context.Context, args arguments) (string, error) {
	ctx, cancel := a.limited(ctx)
	defer cancel()
	p, err := a.find(ctx, args)
	if err != nil {
		return "", err
	}
	var answer struct {
		Contents markup `json:"contents"`
	}
	if err := p.call(ctx, "textDocument/hover", p.params(), &answer); err != nil {
		return "", err
	}
	text := strings.TrimSpace(harmless(string(answer.Contents)))
	if text == "" {
		return "", errors.New("the server knows nothing about this symbol")
	}
	return text, nil
}

// locations lists the definitions of a symbol, or its references.
func (a asker) locations(ctx context.Context, args arguments) (text, brief string, err error) {
	ctx, cancel := a.limited(ctx)
	defer cancel()
	p, err := a.find(ctx, args)
	if err != nil {
		return "", "", err
	}
	params := p.params()
	if args.Action == references {
		params["context"] = map[string]any{"includeDeclaration": false}
	}
	var found locations
	if err := p.call(ctx, "textDocument/"+args.Action, params, &found); err != nil {
		return "", "", err
	}
	if len(found) == 0 {
		return fmt.Sprintf("no %s found", args.Action), "none", nil
	}
	return a.places(p.server, found), tool.Count(len(found), "place"), nil
}

// places lists places with their lines, by file.
func (a asker) places(s *server, found locations) string {
	slices.SortStableFunc(found, func(x, y location) int {
		if x.URI != y.URI {
			return strings.Compare(x.URI, y.URI)
		}
		return x.Range.Start.Line - y.Range.Start.Line
	})
	var b strings.Builder
	last, text := "", ""
	for _, l := range found[:min(len(found), maxListed)] {
		name := pathOf(l.URI)
		if name == "" {
			continue
		}
		if name != last {
			last, text = name, s.text(a.ws, name)
			fmt.Fprintf(&b, "%s:\n", relative(a.o.Root, name))
		}
		from := lineStart(text, l.Range.Start.Line)
		line, _, _ := strings.Cut(text[from:], "\n")
		fmt.Fprintf(&b, "%d: %s\n", l.Range.Start.Line+1, oneLine(line, maxLine))
	}
	if more := len(found) - maxListed; more > 0 {
		fmt.Fprintf(&b, "[%d more]\n", more)
	}
	return b.String()
}

// text returns the text of a file as the server knows it, or as the session may read it; else "".
func (s *server) text(from reader, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.docs[name]; d != nil {
		return d.text
	}
	data, err := from.ReadFile(name, maxDocument)
	if err != nil {
		return ""
	}
	return string(data)
}
