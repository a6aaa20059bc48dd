package dialog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

func fruits(o *Options) *Picker[string] {
	p := NewPicker(List[string]{
		Title: "Fruits", Columns: []Column{{Head: "NAME"}, {Head: "PRICE", Right: true}, {Head: "FROM", Drop: 1}}, Accept: "eat",
		Keys: []Key[string]{
			{Action: keys.Delete, Words: "delete", Confirm: func(s string) string { return "Delete " + s + "?" }, Stay: true},
			{Action: keys.Rename, Words: "rename", Input: func(s string) string { return s }, Stay: true},
		},
		Moves: true,
	}, o)
	var rows []Row[string]
	for i, name := range []string{"apple", "banana", "cherry", "dragon fruit", "elderberry"} {
		r := Row[string]{Value: name, Section: "local", Cells: []string{name, fmt.Sprint(i), "the garden"}, Detail: "All about " + name + ".\n\nIt is a fruit."}
		if i > 2 {
			r.Section = "imported"
		}
		if i == 3 {
			r.Off = "sold out"
		}
		r.Current = i == 1
		rows = append(rows, r)
	}
	p.SetRows(rows, "")
	return p
}

func TestPickerScreens(t *testing.T) {
	o := options(t)
	golden(t, "picker", o, fruits(o))
	p := fruits(o)
	written(p, "rry")
	golden(t, "picker-filter", o, p)
	typed(p, "ctrl+d")
	golden(t, "picker-confirm", o, p)
	typed(p, "esc", "ctrl+r")
	golden(t, "picker-rename", o, p)
	golden(t, "picker-loading", o, NewPicker(List[string]{Title: "Fruits"}, o))
}

func TestPickerPicks(t *testing.T) {
	o := options(t)
	p := fruits(o)
	got, closed := outcome[Picked[string]](t, typed(p, "enter"))
	if got.Value != "banana" || got.Action != keys.Accept || !closed {
		t.Errorf("the focus begins at %+v, closed %v", got, closed)
	}
	if out := typed(p, "enter"); out != nil {
		t.Errorf("a second key before the shell closed it: %v", out)
	}
	p = fruits(o)
	moved, _ := outcome[Moved[string]](t, typed(p, "up"))
	if moved.Value != "apple" {
		t.Errorf("moved to %q", moved.Value)
	}
	written(p, "dra")
	if out := typed(p, "enter"); out != nil {
		t.Errorf("a row that is off was picked: %v", out)
	}
	typed(p, "esc")
	if p.filter.Text() != "" || len(p.shown) != 5 {
		t.Error("esc keeps the filter")
	}
	written(p, "ch")
	if out := typed(p, "ctrl+d"); out != nil {
		t.Error("deleted without a question")
	}
	got, closed = outcome[Picked[string]](t, typed(p, "enter"))
	if got.Value != "cherry" || got.Action != keys.Delete || closed {
		t.Errorf("%+v, closed %v", got, closed)
	}
	got, _ = outcome[Picked[string]](t, typed(p, "ctrl+r", "s", "enter"))
	if got.Action != keys.Rename || got.Text != "cherrys" {
		t.Errorf("%+v", got)
	}
	if out := typed(p, "esc", "esc"); len(out) != 1 || out[0] != (Closed{p}) {
		t.Errorf("got %v", out)
	}
}

// Rows that the owner found for a filter follow those that it matches, until the filter changes.
func TestPickerShowsFurtherRows(t *testing.T) {
	o := options(t)
	p := fruits(o)
	written(p, "ban")
	filtered, _ := outcome[Filtered[string]](t, typed(p, "a"))
	if filtered.Dialog != p || filtered.Text() != "bana" {
		t.Errorf("%+v", filtered)
	}
	found := func(s string) bool { return s == "cherry" || s == "banana" }
	if p.Also("ban", found); len(p.shown) != 1 {
		t.Error("it took rows for an earlier filter")
	}
	p.Also("bana", found)
	golden(t, "picker-also", o, p)
	if got, _ := outcome[Picked[string]](t, typed(p, "down", "enter")); got.Value != "cherry" {
		t.Errorf("picked %q", got.Value)
	}
	p = fruits(o)
	written(p, "zzz")
	if moved, _ := outcome[Moved[string]](t, outcomes(p.Also("zzz", found))); moved.Value != "banana" {
		t.Errorf("the focus is at %q", moved.Value)
	}
	if written(p, "z"); len(p.shown) != 0 {
		t.Error("rows of the earlier filter are left")
	}
}

func TestPickerKeepsTheFocusInSight(t *testing.T) {
	p := NewPicker(List[int]{Title: "Numbers", Columns: []Column{{}}, Accept: "choose"}, options(t))
	var rows []Row[int]
	for i := range 1000 {
		rows = append(rows, Row[int]{Value: i, Section: fmt.Sprint("from ", i/10*10), Cells: []string{fmt.Sprint("number ", i)}})
	}
	p.SetRows(rows, "")
	for i, key := range strings.Split(strings.Repeat("down ", 40)+strings.Repeat("pgdown ", 5)+strings.Repeat("up ", 70), " ") {
		lines := ansi.Strip(strings.Join(p.Lines(40, 12), "\n"))
		row, _ := p.Focus()
		if !strings.Contains(lines, "› "+row.Cells[0]) {
			t.Fatalf("step %d: %s is not in\n%s", i, row.Cells[0], lines)
		}
		if key != "" {
			typed(p, key)
		}
	}
}

func FuzzPicker(f *testing.F) {
	f.Add("a\x1b[2J\u202e", "a", 80, 24, false)
	f.Add("日本語\nb", "本", 1, 1, true)
	f.Fuzz(func(t *testing.T, text, filter string, width, height int, reader bool) {
		width, height = 1+abs(width)%200, 1+abs(height)%60
		o := options(t)
		o.Reader = reader
		p := fruits(o)
		p.rows = append(p.rows, Row[string]{Value: text, Section: text, Cells: []string{text, text, text}, Off: text, Detail: text}, Row[string]{Value: text, Cells: []string{text}, Current: true})
		p.list.Title = text
		p.SetRows(p.rows, "")
		p.filter.Set(filter)
		p.search()
		for _, key := range []string{"down", "pgdown", "down", "tab", "pgdown", "tab", "ctrl+d", "esc", "ctrl+r", "x", "enter", "backspace"} {
			checkLines(t, p.Lines(width, height), width, height)
			checkLines(t, Box(p, width, height, o.Theme), width, height)
			p.Update(press(key))
		}
		p.SetRows(nil, text)
		checkLines(t, p.Lines(width, height), width, height)
	})
}

func manyRows(n int) []Row[int] {
	rows := make([]Row[int], n)
	for i := range rows {
		rows[i] = Row[int]{Value: i, Cells: []string{fmt.Sprint("session about the subject ", i), "2 h", "/home/ada/project"}}
	}
	return rows
}

func BenchmarkPickerLines(b *testing.B) {
	p := NewPicker(List[int]{Columns: []Column{{}, {Right: true}, {}}}, options(b))
	p.SetRows(manyRows(5000), "")
	for b.Loop() {
		p.Lines(120, 40)
	}
}

func BenchmarkPickerFilter(b *testing.B) {
	p := NewPicker(List[int]{Columns: []Column{{}, {Right: true}, {}}}, options(b))
	p.SetRows(manyRows(5000), "")
	for b.Loop() {
		typed(p, "7", "7", "backspace", "backspace")
	}
}
