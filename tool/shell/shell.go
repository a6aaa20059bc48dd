package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	defaultTimeout = 120       // seconds
	maxText        = 50 << 10  // bytes of output that the model is told
	maxCapture     = 256 << 10 // bytes of output in memory, and of those that are reported live
)

type arguments struct {
	Command     string `json:"command" min:"1"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"seconds, default 120" min:"1" max:"600"`
	Description string `json:"description,omitempty" jsonschema:"what it does, in a few words for people"`
}

// Ran is the details of a command.
type Ran struct {
	Command     string `json:"command"`
	Description string `json:"description,omitzero"`
	ExitCode    int    `json:"exit_code"`       // -1 when it did not end by itself
	Signal      string `json:"signal,omitzero"` // what ended it
	TimedOut    bool   `json:"timed_out,omitzero"`
	Cancelled   bool   `json:"cancelled,omitzero"`
	Background  bool   `json:"background,omitzero"` // it left processes running
	Bytes       int64  `json:"bytes"`               // of output
	File        string `json:"file,omitzero"`       // with all of the output, when it is long
}

var errTimeout = errors.New("the time is over")

// New returns the tool shell for a workspace. A command that fails is no failed call: its exit code is told.
func New(ws *workspace.Workspace) tool.Tool {
	return tool.New("shell", shellText,
		func(_ context.Context, args arguments) (tool.Effects, error) {
			return tool.Effects{Exec: true, Command: args.Command}, nil
		},
		func(ctx context.Context, args arguments, report tool.Report) (tool.Result, error) {
			seconds := cmp.Or(args.Timeout, defaultTimeout)
			ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTimeout)
			defer cancel()
			live := reporter{report: report}
			done, err := ws.Run(ctx, workspace.Command{Line: args.Command, Capture: maxCapture, Spill: maxText, Report: live.write})
			if err != nil && ctx.Err() == nil {
				return tool.Result{}, err // it did not start
			}
			ran := Ran{
				Command: args.Command, Description: args.Description, ExitCode: done.ExitCode, Signal: done.Signal,
				TimedOut: errors.Is(err, errTimeout), Cancelled: err != nil && !errors.Is(err, errTimeout),
				Background: done.Background, Bytes: done.Size, File: done.File,
			}
			result := tool.TextResult(text(done, ran, seconds))
			result.IsError = ran.TimedOut || ran.Cancelled
			result.Details = ran
			return result, nil
		})
}

// text is what the model is told: the output, and behind it how the command ended.
func text(done workspace.Finished, ran Ran, seconds int) string {
	output, lost := tool.Excerpt{Head: done.Head, Tail: done.Tail, Lines: done.Lines, Bytes: done.Bytes}.Bound(maxText)
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	var notes []string
	switch {
	case ran.TimedOut:
		notes = append(notes, fmt.Sprintf("not done after %d s and ended; above is what it wrote until then; a longer timeout may help", seconds))
	case ran.Cancelled:
		notes = append(notes, "cancelled; above is what it wrote until then")
	case ran.Signal != "":
		notes = append(notes, "ended by a signal: "+ran.Signal)
	default:
		notes = append(notes, fmt.Sprintf("exit code %d", ran.ExitCode))
	}
	if output == "" {
		notes = append(notes, "no output")
	}
	if lost > 0 && done.File != "" {
		kept := "all"
		if done.FileBytes < done.Size {
			kept = fmt.Sprintf("the first %d bytes", done.FileBytes)
		}
		notes = append(notes, fmt.Sprintf("%s of %d bytes of output: %s", kept, done.Size, done.File))
	}
	if done.Lost != nil {
		notes = append(notes, done.Lost.Error())
	}
	if ran.Background {
		notes = append(notes, "processes are left running in the background; they end with the session")
	}
	return output + "[" + strings.Join(notes, "; ") + "]"
}

// reporter tells the start of the output as it comes, in whole runes.
type reporter struct {
	report tool.Report
	told   int
	rest   []byte // the start of a rune
}

func (r *reporter) write(data []byte) {
	if r.told >= maxCapture {
		return
	}
	data = append(r.rest, data[:min(len(data), maxCapture-r.told)]...)
	r.told += len(data) - len(r.rest)
	end := len(data)
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if b := data[len(data)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRune(b) {
				end -= i
			}
			break
		}
	}
	r.rest = append([]byte(nil), data[end:]...)
	if end > 0 {
		r.report(strings.ToValidUTF8(string(data[:end]), "\ufffd"))
	}
	if r.told >= maxCapture {
		r.report("\n[the rest of the output is not shown live]\n")
	}
}

//go:embed shell.md
var shellText string
