package shell

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// Ran is the details of a command.
type Ran struct {
	Command     string    `json:"command"` // the text that the shell ran
	Description string    `json:"description,omitzero"`
	Dir         string    `json:"dir,omitzero"`
	Job         string    `json:"job,omitzero"` // it started as this job; the outcome is unknown
	ExitCode    int       `json:"exit_code"`    // -1: killed
	Signal      string    `json:"signal,omitzero"`
	TimedOut    bool      `json:"timed_out,omitzero"`
	Cancelled   bool      `json:"cancelled,omitzero"`
	Left        bool      `json:"left,omitzero"` // it left processes running, and Tenon killed them
	Bytes       int64     `json:"bytes"`         // of output
	File        string    `json:"file,omitzero"` // with all output, if it is long
	Unconfined  bool      `json:"unconfined,omitzero"`
	Reason      string    `json:"reason,omitzero"`
	Blocked     []Blocked `json:"blocked,omitzero"`
}

// Blocked is an action that the sandbox blocked.
type Blocked struct {
	What string `json:"what"`          // "read", "write", "connect" or "system"
	Path string `json:"path,omitzero"` // absolute
	Host string `json:"host,omitzero"`
	Why  string `json:"why"`
}

func newRan(a sandboxed, line string, done workspace.Finished) Ran {
	return Ran{
		Command: line, Description: a.Description, Dir: a.Dir, ExitCode: done.ExitCode, Signal: done.Signal,
		Left: done.Left, Bytes: done.Size, File: done.File, Unconfined: a.Unconfined, Reason: a.Reason, Blocked: blocked(done),
	}
}

func blocked(done workspace.Finished) (list []Blocked) {
	for _, b := range done.Blocked {
		list = append(list, Blocked{b.What, b.Path, b.Host, b.Why})
	}
	return list
}

// failure describes how a command failed; "" if it did not.
func (r Ran) failure() string {
	switch {
	case r.TimedOut:
		return "timed out"
	case r.Cancelled:
		return "cancelled"
	case r.Signal != "":
		return "killed by signal " + r.Signal
	case r.ExitCode != 0:
		return fmt.Sprintf("exit code %d", r.ExitCode)
	}
	return ""
}

// brief is the outcome of a command in one line: the failure, the first blocked action, and the number of lines.
func (r Ran) brief(o workspace.Output) string {
	var parts []string
	if failure := r.failure(); failure != "" {
		parts = append(parts, failure)
	}
	if len(r.Blocked) > 0 {
		b := r.Blocked[0]
		parts = append(parts, strings.TrimRight("the sandbox blocked "+b.What+" "+cmp.Or(b.Path, b.Host), " "))
	}
	return strings.Join(append(parts, lineCount(o)), ", ")
}

func lineCount(o workspace.Output) string {
	n := int64(strings.Count(o.Head, "\n")+strings.Count(o.Tail, "\n")) + o.Lines
	if end := cmp.Or(o.Tail, o.Head); end != "" && !strings.HasSuffix(end, "\n") {
		n++
	}
	if n == 0 {
		return "no output"
	}
	return tool.Count(n, "line")
}

// text is the result for the model, of about limit bytes: the output, then the outcome of the command.
func text(done workspace.Finished, ran Ran, seconds, limit int) string {
	output := excerpt(done.Output, limit)
	var notes []string
	until := "the output before that is above"
	if output == "" {
		until = "no output before that"
	}
	switch {
	case ran.TimedOut:
		notes = append(notes, fmt.Sprintf("timed out after %d s and was killed", seconds), until, "a longer timeout may help")
	case ran.Cancelled:
		notes = append(notes, "cancelled", until)
	case output == "":
		notes = append(notes, ending(done), "no output")
	default:
		notes = append(notes, ending(done))
	}
	return output + bracketed(append(notes, remarks(done)...))
}

// Describe returns the text about an ended command for a model, of about limit bytes: its output, its outcome, and what the sandbox blocked.
func Describe(done workspace.Finished, limit int) string { return text(done, Ran{}, 0, limit) }

func bracketed(notes []string) string { return "[" + strings.Join(notes, "; ") + "]" }

// excerpt returns the output for the model, in whole lines.
func excerpt(o workspace.Output, limit int) string {
	output, _ := tool.Excerpt{
		Head: o.Head, Tail: o.Tail, Lines: o.Lines, Bytes: o.Bytes,
		File: o.File, Kept: o.FileBytes, From: o.From, FromLines: o.FromLines, Lost: o.Lost,
	}.Bound(limit)
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output
}

func ending(done workspace.Finished) string {
	if done.Signal != "" {
		return "killed by signal: " + done.Signal
	}
	return fmt.Sprintf("exit code %d", done.ExitCode)
}

// remarks returns further notes about an ended command.
func remarks(done workspace.Finished) (notes []string) {
	if done.Trouble != nil {
		notes = append(notes, done.Trouble.Error())
	}
	if done.Note != "" {
		notes = append(notes, done.Note)
	}
	if done.Left {
		notes = append(notes, "processes that it left running were killed; use background: true to keep a command running")
	}
	const most = 5
	for i, b := range done.Blocked {
		if i == most {
			notes = append(notes, fmt.Sprintf("and %d more", len(done.Blocked)-most))
			break
		}
		notes = append(notes, b.String())
	}
	if len(done.Blocked) > 0 {
		notes = append(notes, "if the command needs this, run it with unconfined and a reason; the user decides")
	}
	return notes
}
