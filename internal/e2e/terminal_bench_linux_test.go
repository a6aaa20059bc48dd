package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/console"
)

// wide is a large screen.
var wide = console.Size{Width: 200, Height: 60}

// BenchmarkTerminal measures what a person feels of the terminal. It reports and asserts nothing.
func BenchmarkTerminal(b *testing.B) {
	program := build(b)
	b.Run("first_frame", func(b *testing.B) { firstFrame(b, program) })
	b.Run("echo", func(b *testing.B) { echo(b, program) })
	b.Run("long_session", func(b *testing.B) { longScreen(b, program) })
	b.Run("idle", func(b *testing.B) { idleTerminal(b, program) })
	b.Run("stream", func(b *testing.B) { streamedTo(b, program) })
}

// launch starts the program as people have it.
func (d *desk) launch(program string, size console.Size, args ...string) {
	d.t.Helper()
	cmd := d.command(d.t.Context(), args...)
	cmd.Path = program
	d.Console = console.Start(d.t, cmd, size, console.Dark)
}

func firstFrame(b *testing.B, program string) {
	d := sit(b)
	var frame, prompt, cpu []time.Duration
	for b.Loop() {
		begin := time.Now()
		d.launch(program, small, d.withModel()...)
		d.Until("›")
		frame = append(frame, time.Since(begin))
		d.Until(ready, status)
		prompt = append(prompt, time.Since(begin))
		d.Press("ctrl+d")
		d.Exit()
		cpu = append(cpu, d.Usage())
	}
	report(b, "ms/frame", frame)
	report(b, "ms/session", prompt)
	report(b, "cpu-ms/run", cpu)
	b.ReportMetric(0, "ns/op")
}

// report adds the median and the 99th percentile of durations.
func report(b *testing.B, unit string, all []time.Duration) {
	if slices.Sort(all); len(all) > 0 {
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, unit)
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-"+unit)
	}
}

// typing types letters one after the other, and returns how long each took to the screen.
func (d *desk) typing(n int) (took []time.Duration) {
	for i := range n {
		letter := string(rune('a' + i%26))
		before := d.Screen()
		begin := time.Now()
		d.Send(letter)
		d.Wait(func(s console.Screen) bool { return s.X != before.X || s.Y != before.Y }, "the letter")
		took = append(took, time.Since(begin))
	}
	return took
}

