//go:build unix

package tui

import (
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// BenchmarkRenderer measures whole frames of a stream at 200x60, with Bubble Tea's event loop and renderer: the processor time of the process
// from a message to the end of the write, in which every frame has 33 more tokens, or one letter.
func BenchmarkRenderer(b *testing.B) {
	s := wideStage(b)
	out := &counter{wrote: make(chan struct{}, 1)}
	p := tea.NewProgram(onScreen{s.app}, tea.WithContext(b.Context()), tea.WithInput(nil), tea.WithOutput(out), tea.WithoutSignalHandler(),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "CLICOLOR_FORCE=1"}),
		tea.WithWindowSize(200, 60), tea.WithFPS(120))
	gen, ended := s.app.pane.gen, make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	<-out.wrote
	frames := func(b *testing.B, message func(n int) tea.Msg) {
		var all []time.Duration
		written := out.bytes.Load()
		for n := 0; b.Loop(); n++ {
			begin := processorTime(b)
			p.Send(message(n))
			<-out.wrote
			all = append(all, processorTime(b)-begin)
		}
		slices.Sort(all)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "cpu-ms/frame")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-cpu-ms/frame")
		b.ReportMetric(float64(out.bytes.Load()-written)/float64(len(all)), "bytes/frame")
	}
	b.Run("33 tokens", func(b *testing.B) {
		frames(b, func(n int) tea.Msg { return tokens(gen, n) })
	})
	b.Run("key", func(b *testing.B) {
		frames(b, func(n int) tea.Msg {
			if n%400 < 200 {
				return tea.KeyPressMsg{Code: 'x', Text: "x"}
			}
			return tea.KeyPressMsg{Code: tea.KeyBackspace}
		})
	})
	p.Quit()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

// onScreen is the terminal without its commands.
type onScreen struct{ *app }

func (onScreen) Init() tea.Cmd { return nil }

func (o onScreen) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	o.app.Update(m)
	return o, nil
}

// counter counts what the renderer writes.
type counter struct {
	bytes atomic.Int64
	wrote chan struct{}
}

func (c *counter) Write(data []byte) (int, error) {
	c.bytes.Add(int64(len(data)))
	select {
	case c.wrote <- struct{}{}:
	default:
	}
	return len(data), nil
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
