package models

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/transcript"
)

// facts are the columns between the name of a model and its abilities.
var facts = command.Figures{{"CTX", 7, 0}, {"OUT", 7, 60}, {"$/M IN/OUT", 13, 0}}

// canWidth is the width of the abilities, which narrow terminals lack.
const canWidth, canFrom = 22, 60

func modelTable(env *command.Env, l *modelList) string {
	paint := env.Paint()
	columns := env.Columns()
	first := len("MODEL")
	for _, m := range l.Models {
		first = max(first, len(m.Ref))
	}
	room, can := columns-2-len(facts.Row(columns)), ""
	if columns >= canFrom {
		room, can = room-canWidth, "  CAN"
	}
	first = min(first, room)
	var b strings.Builder
	fmt.Fprintln(&b, paint.Bold(fmt.Sprintf("  %-*s", first, "MODEL")+facts.Row(columns)+can))
	why := ""
	for _, m := range l.Models {
		if !m.Usable && m.Provider+m.Why != why {
			why = m.Provider + m.Why
			fmt.Fprintf(&b, "\n%s\n", term.Wrap(paint.Yellow(term.OneLine(m.Provider))+": ", len(m.Provider)+2, term.OneLine(m.Why), columns, "  "))
		}
		modelRow(&b, m, first, columns, paint)
	}
	if l.Default.Ref != "" {
		label := "* " + term.OneLine(l.Default.Ref)
		fmt.Fprintf(&b, "\n%s\n", term.Wrap(paint.Green(label)+" ", len(label)+1, "is the default: "+term.OneLine(l.Default.Why), columns, "  "))
	}
	l.poolTable(&b, columns, paint)
	return b.String()
}

// modelRow writes a model, with its facts on the next line if its name is too long.
func modelRow(b *strings.Builder, m listedModel, first, columns int, paint term.Palette) {
	mark, ref := "  ", term.OneLine(m.Ref)
	if m.Default {
		mark = paint.Green("* ")
	}
	fmt.Fprint(b, mark, term.Fit(ref, columns-2))
	if len(ref) > first {
		fmt.Fprintf(b, "\n  %*s", first, "")
	} else {
		fmt.Fprintf(b, "%*s", first-len(ref), "")
	}
	window := size(m.Context)
	if m.Assumed {
		window = "?" + window
	}
	line := facts.Row(columns, window, size(m.MaxOutput), price(m))
	if columns >= canFrom {
		line += "  " + abilities(m)
	}
	fmt.Fprintln(b, strings.TrimRight(line, " "))
	if m.Deprecated != "" {
		fmt.Fprintln(b, paint.Dim(term.Fit("    deprecated: "+term.OneLine(m.Deprecated), columns)))
	}
}

// poolTable writes the configured pools and roles, the keys that rest and the summaries that failed.
func (l *modelList) poolTable(b *strings.Builder, columns int, paint term.Palette) {
	usable := map[string]bool{offline.New().Model().Provider: true}
	for _, p := range l.Providers {
		usable[p.Name] = p.Usable
	}
	line := func(kind, name, text string) {
		label := fmt.Sprintf("%s %s  ", kind, term.OneLine(name))
		fmt.Fprintln(b, term.Wrap(label, len(label), text, columns, "  "))
	}
	if len(l.Pools)+len(l.Roles)+len(l.Resting)+len(l.Summaries) > 0 {
		fmt.Fprintln(b)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Pools)) {
		var members []string
		for _, ref := range l.Pools[name] {
			provider, _, _ := strings.Cut(ref, "/")
			if ref = term.OneLine(ref); !usable[provider] {
				ref += paint.Dim(" (not usable)")
			}
			members = append(members, ref)
		}
		text := strings.Join(members, ", ")
		if p, ok := l.Picks[name]; ok {
			text += paint.Yellow("; " + term.OneLine(p.Text) + " answers until " + clock(p.Until))
		}
		line("pool", name, text)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Roles)) {
		line("role", name, term.OneLine(l.Roles[name]))
	}
	for _, h := range l.Resting {
		line("key", cmp.Or(h.Key, "none"), paint.Yellow(Rests(h)))
	}
	for _, id := range slices.Sorted(maps.Keys(l.Summaries)) {
		f := l.Summaries[id]
		line("session", id, paint.Yellow(fmt.Sprintf("%s failed, last at %s: %s", transcript.Count(f.Count, "summary"), clock(f.At), term.OneLine(f.Text))))
	}
}

// Rests says for which model a key rests, until when and why.
func Rests(h chain.Health) string {
	return term.OneLine(fmt.Sprintf("rests for %s until %s: %s", h.Model, clock(h.Until), strings.ReplaceAll(string(h.Cause.Kind), "_", " ")))
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// advice returns hints about models that are not in the list.
func (l *modelList) advice(o listOptions, filtered bool) string {
	var b strings.Builder
	if l.hidden > 0 && !o.all {
		fmt.Fprintf(&b, "\n%s are not usable; --all shows them\n", transcript.Count(l.hidden, "more model"))
	}
	if o.provider != "" || o.all || filtered {
		return b.String()
	}
	var lack []string
	named := map[string]bool{}
	for _, p := range l.Providers {
		if !p.Usable && !named[p.Set] {
			named[p.Set] = p.Set != ""
			lack = append(lack, term.OneLine(p.Name)+" ("+term.OneLine(p.Set)+")")
		}
	}
	if len(lack) > 0 {
		fmt.Fprintln(&b, term.Wrap("", 0, "to use others, run `tenon auth login PROVIDER`, or set: "+strings.Join(lack, ", "), 80, "  "))
	}
	return b.String()
}

// size returns a number of tokens in at most five characters.
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

// price returns the price of a million tokens in and out.
func price(m listedModel) string {
	in, out := m.Price.Input, m.Price.Output
	if in == 0 && out == 0 {
		return "-"
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	return number(in) + "/" + number(out)
}

// abilities lists the abilities of a model beyond text and tools.
func abilities(m listedModel) string {
	var can []string
	if m.Images {
		can = append(can, "img")
	}
	if m.Documents {
		can = append(can, "doc")
	}
	switch {
	case m.Thinking != llm.ThinkDefault:
		can = append(can, "think="+string(m.Thinking))
	case slices.ContainsFunc(m.Thinks, func(t llm.Thinks) bool { return t != llm.ThinkOff }):
		can = append(can, "think")
	}
	if m.NoTools {
		can = append(can, "!tools")
	}
	return strings.Join(can, " ")
}
