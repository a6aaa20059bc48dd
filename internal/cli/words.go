package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// argumentOf is the main argument of a call, for people: the command, the path, or what else tells calls apart. It is one
// harmless line.
func argumentOf(arguments string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &members) != nil {
		return ""
	}
	if pattern, ok := stringOf(members["pattern"]); ok && pattern != "" {
		if path, ok := stringOf(members["path"]); ok && path != "" && path != "." {
			pattern += " in " + path
		}
		return oneLine(pattern)
	}
	var paths []string
	if patch, ok := stringOf(members["patch"]); ok {
		paths = patched(patch)
	} else if raw := members["paths"]; len(raw) > 0 && json.Unmarshal(raw, &paths) != nil {
		paths = nil
	}
	if len(paths) > 0 {
		return oneLine(strings.Join(paths, " "))
	}
	names := []string{"command", "path", "query", "url", "name"}
	for _, name := range append(names, slices.Sorted(maps.Keys(members))...) {
		if text, ok := stringOf(members[name]); ok && text != "" {
			return oneLine(text)
		}
	}
	return ""
}

// patched is the files that a patch names.
func patched(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if path, ok := strings.CutPrefix(line, head); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}

func stringOf(raw json.RawMessage) (string, bool) {
	var s string
	return s, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}

// seconds is a duration as short as it is useful.
func seconds(d time.Duration) string {
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

// count is a number of things: "1 line", "3 lines", "3 entries".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ry"); ok {
		return strconv.Itoa(n) + " " + stem + "ries"
	}
	if strings.HasSuffix(thing, "ch") {
		return strconv.Itoa(n) + " " + thing + "es"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// tokens is a number of tokens, rounded when it is large.
func tokens(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	default:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	}
}

// usageWords says what was used, such as "1200 tokens in (800 cached), 90 out, $0.02".
func usageWords(u llm.Usage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s tokens in", tokens(u.Prompt()))
	if u.CacheRead > 0 {
		fmt.Fprintf(&b, " (%s cached)", tokens(u.CacheRead))
	}
	fmt.Fprintf(&b, ", %s out", tokens(u.Output+u.Reasoning))
	if u.Cost > 0 {
		b.WriteString(", " + dollars(u.Cost))
	}
	return b.String()
}

func dollars(cost float64) string {
	if cost < 0.01 {
		return "$" + strconv.FormatFloat(cost, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(cost, 'f', 2, 64)
}

// details is what the results of tools tell people, as far as it fits into a line.
type details struct {
	Lines       *int // of the file that was read
	First, Last int  // of the lines that were shown
	Entries     *int // listed
	Matches     *int // found
	Total       *int // files that were found

	Added   *int // lines
	Removed int
	Created bool // the file is new

	ExitCode int    `json:"exit_code"` // of a command
	Signal   string // that ended it
	TimedOut bool   `json:"timed_out"`
}

// failed says how a command failed, though the call that ran it did not.
func (d details) failed() string {
	switch {
	case d.TimedOut:
		return "timed out"
	case d.Signal != "":
		return "ended by " + oneLine(d.Signal)
	case d.ExitCode != 0:
		return "exit code " + strconv.Itoa(d.ExitCode)
	default:
		return ""
	}
}

// detailsOf reads the details of a result. Those that are no object, or of other types than are known here, are none.
func detailsOf(m session.Message) details {
	var d details
	if json.Unmarshal(m.Details, &d) != nil {
		return details{}
	}
	return d
}

// summary is what came of a call, in a few words: what its details say, or how much text it returned.
func summary(m session.Message) string {
	switch d := detailsOf(m); {
	case d.failed() != "":
		return d.failed() + ", " + count(lines(m.Text()), "line")
	case d.Added != nil:
		text := fmt.Sprintf("+%d -%d", *d.Added, d.Removed)
		if d.Created {
			text += ", new"
		}
		return text
	case d.Lines != nil && d.First > 0 && d.Last-d.First+1 < *d.Lines:
		return fmt.Sprintf("lines %d to %d of %d", d.First, d.Last, *d.Lines)
	case d.Lines != nil:
		return count(*d.Lines, "line")
	case d.Entries != nil:
		return count(*d.Entries, "entry")
	case d.Matches != nil:
		return count(*d.Matches, "match")
	case d.Total != nil:
		return count(*d.Total, "file")
	default:
		return count(lines(m.Text()), "line")
	}
}

// lines counts the lines of a text.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
