package list_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// item is an item with a number of lines.
type item struct {
	name    string
	lines   int
	version uint64
	stop    bool
	hidden  string // a text that only Reveal shows
	laid    int    // how often it was laid out
}

func (it *item) Version() uint64 { return it.version }
func (it *item) Stop() bool      { return it.stop }
func (it *item) Text() string    { return it.name + it.hidden }
func (it *item) Lines(int) (lines []string) {
	it.laid++
	for i := range it.lines {
		lines = append(lines, fmt.Sprintf("%s.%d", it.name, i))
	}
	return lines
}

func items(from, n, lines int) (all []list.Item) {
	for i := range n {
		all = append(all, &item{name: fmt.Sprint("i", from+i), lines: lines})
	}
	return all
}

func newList(width, height int, all ...list.Item) *list.List {
	l := list.New(theme.New("plain", true))
	l.SetSize(width, height)
	l.Append(all...)
	return l
}

// shown returns the visible lines without colors and margins.
func shown(l *list.List) string {
	var out []string
	for _, line := range l.Lines() {
		out = append(out, strings.TrimPrefix(ansi.Strip(line), " "))
	}
	return strings.Join(out, " ")
}

func expect(t *testing.T, l *list.List, want string) {
	t.Helper()
	if got := shown(l); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheListFollowsItsEnd(t *testing.T) {
	l := newList(20, 4)
	expect(t, l, "")
	l.Append(items(0, 2, 2)...)
	expect(t, l, "i0.0 i0.1 i1.0 i1.1")
	l.Append(items(2, 1, 1)...)
	expect(t, l, "i0.1 i1.0 i1.1 i2.0")
	l.Scroll(-1)
	expect(t, l, "i0.0 i0.1 i1.0 i1.1")
	if l.AtBottom() || !l.AtTop() || l.Below() != 1 {
		t.Error(l.AtBottom(), l.AtTop(), l.Below())
	}
	l.Append(items(3, 2, 1)...)
	expect(t, l, "i0.0 i0.1 i1.0 i1.1")
	if l.Below() != 3 {
		t.Error(l.Below())
	}
	l.Scroll(2)
	expect(t, l, "i1.0 i1.1 i2.0 i3.0")
	l.Scroll(1)
	if expect(t, l, "i1.1 i2.0 i3.0 i4.0"); !l.AtBottom() {
		t.Error("the end is visible")
	}
	l.Append(items(5, 1, 1)...)
	expect(t, l, "i2.0 i3.0 i4.0 i5.0")
	l.Top()
	expect(t, l, "i0.0 i0.1 i1.0 i1.1")
	l.Page(1)
	expect(t, l, "i1.1 i2.0 i3.0 i4.0")
	l.Page(-1)
	expect(t, l, "i0.0 i0.1 i1.0 i1.1")
	l.Bottom()
	expect(t, l, "i2.0 i3.0 i4.0 i5.0")
}

func TestAShortListStays(t *testing.T) {
	l := newList(20, 10, items(0, 2, 2)...)
	for _, move := range []func(){func() { l.Scroll(-3) }, l.Top, func() { l.Page(1) }, l.Bottom} {
		move()
		if expect(t, l, "i0.0 i0.1 i1.0 i1.1"); !l.AtBottom() {
			t.Error("not at the end")
		}
	}
}

func TestOlderItemsDoNotMoveTheScreen(t *testing.T) {
	l := newList(20, 3, items(10, 4, 3)...)
	l.Scroll(-2)
	l.Select(2)
	before := shown(l)
	l.Prepend(items(0, 10, 7)...)
	expect(t, l, before)
	if l.Selected() != 12 || l.Len() != 14 {
		t.Error(l.Selected(), l.Len())
	}
	l.Scroll(-9)
	expect(t, l, "i9.4 i9.5 i9.6")
}

func TestRemove(t *testing.T) {
	l := newList(20, 3, items(0, 4, 2)...)
	l.Select(3)
	l.Remove(1)
	expect(t, l, "i2.1 ▌i3.0 ▌i3.1")
	l.Select(-1)
	expect(t, l, "i2.1 i3.0 i3.1")
	l.Remove(0)
	l.Remove(1)
	l.Remove(0)
	expect(t, l, "")
	l.Append(items(0, 1, 1)...)
	expect(t, l, "i0.0")
	l.Clear()
	expect(t, l, "")
}

func TestSelection(t *testing.T) {
	all := items(0, 9, 2)
	all[0].(*item).stop, all[4].(*item).stop = true, true
	l := newList(20, 4, all...)
	l.Lines()
	l.SelectPrev()
	expect(t, l, "i7.0 i7.1 ▌i8.0 ▌i8.1")
	l.SelectPrev()
	l.SelectPrev()
	expect(t, l, "▌i6.0 ▌i6.1 i7.0 i7.1")
	l.SelectNext()
	expect(t, l, "i6.0 i6.1 ▌i7.0 ▌i7.1")
	l.PrevStop()
	expect(t, l, "▌i4.0 ▌i4.1 i5.0 i5.1")
	l.PrevStop()
	l.PrevStop()
	expect(t, l, "▌i0.0 ▌i0.1 i1.0 i1.1")
	l.NextStop()
	if l.NextStop(); l.Selected() != 4 {
		t.Error(l.Selected())
	}
	if i, line := l.At(1); i != 0 || line != 1 { // of the last frame
		t.Error(i, line)
	}
	if i, _ := l.At(7); i != -1 {
		t.Error(i)
	}
}

func TestTextSelection(t *testing.T) {
	l := newList(20, 6, items(0, 3, 2)...)
	l.Lines()
	from, _ := l.PointAt(2, 1) // the margin is one column
	to, _ := l.PointAt(3, 3)
	l.SelectText(to, from)
	if got := l.SelectedText(); got != "0.1\ni1.0\ni1." {
		t.Errorf("%q", got)
	}
	if line := l.Lines()[3]; line != " \x1b[0m\x1b[7mi1.\x1b[0m1" {
		t.Errorf("%q", line)
	}
	l.SelectText(from, from)
	if l.SelectedText() != "" || strings.Contains(strings.Join(l.Lines(), ""), "\x1b[7m") {
		t.Error("there is a selection")
	}
}

// The colors of a line continue after a match.
func TestAMatchInColors(t *testing.T) {
	l := newList(40, 2, &long{lines: []string{"a \x1b[31mred wörd of two wörds\x1b[0m b"}, text: "a red wörd"})
	l.Search("WÖRD")
	got := l.Lines()[0]
	if !strings.Contains(got, "\x1b[7mwörd\x1b[0m\x1b[31m of two ") || ansi.Strip(got) != " a red wörd of two wörds b" {
		t.Errorf("%q", got)
	}
}

func TestSearch(t *testing.T) {
	all := items(0, 100, 3)
	all[50].(*item).hidden = "Straße needle"
	l := newList(20, 5, all...)
	l.Lines()
	l.Search("NEEDLE")
	for done := false; !done; {
		_, done = l.SearchStep(time.Second)
	}
	if n, _ := l.SearchStep(0); n != 1 {
		t.Error(n)
	}
	l.PrevMatch()
	if l.Selected() != 50 || !strings.HasPrefix(shown(l), "▌i50.0") {
		t.Error(l.Selected(), shown(l))
	}
	l.NextMatch()
	if l.Selected() != 50 {
		t.Error(l.Selected())
	}
	for query, want := range map[string]int{"STRASSE": 0, "straße": 1, "": 0, "I9": 11} {
		l.Search(query)
		if n, done := l.SearchStep(time.Second); n != want || !done {
			t.Error(query, n, done)
		}
	}
	l.Search("I9")
	l.Select(-1)
	l.Bottom()
	l.Lines()
	var at []int
	for range 5 {
		l.PrevMatch()
		at = append(at, l.Selected())
	}
	if !slices.Equal(at, []int{99, 99, 99, 98, 98}) {
		t.Error(at)
	}
	if line := l.Lines()[0]; !strings.Contains(line, "\x1b[7;1;4mi9\x1b[0m8") {
		t.Errorf("%q", line)
	}
	l.Prepend(items(200, 5, 1)...)
	l.Append(&item{name: "i9 again", lines: 1})
	if n, done := l.SearchStep(time.Second); n != 12 || !done {
		t.Error(n, done)
	}
	l.ClearSearch()
	l.NextMatch()
	if strings.Contains(l.Lines()[0], "\x1b[7;") {
		t.Error("a match is painted")
	}
}

// folds is an item that shows its text only after Reveal.
type folds struct{ item }

func (f *folds) Reveal() { f.name, f.version = f.hidden, f.version+1 }

func TestAMatchRevealsItsText(t *testing.T) {
	f := &folds{item{name: "x", lines: 2, hidden: "secret"}}
	l := newList(20, 3, append(append(items(0, 20, 1), f), items(20, 20, 1)...)...)
	l.Search("secret")
	l.NextMatch()
	if !strings.Contains(shown(l), "secret.0") {
		t.Error(shown(l))
	}
}

// Whatever happens, the screen is a part of all lines, as high as possible, and what the list remembers exists.
func TestEveryOrderOfOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newList(rapid.IntRange(1, 20).Draw(t, "width"), rapid.IntRange(1, 7).Draw(t, "height"))
		height := 0
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			n := rapid.IntRange(0, 5).Draw(t, "n")
			switch rapid.IntRange(0, 15).Draw(t, "operation") {
			case 0, 1, 2:
				l.Append(items(l.Len(), n, rapid.IntRange(0, 9).Draw(t, "lines"))...)
			case 3:
				l.Prepend(items(1000, n, rapid.IntRange(0, 9).Draw(t, "lines"))...)
			case 4:
				if n < l.Len() {
					l.Remove(n)
				}
			case 5, 6, 7:
				l.Scroll(n - 3)
			case 8:
				l.Page(n - 3)
			case 9:
				l.Top()
			case 10:
				l.SelectNext()
			case 11:
				l.SelectPrev()
			case 12:
				l.Search("i1")
				l.NextMatch()
			case 13:
				l.PrevMatch()
			case 14:
				height = rapid.IntRange(0, 7).Draw(t, "height")
				l.SetSize(n+1, height)
			case 15:
				if n < l.Len() {
					it := l.Item(n).(*item)
					it.lines, it.version = rapid.IntRange(0, 9).Draw(t, "lines"), it.version+1
				}
			}
			height = max(height, len(l.Lines()))
			check(t, l)
		}
	})
}

