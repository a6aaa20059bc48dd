package list_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// long is an item whose lines are made once, like those of a message.
type long struct {
	lines []string
	text  string
}

func (it *long) Version() uint64    { return 1 }
func (it *long) Stop() bool         { return false }
func (it *long) Text() string       { return it.text }
func (it *long) Lines(int) []string { return it.lines }
func messages(n, lines int) (all []list.Item) {
	for i := range n {
		it := &long{}
		for j := range lines {
			it.lines = append(it.lines, fmt.Sprintf("\x1b[1mmessage %d\x1b[0m has a line with the number %d and some more words", i, j))
		}
		it.text = strings.Join(it.lines, "\n")
		all = append(all, it)
	}
	return all
}

// Nothing that happens in a frame grows with the number of items.
func BenchmarkList(b *testing.B) {
	all := messages(20_000, 10)
	older := messages(500, 10)
	tall := messages(1, 100_000)
	full := func() *list.List {
		l := list.New(theme.New("dark", true))
		l.SetSize(120, 50)
		l.Append(all...)
		l.Lines()
		return l
	}
	run := func(name string, f func(l *list.List, i int)) {
		b.Run(name, func(b *testing.B) {
			l := full()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				f(l, i)
				l.Lines()
				i++
			}
		})
	}
	run("lines", func(*list.List, int) {})
	run("scroll", func(l *list.List, _ int) { l.Scroll(-3) })
	run("page", func(l *list.List, _ int) { l.Page(-1) })
	run("top and bottom", func(l *list.List, i int) {
		if l.Top(); i%2 == 0 {
			l.Bottom()
		}
	})
	run("resize", func(l *list.List, i int) { l.SetSize(100+i%2, 50) })
	run("append", func(l *list.List, i int) { l.Append(all[i%1000]) })
	b.Run("prepend 500", func(b *testing.B) {
		l := full()
		b.ReportAllocs()
		for b.Loop() {
			if l.Len() > 40_000 {
				b.StopTimer()
				l = full()
				b.StartTimer()
			}
			l.Prepend(older...)
			l.Lines()
		}
	})
	run("search step of 1 ms", func(l *list.List, i int) {
		if _, done := l.SearchStep(time.Millisecond); done {
			l.Search(fmt.Sprint("number ", i))
		}
	})
	run("found lines", func(l *list.List, i int) {
		if i == 0 {
			l.Search("message 1")
		}
		l.Scroll(-1)
	})
	b.Run("tall item", func(b *testing.B) {
		l := list.New(theme.New("dark", true))
		l.SetSize(120, 50)
		l.Append(tall...)
		b.ReportAllocs()
		for b.Loop() {
			l.Scroll(-1)
			l.Lines()
		}
	})
}
