package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
)

// The columns of the table, but for the first.
const (
	contextWidth = 5
	outputWidth  = 5
	priceWidth   = 11
	canWidth     = 13
	factsWidth   = 2 + contextWidth + 2 + outputWidth + 2 + priceWidth + 2 + canWidth
)

// columns is how wide tables are: as the terminal is, but not below 40, else 80.
func (p *program) columns() int {
	if w := width(p.env.Stdout); w != nil {
		return max(w(), 40)
	}
	return 80
}

// modelTable is the list for people.
func (p *program) modelTable(l *modelList) string {
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	columns := p.columns()
	first := len("MODEL")
	for _, m := range l.Models {
		first = max(first, len(m.Ref))
	}
	first = min(first, max(columns, 60)-2-factsWidth) // facts are never cut
	var b strings.Builder
	head := fmt.Sprintf("  %-*s  %*s  %*s  %*s  %s", first, "MODEL", contextWidth, "CTX", outputWidth, "OUT", priceWidth, "$/M IN/OUT", "CAN")
	fmt.Fprintln(&b, paint.bold(head))
	why := ""
	for _, m := range l.Models {
		if !m.Usable && m.Provider+m.Why != why {
			why = m.Provider + m.Why
			fmt.Fprintf(&b, "\n%s\n", wrapped(paint.yellow(oneLine(m.Provider))+": ", len(m.Provider)+2, oneLine(m.Why), columns, "  "))
		}
		modelRow(&b, m, first, columns, paint)
	}
	if l.Default.Ref != "" {
		label := "* " + oneLine(l.Default.Ref)
		fmt.Fprintf(&b, "\n%s\n", wrapped(paint.green(label)+" ", len(label)+1, "works when no other is named: "+oneLine(l.Default.Why), columns, "  "))
	}
	l.poolTable(&b, columns, paint)
	return b.String()
}

// modelRow writes a model, with its facts on a line of their own when its name is too long.
func modelRow(b *strings.Builder, m listedModel, first, columns int, paint palette) {
	mark, ref := "  ", oneLine(m.Ref)
	if m.Default {
		mark = paint.green("* ")
	}
	fmt.Fprint(b, mark, ref)
	if len(ref) > first {
		fmt.Fprintf(b, "\n  %*s", first, "")
	} else {
		fmt.Fprintf(b, "%*s", first-len(ref), "")
	}
	facts := fmt.Sprintf("  %*s  %*s  %*s  %s", contextWidth, size(m.Context), outputWidth, size(m.MaxOutput), priceWidth, price(m), abilities(m))
	fmt.Fprintln(b, strings.TrimRight(facts, " "))
	if m.Deprecated != "" {
		fmt.Fprintln(b, paint.dim(fit("    deprecated: "+oneLine(m.Deprecated), columns)))
	}
}

// poolTable writes which pools and roles are configured.
func (l *modelList) poolTable(b *strings.Builder, columns int, paint palette) {
	usable := map[string]bool{offline.New().Model().Provider: true}
	for _, p := range l.Providers {
		usable[p.Name] = p.Usable
	}
	line := func(kind, name, text string) {
		label := fmt.Sprintf("%s %s  ", kind, oneLine(name))
		fmt.Fprintln(b, wrapped(label, len(label), text, columns, "  "))
	}
	if len(l.Pools)+len(l.Roles) > 0 {
		fmt.Fprintln(b)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Pools)) {
		var members []string
		for _, ref := range l.Pools[name] {
			provider, _, _ := strings.Cut(ref, "/")
			if ref = oneLine(ref); !usable[provider] {
				ref += paint.dim(" (cannot be asked)")
			}
			members = append(members, ref)
		}
		line("pool", name, strings.Join(members, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Roles)) {
		line("role", name, oneLine(l.Roles[name]))
	}
}

// advice says what people can do when what they look for is not in the list.
func (l *modelList) advice(o listOptions, filtered bool) string {
	var b strings.Builder
	if l.hidden > 0 && !o.all {
		fmt.Fprintf(&b, "\n%s cannot be asked; --all shows them\n", count(l.hidden, "more model"))
	}
	if o.provider != "" || o.all || filtered {
		return b.String()
	}
	var lack []string
	named := map[string]bool{}
	for _, p := range l.Providers {
		if !p.Usable && !named[p.Set] {
			named[p.Set] = p.Set != ""
			lack = append(lack, oneLine(p.Name)+" ("+oneLine(p.Set)+")")
		}
	}
	if len(lack) > 0 {
		fmt.Fprintln(&b, wrapped("", 0, "to use others, run `tenon auth login PROVIDER`, or set: "+strings.Join(lack, ", "), 80, "  "))
	}
	return b.String()
}

// wrapped breaks text at blanks into lines of at most columns, all but the first indented. The first one begins with a label of so
// many cells.
func wrapped(label string, used int, text string, columns int, indent string) string {
	var b strings.Builder
	b.WriteString(label)
	begun := false
	for _, word := range strings.Fields(text) {
		n := cellsOf(word)
		switch {
		case begun && used+1+n > columns:
			b.WriteString("\n" + indent)
			used = len(indent)
		case begun:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
		begun = true
	}
	return b.String()
}

// size is a number of tokens in at most five letters.
func size(n int) string {
	short := func(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") }
	switch {
	case n <= 0:
		return "-"
	case n < 1000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return strconv.Itoa((n+500)/1000) + "k"
	default:
		return short(float64(n)/1e6) + "M"
	}
}

// price is what a million tokens in and out cost.
func price(m listedModel) string {
	in, out := m.Price.Input, m.Price.Output
	if in == 0 && out == 0 {
		return "-"
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	return number(in) + "/" + number(out)
}

// abilities is what a model can do beside text and tools.
func abilities(m listedModel) string {
	var can []string
	if m.Images {
		can = append(can, "img")
	}
	if m.Documents {
		can = append(can, "doc")
	}
	if slices.ContainsFunc(m.Thinks, func(t llm.Thinks) bool { return t != llm.ThinkOff }) {
		can = append(can, "think")
	}
	if m.NoTools {
		can = append(can, "!tools")
	}
	return strings.Join(can, " ")
}
