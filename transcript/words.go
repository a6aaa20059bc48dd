package transcript

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// Count returns a number of things: "1 line", "3 lines", "3 entries".
func Count(n int, thing string) string { return tool.Count(n, thing) }

// Tokens returns a number of tokens, rounded if it is large: "9999", "12k", "1.2M".
func Tokens(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	default:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	}
}

// Dollars returns an amount of US dollars: "$0.0012", "$1.50".
func Dollars(cost float64) string {
	if cost < 0.01 {
		return "$" + strconv.FormatFloat(cost, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(cost, 'f', 2, 64)
}

// Usage returns the tokens and the cost of requests: "1200 tokens in (800 cached), 90 out, $0.02".
func Usage(u llm.Usage) string {
	text := Tokens(u.Prompt()) + " tokens in"
	if u.CacheRead > 0 {
		text += " (" + Tokens(u.CacheRead) + " cached)"
	}
	text += ", " + Tokens(u.Output+u.Reasoning) + " out"
	if u.Cost > 0 {
		text += ", " + Dollars(u.Cost)
	}
	return text
}

// Duration returns a duration in useful precision: "12ms", "1.5s", "1m1s".
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + "s"
	case d < time.Minute:
		return strconv.FormatInt(int64(d.Seconds()), 10) + "s"
	default:
		return d.Truncate(time.Second).String()
	}
}

// Age returns a time in the past in at most eight characters.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d d", d/day)
	}
}

// Headline returns the first line of a text without Markdown's most common marks, cut with "…" to limit characters.
func Headline(text string, limit int) string {
	head, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	head = strings.NewReplacer("**", "", "__", "", "`", "").Replace(strings.TrimLeft(line(head), "# "))
	if r := []rune(head); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return head
}

// Capital returns the text with a capital at its beginning.
func Capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// Who returns the author of a prompt or an answer for people: "You", "Job job1", "anthropic/claude-sonnet-4-5".
func (it *Item) Who() string {
	switch kind := string(it.Speaker.Kind); {
	case it.Kind == KindAnswer:
		return cmp.Or(line(it.Speaker.Name), "Model") // an unfinished answer has no name yet
	case it.Source == session.FromRevert:
		return "Lesson"
	case it.Speaker.Kind != session.SpeakerPerson:
		return strings.TrimSpace(Capital(kind) + " " + line(it.Speaker.Name))
	}
	if it.Source == session.FromSteering {
		return "You, meanwhile"
	}
	return "You"
}

// Facts returns why an answer is not complete, and its tokens and cost. Both may be empty.
func (it *Item) Facts() (stop, usage string) {
	if stop = Stop(it.Stop); it.Partial {
		stop = Stop(llm.StopAborted)
	}
	if it.Usage.Total() > 0 || it.Usage.Cost > 0 {
		usage = Usage(it.Usage)
	}
	return stop, usage
}

// Bytes returns a number of bytes: "9000 B", "12 kB".
func Bytes(n int64) string {
	const k = 1024
	switch {
	case n < 10*k:
		return fmt.Sprintf("%d B", n)
	case n < 10*k*k:
		return fmt.Sprintf("%d kB", n/k)
	case n < 10*k*k*k:
		return fmt.Sprintf("%d MB", n/k/k)
	}
	return fmt.Sprintf("%d GB", n/k/k/k)
}

// Stop returns why an answer is not complete; empty if it is.
func Stop(s llm.StopReason) string {
	switch s {
	case llm.StopLength:
		return "cut at the output limit"
	case llm.StopRefused:
		return "declined"
	case llm.StopAborted:
		return "broken off"
	}
	return ""
}

// Epoch returns the reason of a session.Epoch for people.
func Epoch(reason string) string {
	switch reason {
	case "start":
		return "the session begins"
	case "model":
		return "another model"
	case "tools":
		return "other tools"
	case "system":
		return "another system prompt"
	case "thinking":
		return "another level of thinking"
	case "trim":
		return "old results were trimmed"
	case "compaction":
		return "a summary replaces the older turns"
	case "cleanup":
		return "the model dropped old results"
	case "revert":
		return "the model rewound"
	}
	return reason
}
