package shell

import (
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// Ran is the details of a command.
type Ran struct {
	Command     string    `json:"command"`
	Description string    `json:"description,omitzero"`
	Dir         string    `json:"dir,omitzero"`
	Job         string    `json:"job,omitzero"` // it was started as that, and what follows is not known yet
	ExitCode    int       `json:"exit_code"`    // -1 when it did not end by itself
	Signal      string    `json:"signal,omitzero"`
	TimedOut    bool      `json:"timed_out,omitzero"`
	Cancelled   bool      `json:"cancelled,omitzero"`
	Left        bool      `json:"left,omitzero"` // it left processes running, which were ended
	Bytes       int64     `json:"bytes"`         // of output
	File        string    `json:"file,omitzero"` // with all of the output, when it is long
	Unconfined  bool      `json:"unconfined,omitzero"`
	Reason      string    `json:"reason,omitzero"`
	Blocked     []Blocked `json:"blocked,omitzero"`
}

// Blocked is something that the sandbox did not let a command do.
type Blocked struct {
	What string `json:"what"`          // "read", "write", "connect" or "system"
	Path string `json:"path,omitzero"` // absolute
	Host string `json:"host,omitzero"`
	Why  string `json:"why"`
}

func newRan(a sandboxed, done workspace.Finished) Ran {
	return Ran{
		Command: a.Command, Description: a.Description, Dir: a.Dir, ExitCode: done.ExitCode, Signal: done.Signal,
		Left: done.Left, Bytes: done.Size, File: done.File, Unconfined: a.Unconfined, Reason: a.Reason, Blocked: blocked(done),
	}
}

func blocked(done workspace.Finished) (list []Blocked) {
	for _, b := range done.Blocked {
		list = append(list, Blocked{b.What, b.Path, b.Host, b.Why})
	}
	return list
}

// text is what the model is told: the output, and behind it how the command ended.
func text(done workspace.Finished, ran Ran, seconds int) string {
	output, lost := excerpt(done.Output)
	var notes []string
	switch {
	case ran.TimedOut:
		notes = append(notes, fmt.Sprintf("not done after %d s and ended", seconds), until(output), "a longer timeout may help")
	case ran.Cancelled:
		notes = append(notes, "cancelled", until(output))
	case output == "":
		notes = append(notes, ending(done), "no output")
	default:
		notes = append(notes, ending(done))
	}
	if lost > 0 && done.File != "" {
		notes = append(notes, kept(done.Output))
	}
	return output + bracketed(append(notes, remarks(done)...))
}

// until says what the output of a command is that did not come to its end.
func until(output string) string {
	if output == "" {
		return "it wrote nothing until then"
	}
	return "above is what it wrote until then"
}

func bracketed(notes []string) string { return "[" + strings.Join(notes, "; ") + "]" }

// excerpt is output for the model, in whole lines, and how much of it is missing.
func excerpt(o workspace.Output) (string, int64) {
	output, lost := tool.Excerpt{Head: o.Head, Tail: o.Tail, Lines: o.Lines, Bytes: o.Bytes}.Bound(maxText)
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output, lost
}

func ending(done workspace.Finished) string {
	if done.Signal != "" {
		return "ended by a signal: " + done.Signal
	}
	return fmt.Sprintf("exit code %d", done.ExitCode)
}

// kept says where all of the output is.
func kept(o workspace.Output) string {
	much := "all"
	if o.FileBytes < o.Size {
		much = fmt.Sprintf("the first %d bytes", o.FileBytes)
	}
	return fmt.Sprintf("%s of %d bytes of output: %s", much, o.Size, o.File)
}

// remarks is what else there is to say of a command that has ended.
func remarks(done workspace.Finished) (notes []string) {
	if done.Trouble != nil {
		notes = append(notes, done.Trouble.Error())
	}
	if done.Note != "" {
		notes = append(notes, done.Note)
	}
	if done.Left {
		notes = append(notes, "what it left running in the background was ended with it; background: true keeps a command running")
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
		notes = append(notes, "if it must be, the command may be run once outside, with unconfined and a reason, which asks")
	}
	return notes
}
