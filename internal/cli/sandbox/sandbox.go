// Package sandbox is tenon sandbox and tenon doctor sandbox.
package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/host"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// New returns tenon sandbox.
func New(env *command.Env) *cobra.Command {
	var dir string
	var hosts []string
	c := &cobra.Command{
		Use:   "sandbox [flags] -- COMMAND [ARGUMENT...]",
		Short: "Run a command in the sandbox",
		Long: `Run a command in the sandbox of the agent. It can write in the directory and nowhere
else, reads no secrets, and reaches only the hosts of the configuration and of
--network. The exit code is that of the command.

'tenon doctor sandbox' shows the policy and what this machine can enforce.`,
		Example: `  tenon sandbox -- go test ./...
  tenon sandbox --network @go -- go mod download`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef(c, "the command is missing: write it after --")
			}
			return confine(env, c, dir, hosts, args)
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	command.DirFlag(c, &dir, "run in this writable `directory`; default: here")
	command.NetworkFlag(c, &hosts)
	return c
}

func confine(env *command.Env, c *cobra.Command, dir string, hosts, args []string) error {
	_, b, err := env.Bounds(dir)
	if err != nil {
		return err
	}
	if b.Sandbox == nil {
		return errors.New(b.Off)
	}
	if err := command.CheckNetwork(c, hosts); err != nil {
		return err
	}
	b = b.Reach(hosts)
	b.Sandbox = b.Sandbox.Session("", nil) // there is no session
	cmd := exec.CommandContext(c.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = b.Root, os.Environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
	policy, done := guard(env, b)
	confined, err := policy.Wrap(cmd)
	if err != nil {
		done()
		return notStarted(env, err)
	}
	for _, gap := range confined.Gaps {
		sayOfCommand(env, gap)
	}
	err = cmd.Run()
	code := cmd.ProcessState.ExitCode()
	closed := confined.Close()
	for _, blocked := range confined.Explain(nil, code) {
		sayOfCommand(env, blocked.String())
	}
	done()
	if closed != nil {
		return closed
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return err
	}
	if code != 0 {
		sayWhatIsOutOfReach(env, b, args)
		return command.ExitCode(code)
	}
	return nil
}

// sayWhatIsOutOfReach prints the hosts that a command uses and that it could not reach. Its own output said that to the person, and not to this program.
func sayWhatIsOutOfReach(env *command.Env, b app.Bounds, args []string) {
	line := ""
	for _, arg := range args {
		line += "'" + strings.ReplaceAll(arg, "'", `'\''`) + "' "
	}
	list, err := host.Parse(b.Hosts...)
	for _, name := range b.Effects(line, b.Root).Hosts {
		if wanted, wrong := host.Parse(name); err == nil && wrong == nil && !list.Covers(wanted) {
			sayOfCommand(env, "commands have no network here, and this one uses "+name+": "+host.Allow(name))
		}
	}
}

// guard examines the repositories of the workspace before a command, and returns its policy with views of them. done disarms repositories that
// the command left, and reports them.
func guard(env *command.Env, b app.Bounds) (policy *sandbox.Policy, done func()) {
	guard := workspace.GuardRepositories([]string{b.Root}, b.Sandbox)
	seek := func() {
		if !paths.Inside(b.Root, b.Home) {
			guard.Unseen(b.Root) // a home directory is too large
		}
	}
	seek()
	guard.Begin()
	policy, leave := workspace.View(b.Sandbox, guard)
	return policy, func() {
		dropped, left := leave()
		seek()
		disarmed, err := guard.End()
		for _, d := range dropped {
			sayOfCommand(env, d.Path+": "+d.Why)
		}
		for _, d := range disarmed {
			sayOfCommand(env, d.Path+": "+d.Why)
		}
		if err = errors.Join(left, err); err != nil {
			sayOfCommand(env, err.Error())
		}
	}
}

// sayOfCommand prints a note about the command to standard error.
func sayOfCommand(env *command.Env, text string) {
	fmt.Fprintln(env.Stderr, "tenon: "+term.Harmless(text))
}

// notStarted returns the exit code of a shell if the program does not exist.
func notStarted(env *command.Env, err error) error {
	const notFound = 127
	if _, lookup := errors.AsType[*exec.Error](err); !lookup {
		return err
	}
	sayOfCommand(env, err.Error())
	return command.ExitCode(notFound)
}

// NewReport returns tenon doctor sandbox.
func NewReport(env *command.Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Show the sandbox of this machine and its policy",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, b, err := env.Bounds(dir)
			if err != nil {
				return err
			}
			return env.Print(false, command.Result{Text: confinement(env, sandbox.Look(), b)})
		},
	}
	command.DirFlag(c, &dir, "working `directory`; default: here")
	return c
}

// Level describes in one sentence what confines commands.
func Level(r sandbox.Report, b app.Bounds) string {
	level := map[sandbox.Level]string{
		sandbox.Namespaces: "namespaces, Landlock and seccomp confine commands",
		sandbox.Seatbelt:   "Seatbelt confines commands",
		sandbox.Partly:     "Landlock and seccomp confine commands, with gaps; mode auto asks like mode ask",
		"":                 "nothing confines commands here: each needs permission to run without a sandbox; mode auto asks like mode ask",
	}[r.Level()]
	if r.Borrowed && r.Level() == sandbox.Namespaces {
		level = "namespaces of bubblewrap, Landlock and seccomp confine commands"
	}
	if b.Sandbox == nil {
		level = b.Off + "; mode auto asks like mode ask"
	}
	return level
}

// confinement describes the sandbox of a machine and the policy for a directory.
func confinement(env *command.Env, r sandbox.Report, b app.Bounds) string {
	t := textTable{env: env}
	t.row("in short", Level(r, b))
	t.row("system", r.System)
	t.row("namespaces", either(!r.Namespaces || r.Borrowed, "not available to Tenon: "+r.Trouble, "yes"))
	t.row("Landlock", either(r.Landlock > 0, fmt.Sprintf("version %d", r.Landlock), "no"))
	t.row("seccomp", either(r.Seccomp, "yes", "no"))
	t.row("bubblewrap", cmp.Or(r.Bubblewrap, either(r.Namespaces, "not needed", "not installed; it may have namespaces that are not available to Tenon")))
	if r.Seatbelt {
		t.row("Seatbelt", "yes")
	}
	if b.Sandbox == nil {
		return t.text.String()
	}
	t.row("", "")
	t.list("may write", b.Sandbox.Writable)
	t.list("but not", existing(b.Protected))
	t.list("cannot read", existing(b.Sandbox.Hidden))
	switch n := b.Sandbox.Network; {
	case n.Open:
		t.row("network", "open")
	case len(n.Hosts) == 0:
		t.row("network", "only the local one")
	default:
		t.list("network", n.Hosts)
	}
	t.row("caches", b.Sandbox.Caches)
	t.row("processes", fmt.Sprint(b.Sandbox.Limits.Processes))
	return t.text.String()
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func existing(names []string) (out []string) {
	for _, name := range names {
		if _, err := os.Lstat(name); err == nil {
			out = append(out, name)
		}
	}
	return out
}

type textTable struct {
	env  *command.Env
	text strings.Builder
}

func (t *textTable) row(name, value string) {
	line := t.env.Wrap(fmt.Sprintf("%-12s ", name), 13, term.OneLine(value))
	t.text.WriteString(strings.TrimRight(line, " \n") + "\n")
}

func (t *textTable) list(name string, values []string) {
	if len(values) == 0 {
		t.row(name, "-")
	}
	for i, v := range values {
		t.row(either(i == 0, name, ""), v)
	}
}