func check(t *rapid.T, l *list.List) {
	var all []string
	for i := range l.Len() {
		all = append(all, l.Item(i).Lines(1)...)
	}
	var got []string
	lines := l.Lines()
	for _, line := range lines {
		line = strings.TrimPrefix(strings.TrimPrefix(ansi.Strip(line), "▌"), " ")
		got = append(got, line)
	}
	if len(got) > 0 && !strings.Contains(" "+strings.Join(all, " ")+" ", " "+strings.Join(got, " ")+" ") {
		t.Fatalf("%q is no part of %q", got, all)
	}
	if l.AtBottom() && len(got) > 0 && got[len(got)-1] != all[len(all)-1] {
		t.Fatalf("the end is not visible: %q of %q", got, all)
	}
	if l.Selected() >= l.Len() || l.Below() > l.Len() {
		t.Fatal(l.Selected(), l.Below(), l.Len())
	}
}

// A frame lays out only visible items, and each once.
func TestAFrameLaysOutVisibleItemsOnce(t *testing.T) {
	all := items(0, 1000, 3)
	l := newList(40, 10, all...)
	for range 5 {
		l.Lines()
	}
	n := 0
	for _, it := range all {
		n += it.(*item).laid
	}
	if n > 5 {
		t.Errorf("%d items were laid out", n)
	}
}
