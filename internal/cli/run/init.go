package run

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

	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
)

// contextFile is the file that tenon init writes.
const contextFile = "AGENTS.md"

// maxContextLines is the largest number of its lines. Every session starts with the file.
const maxContextLines = 150

func NewInit(env *command.Env) *cobra.Command {
	o := runOptions{output: outputText, rules: command.RuleFlags{Permissions: app.Permissions{Mode: permission.AskMode}}, noInput: true}
	force, yes, from := false, false, ""
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a first AGENTS.md for the project",
		Long: `Write a first AGENTS.md for the project: the facts that a new person or agent needs. The
model reads the project and writes at most 150 lines. It changes nothing else. A
'tenon undo' directly after it reverts the file.

If an AGENTS.md exists, the model only suggests changes. With --force it improves the
file. Without a key, init writes a draft from the manifests and the directories.

Every session reads the file when it starts, and again when it changes.

With --from, init writes no AGENTS.md: it translates your own settings of another program
to a tenon.json, shows it with the settings that have no translation, and asks before it
writes. It never changes an existing tenon.json, and copies no values of secrets.`,
		Example: `  tenon init
  tenon init --from claude
  tenon init --force --model anthropic/claude-sonnet-5-5`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if from != "" {
				return adopt(env, c, from, yes)
			}
			dir, err := app.Directory(o.dir)
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
					o.rules.Allow = append(o.rules.Allow, tool+"("+contextFile+")")
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
			return execute(env, c, o, []string{initPrompt(draft, there, force)})
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.Var(command.Choice(&from, origins, "PROGRAM"), "from", "translate your settings of claude, codex, opencode or crush")
	f.BoolVarP(&yes, "yes", "y", false, "with --from: do not ask for confirmation")
	f.BoolVar(&force, "force", false, "improve an existing AGENTS.md")
	f.StringVarP(&o.model, "model", "m", "", "`MODEL`: provider/model[@variant] or a pool; see tenon models")
	f.StringVarP(&o.dir, "dir", "C", "", "use the project in this `DIR`; default: here")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the answer and errors")
	command.CompleteWith(c, "dir", command.Directories)
	command.CompleteWith(c, "from", cobra.FixedCompletions(origins, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// InitPrompt returns the prompt of tenon init for a directory.
func InitPrompt(dir string) string {
	_, err := os.Lstat(filepath.Join(dir, contextFile))
	return initPrompt(guidance.Draft(dir), err == nil, false)
}

func initPrompt(draft string, there, force bool) string {
	var b strings.Builder
	switch {
	case there && force:
		fmt.Fprintf(&b, "Improve %s of this project. Keep its correct parts, and change no other file.", contextFile)
	case there:
		fmt.Fprintf(&b, "Read %s of this project and suggest changes to it. Do not edit it: answer with the new text of the affected parts.", contextFile)
	default:
		fmt.Fprintf(&b, "Write %s for this project, and change no other file.", contextFile)
	}
	fmt.Fprintf(&b, ` The file gives a new person or agent the facts that they need and cannot see at once.

Look at the project first: its manifests, build and CI files, README, layout, and some typical sources and tests. The file has at most
%d lines of Markdown: the purpose of the project; the commands to build, test (also a single test) and lint; the layout; conventions that no
tool enforces; forbidden actions. It has only facts that you have seen here, and nothing that is true of every project. The model reads every
line at the start of every session: omit lines that are not worth it.`, maxContextLines)
	if !there {
		b.WriteString("\n\nTenon wrote this draft from the project's manifests and directories:\n\n<draft>\n" + draft + "</draft>")
	}
	return b.String()
}

// shortContext asks the model once to shorten a file that is too long.
func shortContext(ctx context.Context, j *job) error {
	n, err := linesOf(filepath.Join(j.header.Dir, contextFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the model did not write %s", contextFile)
	case err != nil || n <= maxContextLines:
		return err
	case j.report.StopReason != session.ReasonDone:
		return nil
	}
	j.note(fmt.Sprintf("%s has %d lines, asking for at most %d", contextFile, n, maxContextLines))
	j.report.again()
	wish := fmt.Sprintf("%s has %d lines. Shorten it to at most %d: remove the least useful ones.", contextFile, n, maxContextLines)
	if err := j.run(ctx, llm.UserText(wish)); err != nil {
		return err
	}
	if n, err = linesOf(filepath.Join(j.header.Dir, contextFile)); err == nil && n > maxContextLines {
		j.note(fmt.Sprintf("! %s still has %d lines: shorten it yourself, because the model reads it at the start of every session", contextFile, n))
	}
	return err
}

// linesOf counts the lines in the first MiB of a regular file. It does not open other files, so that it never waits for one.
func linesOf(name string) (int, error) {
	const most = 1 << 20 // bytes
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return 0, cmp.Or(err, fmt.Errorf("%s is not a regular file", name))
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	return bytes.Count(data, []byte("\n")), err
}