func echo(b *testing.B, program string) {
	d := sit(b)
	d.launch(program, small, d.withModel()...)
	d.Until(ready, status)
	var took []time.Duration
	for b.Loop() {
		took = append(took, d.typing(60)...)
		d.Press("ctrl+u")
		d.Until(ready)
	}
	report(b, "ms/key", took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(residentOf(b, d.Pid(), "VmRSS"), "MB")
}

// longScreen opens a session of 20 000 messages, 100 MB, and types.
func longScreen(b *testing.B, program string) {
	d := sit(b, say())
	if err := os.MkdirAll(d.data, 0o700); err != nil {
		b.Fatal(err)
	}
	id := longSession(b, filepath.Join(d.data, "sessions.db"), d.dir, 10_000)
	d.passes("run", "--session", string(id), "--model", modelName, "Is all read?") // so that the last of many runs is a short one
	var took, scrolled, whole []time.Duration
	var rss, peak, history float64
	for b.Loop() {
		begin := time.Now()
		d.launch(program, wide, d.withModel("--session", string(id))...)
		d.Until("All is read.", answer, ready)
		d.typing(1)
		took = append(took, time.Since(begin))
		for range 5 {
			before, begin := d.Screen().String(), time.Now()
			d.Press("pgup")
			d.Wait(func(s console.Screen) bool { return s.String() != before }, "an earlier page")
			scrolled = append(scrolled, time.Since(begin))
		}
		<-time.After(8 * time.Second) // the terminal reads the outline of the session meanwhile
		rss, peak = residentOf(b, d.Pid(), "VmRSS"), residentOf(b, d.Pid(), "VmHWM")
		d.Press("ctrl+u", "ctrl+t")
		begin = time.Now()
		for !d.Screen().Has("Question 10:") { // the beginning comes when the person no longer waits
			d.Press("home")
			<-time.After(20 * time.Millisecond)
		}
		whole = append(whole, time.Since(begin))
		history = residentOf(b, d.Pid(), "VmRSS")
		d.Kill()
	}
	report(b, "ms/ready", took)
	report(b, "ms/page", scrolled)
	report(b, "ms/history", whole)
	b.ReportMetric(rss, "MB")
	b.ReportMetric(peak, "peak-MB")
	b.ReportMetric(history, "history-MB")
	b.ReportMetric(0, "ns/op")
}

// idleTerminal lets the program alone for a minute.
func idleTerminal(b *testing.B, program string) {
	const alone = time.Minute
	d := sit(b)
	d.launch(program, small, d.withModel()...)
	d.Until(ready, status)
	for b.Loop() {
		<-time.After(10 * time.Second) // the work after the start ends before
		before, written := ticks(b, d.Pid()), d.Written()
		<-time.After(alone)
		b.ReportMetric(float64((ticks(b, d.Pid()) - before).Milliseconds()), "cpu-ms/minute")
		b.ReportMetric(float64(d.Written()-written), "bytes/minute")
		b.ReportMetric(residentOf(b, d.Pid(), "VmRSS"), "MB")
	}
	b.ReportMetric(0, "ns/op")
}

// streamedTo shows an answer of 1000 tokens a second for a minute, while a person types.
func streamedTo(b *testing.B, program string) {
	const seconds = 60
	d := sit(b)
	begun := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { streamTokens(w, r, seconds, begun) }))
	b.Cleanup(srv.Close)
	d.env = append(d.env, "ANTHROPIC_BASE_URL="+srv.URL)
	for b.Loop() {
		d.launch(program, wide, d.withModel()...)
		d.Until(ready, status)
		d.say("Tell me everything")
		<-begun
		d.Until("word5")
		before, written, begin := ticks(b, d.Pid()), d.Written(), time.Now()
		d.Frames()
		var keys []time.Duration
		for time.Since(begin) < (seconds-5)*time.Second {
			keys = append(keys, d.typing(1)...)
			<-time.After(100 * time.Millisecond)
		}
		d.Until("done · 1 turn")
		took, cpu := time.Since(begin), ticks(b, d.Pid())-before
		var gaps []time.Duration
		frames := d.Frames()
		for i := 1; i < len(frames); i++ {
			gaps = append(gaps, frames[i].At.Sub(frames[i-1].At))
		}
		report(b, "ms/key", keys)
		report(b, "ms/between_writes", gaps)
		b.ReportMetric(100*cpu.Seconds()/took.Seconds(), "cpu-%")
		b.ReportMetric(float64(d.Written()-written)/took.Seconds()/1000, "kB/s")
		b.ReportMetric(float64(len(frames))/took.Seconds(), "writes/s")
		b.ReportMetric(residentOf(b, d.Pid(), "VmRSS"), "MB")
		d.Kill()
	}
	b.ReportMetric(0, "ns/op")
}

// streamTokens streams an answer of Anthropic's protocol at a steady pace: prose, lists and code.
func streamTokens(w http.ResponseWriter, r *http.Request, seconds int, begun chan<- struct{}) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name, data string) {
		fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q,%s}\n\n", name, name, data)
	}
	event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}`)
	event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`)
	begun <- struct{}{}
	const each = 4 * time.Millisecond
	ticker := time.NewTicker(each)
	defer ticker.Stop()
	for i := range seconds * int(time.Second/each) {
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		}
		for j := range 4 {
			event("content_block_delta", fmt.Sprintf(`"index":0,"delta":{"type":"text_delta","text":%q}`, token(4*i+j)))
		}
		w.(http.Flusher).Flush()
	}
	event("content_block_stop", `"index":0`)
	event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":10000}`)
	fmt.Fprint(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}

// token is a part of a long answer: paragraphs, then a list, then code, again and again.
func token(i int) string {
	word := fmt.Sprintf("word%d ", i)
	switch n := i % 1000; {
	case n == 0:
		return "\n\n## Part " + word + "\n\n"
	case n < 500 && n%100 == 99:
		return "\n\n"
	case n == 500:
		return "\n\n- "
	case n < 700 && n%20 == 19:
		return "\n- **" + strings.TrimSpace(word) + "** "
	case n == 700:
		return "\n\n```go\n"
	case n == 998:
		return "\n```\n\n"
	case n > 700 && n%10 == 9:
		return "\n"
	case n > 700:
		return strings.TrimSpace(word) + "() "
	}
	return word
}

// ticks is the processor time of a process.
func ticks(b *testing.B, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	fields := strings.Fields(string(rest))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		b.Fatal(err)
	}
	const perSecond = 100
	return time.Duration(user+system) * time.Second / perSecond
}

// residentOf is a figure of the memory of a process in MB.
func residentOf(b *testing.B, pid int, name string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(status) {
		var kb float64
		if _, err := fmt.Sscanf(string(line), name+": %f kB", &kb); err == nil {
			return kb / 1024
		}
	}
	return 0
}
