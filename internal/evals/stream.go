package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// The parts of the event stream that a measurement needs. docs/developers/events.md specifies the stream; unknown members and kinds are
// skipped.
type (
	line struct {
		Type string          `json:"type"` // of the header and the result
		Kind string          `json:"kind"` // of an event
		Body json.RawMessage `json:"body"`
		header
		outcome
	}
	header struct {
		Tenon   string `json:"tenon"`
		Session string `json:"session"`
	}
	outcome struct {
		Answer string     `json:"answer"`
		Reason string     `json:"stop_reason"`
		Limit  string     `json:"limit"`
		Model  string     `json:"model"`
		Turns  int        `json:"turns"`
		Usage  usage      `json:"usage"`
		Cost   float64    `json:"cost"`
		Secs   float64    `json:"seconds"`
		Errors []RunError `json:"errors"`
	}
	usage struct {
		Input      int64 `json:"input"`
		CacheRead  int64 `json:"cache_read"`
		CacheWrite int64 `json:"cache_write"`
		Output     int64 `json:"output"`
		Reasoning  int64 `json:"reasoning"`
	}
	message struct {
		Role    string `json:"role"`
		Tool    string `json:"tool"`
		CallID  string `json:"call_id"`
		Outcome string `json:"outcome"`
		Failed  bool   `json:"failed"`
		Usage   usage  `json:"usage"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	decision struct {
		Call    string `json:"call"`
		Verdict string `json:"verdict"`
		Code    string `json:"code"`
	}
	epoch struct {
		System string          `json:"system"`
		Tools  json.RawMessage `json:"tools"`
	}
)

// facts gathers a Run from the lines of a stream.
type facts struct {
	run     Run
	version string            // of the program
	denied  map[string]string // code of the denial, by call
	spent   usage             // of the answers so far
	ended   bool              // the result came
}

// exampleBytes and answerBytes bound the texts in a file of results.
const (
	exampleBytes = 200
	answerBytes  = 8000
)

// readStream reads the output of tenon run --output stream-json. A stream without a result is that of a program that crashed or was
// killed: the facts until then count.
func readStream(r io.Reader) (*facts, error) {
	f := &facts{run: Run{Reason: "crashed", Calls: map[string]int{}}, denied: map[string]string{}}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if len(text) == 0 || err == io.EOF { // a line without an end was cut off
			break
		}
		if err != nil {
			return nil, err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("cannot read line %d of the event stream: %w; the program must be Tenon", n, err)
		}
		if err := f.add(&l); err != nil {
			return nil, fmt.Errorf("cannot read line %d of the event stream: %w", n, err)
		}
	}
	if !f.ended {
		f.run.Tokens = f.spent.tokens()
	}
	return f, nil
}

// add takes one line.
func (f *facts) add(l *line) error {
	switch {
	case l.Type == "tenon.stream":
		f.version, f.run.Session = l.Tenon, l.Session
	case l.Type == "tenon.result":
		f.ended = true
		o := l.outcome
		f.run.Reason, f.run.Limit, f.run.Errors, f.run.Model = o.Reason, o.Limit, o.Errors, o.Model
		f.run.Turns, f.run.Seconds, f.run.Cost, f.run.Tokens = o.Turns, o.Secs, o.Cost, o.Usage.tokens()
		f.run.Answer = firstBytes(o.Answer, answerBytes)
	case l.Kind == "message":
		var m message
		if err := json.Unmarshal(l.Body, &m); err != nil {
			return err
		}
		f.message(&m)
	case l.Kind == "decision":
		var d decision
		if err := json.Unmarshal(l.Body, &d); err != nil {
			return err
		}
		if d.Verdict == "deny" {
			f.denied[d.Call] = d.Code
		}
	case l.Kind == "epoch" && f.run.Prompt == "":
		var e epoch
		if err := json.Unmarshal(l.Body, &e); err != nil {
			return err
		}
		sum := sha256.Sum256(append([]byte(e.System), e.Tools...))
		f.run.Prompt = hex.EncodeToString(sum[:6])
	case l.Kind == "waiting":
		f.run.Retries++
	}
	return nil
}

// message counts an answer or the result of a call.
func (f *facts) message(m *message) {
	switch m.Role {
	case "assistant":
		f.run.Turns++
		f.spent.add(m.Usage)
	case "tool":
		f.run.Calls[m.Tool]++
		cause := m.Outcome
		if cause == "" && m.Failed {
			cause = "exit_code"
		}
		if cause == "denied" {
			cause = strings.TrimSpace(cause + " " + f.denied[m.CallID])
		}
		if cause != "" {
			f.fail(m, cause)
		}
	}
}

// fail counts a failed call.
func (f *facts) fail(m *message, cause string) {
	for i, old := range f.run.Failures {
		if old.Tool == m.Tool && old.Cause == cause {
			f.run.Failures[i].Count++
			return
		}
	}
	var text strings.Builder
	for _, part := range m.Content {
		text.WriteString(part.Text)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text.String()), "\n")
	f.run.Failures = append(f.run.Failures, Failure{Tool: m.Tool, Cause: cause, Count: 1, Example: firstBytes(first, exampleBytes)})
}

func (u *usage) add(v usage) {
	u.Input += v.Input
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Output += v.Output
	u.Reasoning += v.Reasoning
}

func (u usage) tokens() Tokens {
	return Tokens{Fresh: u.Input, CacheWrite: u.CacheWrite, Cached: u.CacheRead, Output: u.Output, Thinking: u.Reasoning}
}

// firstBytes returns at most n bytes of a text, without a broken character at their end.
func firstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "..."
}
