package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/guidance"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
)

// contextFile is the file that tenon init writes.
const contextFile = "AGENTS.md"

// maxContextLines is how long it may be: every session begins with it.
const maxContextLines = 150

func (p *program) initialize() *cobra.Command {
	o := runOptions{output: outputText, system: app.System, rules: ruleFlags{mode: permission.AskMode}, noInput: true}
	force := false
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a first AGENTS.md for the project",
		Long: `Write a first AGENTS.md for the project: what somebody who begins to work here, a person or an agent, must know. The model looks at the
project and writes at most 150 lines; nothing else is changed, and tenon undo takes it back.

Where there is an AGENTS.md already it stays as it is, and the model says what it would change. With --force it improves the file itself.

Every session reads the file when it begins, and again when it changes.`,
		Example: `  tenon init
  tenon init --force --model anthropic/claude-sonnet-4-6`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := directory(o.dir)
			if err != nil {
				return err
			}
			_, err = os.Lstat(filepath.Join(dir, contextFile))
			there := err == nil
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if !there || force {
				for _, tool := range []string{"write", "edit"} {
					o.rules.allow = append(o.rules.allow, tool+"("+contextFile+")")
				}
				o.after = shortContext
			}
			draft := guidance.Draft(dir)
			if o.offline = "create " + contextFile + " with the following content:\n```\n" + draft + "```"; there && force {
				o.offline = strings.Replace(o.offline, "create", "overwrite", 1)
			}
			if there && !force {
				o.offline = "read " + contextFile
			}
			return p.execute(c, o, []string{initPrompt(draft, there, force)})
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&force, "force", false, "improve an AGENTS.md that is there")
	f.StringVarP(&o.model, "model", "m", "", "the model to ask, as `provider/model[@variant]` or the name of a pool; see tenon models")
	f.StringVarP(&o.dir, "dir", "C", "", "for the project in this `directory`; default where you are")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show the final answer and errors only")
	completeWith(c, "dir", directories)
	return c
}

// initPrompt asks for the file.
func initPrompt(draft string, there, force bool) string {
	var b strings.Builder
	switch {
	case there && force:
		fmt.Fprintf(&b, "Improve %s of this project. Keep what is in it and still holds; change nothing else.", contextFile)
	case there:
		fmt.Fprintf(&b, "Look at %s of this project and say what you would change in it. Do not change it: answer with the new text of the parts concerned.", contextFile)
	default:
		fmt.Fprintf(&b, "Write %s for this project; change nothing else.", contextFile)
	}
	fmt.Fprintf(&b, ` It tells whoever begins to work here, a person or an agent, what they must know and cannot see at once.

Look at the project first: its manifests, build and CI files, README, layout, and some typical sources and tests. Then it says, in Markdown of
at most %d lines: what the project is; the commands to build, test (also a single test) and lint; where things are; conventions that no
tool enforces; what must not be done. Say only what you have seen here, and nothing that holds everywhere. Every line is read at the
beginning of every session: leave out what is not worth that.`, maxContextLines)
	if !there {
		b.WriteString("\n\nThis much the files say by themselves:\n\n<draft>\n" + draft + "</draft>")
	}
	return b.String()
}

// shortContext has a file that is too long made shorter, once.
func shortContext(ctx context.Context, j *job, t *target) error {
	n, err := linesOf(filepath.Join(t.dir, contextFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the model has written no %s", contextFile)
	case err != nil || n <= maxContextLines:
		return err
	case j.report.StopReason != session.ReasonDone:
		return nil
	}
	j.tell(fmt.Sprintf("%s has %d lines, asking for at most %d", contextFile, n, maxContextLines))
	j.report.again()
	wish := fmt.Sprintf("%s has %d lines. Make it at most %d: leave out what is worth least.", contextFile, n, maxContextLines)
	if err := j.follow(t.agent.Run(ctx, app.Input(wish, ""))); err != nil {
		return err
	}
	if n, err = linesOf(filepath.Join(t.dir, contextFile)); err == nil && n > maxContextLines {
		j.tell(fmt.Sprintf("! %s has %d lines still: shorten it yourself, it is read at the beginning of every session", contextFile, n))
	}
	return err
}

// linesOf counts the lines of a file. What is no regular file is not waited for, nor read to its end.
func linesOf(name string) (int, error) {
	const most = 1 << 20 // bytes
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return 0, cmp.Or(err, fmt.Errorf("%s is no regular file", name))
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	return bytes.Count(data, []byte("\n")), err
}
