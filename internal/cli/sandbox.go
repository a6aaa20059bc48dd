package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func (p *program) sandbox() *cobra.Command {
	var dir string
	var hosts []string
	c := &cobra.Command{
		Use:   "sandbox [flags] -- COMMAND [ARGUMENT...]",
		Short: "Run a command as the agent's commands run: confined",
		Long: `Run a command under the policy that confines the agent's commands: it can write in the directory and nowhere else, read no secrets,
and reach no network but the hosts of the configuration and of --network. Its exit code is that of the command.

tenon doctor sandbox shows the policy and what this machine can enforce.`,
		Example: `  tenon sandbox -- go test ./...
  tenon sandbox --network modules.example.com -- go mod download`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(c, "there is no command: write it behind --")
			}
			return p.confine(c, dir, hosts, args)
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&dir, "dir", "C", "", "the `directory` that can be written, and where the command runs; default where you are")
	f.StringArrayVar(&hosts, "network", nil, "a `host` that it may reach, such as example.com or *.example.com:443; * is all; may be repeated")
	completeWith(c, "dir", directories)
	return c
}

// bounds is what work in a directory may touch, as the configuration says.
func (p *program) bounds(dir string) (*app.Setup, app.Bounds, error) {
	dir, err := directory(dir)
	if err != nil {
		return nil, app.Bounds{}, err
	}
	setup, err := app.NewSetup(p.env.Getenv, dir, buildOf(p.env.Version).Version)
	if err != nil {
		return nil, app.Bounds{}, err
	}
	return setup, setup.Bounds(dir), nil
}

func (p *program) confine(c *cobra.Command, dir string, hosts, args []string) error {
	_, b, err := p.bounds(dir)
	if err != nil {
		return err
	}
	if b.Sandbox == nil {
		return errors.New(b.Off)
	}
	network := &b.Sandbox.Network
	network.Hosts = append(network.Hosts, hosts...)
	network.Open = network.Open || slices.Contains(hosts, "*")
	cmd := exec.CommandContext(c.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = b.Root, os.Environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.env.Stdin, p.env.Stdout, p.env.Stderr
	done := p.guarded(b)
	confined, err := b.Sandbox.Wrap(cmd)
	if err != nil {
		return p.notStarted(err)
	}
	for _, gap := range confined.Gaps {
		p.sayOfCommand(gap)
	}
	err = cmd.Run()
	code := cmd.ProcessState.ExitCode()
	closed := confined.Close()
	for _, blocked := range confined.Explain(nil, code) {
		p.sayOfCommand(blocked.String())
	}
	done()
	if closed != nil {
		return closed
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return err
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
}

// guarded looks at the repositories of the workspace before a command. done disarms those that it has left, and tells of them.
func (p *program) guarded(b app.Bounds) (done func()) {
	guard := workspace.GuardRepositories([]string{b.Root}, b.Sandbox)
	seek := func() {
		if below, err := filepath.Rel(b.Root, b.Home); err != nil || !filepath.IsLocal(below) {
			guard.Unseen(b.Root) // a home directory is too much to look everywhere
		}
	}
	seek()
	guard.Begin()
	return func() {
		seek()
		disarmed, err := guard.End()
		for _, d := range disarmed {
			p.sayOfCommand(d.Path + ": " + d.Why)
		}
		if err != nil {
			p.sayOfCommand(err.Error())
		}
	}
}

// sayOfCommand tells something beside what a command itself says.
func (p *program) sayOfCommand(text string) { fmt.Fprintln(p.env.Stderr, "tenon: "+harmless(text)) }

// notStarted gives a program that there is not the exit code that it has in a shell.
func (p *program) notStarted(err error) error {
	const notFound = 127
	if _, lookup := errors.AsType[*exec.Error](err); !lookup {
		return err
	}
	p.sayOfCommand(err.Error())
	return exitCode(notFound)
}

func (p *program) doctor() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look at what this machine can do",
		RunE:  group,
	}
	var dir string
	box := &cobra.Command{
		Use:   "sandbox",
		Short: "Show how commands are confined here, and what they may touch",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, b, err := p.bounds(dir)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(p.env.Stdout, harmless(confinement(sandbox.Look(), b)))
			return err
		},
	}
	box.Flags().StringVarP(&dir, "dir", "C", "", "the `directory` of the work; default where you are")
	completeWith(box, "dir", directories)
	c.AddCommand(box)
	return c
}

// confinement tells what a machine can do, and what the policy for a directory is.
func confinement(r sandbox.Report, b app.Bounds) string {
	var t textTable
	level := map[sandbox.Level]string{
		sandbox.Namespaces: "commands are confined by namespaces, Landlock and seccomp",
		sandbox.Seatbelt:   "commands are confined by Seatbelt",
		sandbox.Partly:     "commands are confined by Landlock and seccomp alone, with gaps; mode auto asks like mode ask",
		"":                 "nothing confines commands here: each must be allowed to run outside a sandbox; mode auto asks like mode ask",
	}[r.Level()]
	if r.Borrowed && r.Level() == sandbox.Namespaces {
		level = "commands are confined by namespaces that bubblewrap makes, Landlock and seccomp"
	}
	if b.Sandbox == nil {
		level = b.Off + "; mode auto asks like mode ask"
	}
	t.row("in short", level)
	t.row("system", r.System)
	t.row("namespaces", either(!r.Namespaces || r.Borrowed, "refused to Tenon: "+r.Trouble, "yes"))
	t.row("Landlock", either(r.Landlock > 0, fmt.Sprintf("version %d", r.Landlock), "no"))
	t.row("seccomp", either(r.Seccomp, "yes", "no"))
	t.row("bubblewrap", cmp.Or(r.Bubblewrap, either(r.Namespaces, "not needed", "not installed; it may get the namespaces that are refused to Tenon")))
	if r.Seatbelt {
		t.row("Seatbelt", "yes")
	}
	if b.Sandbox == nil {
		return t.String()
	}
	t.row("", "")
	t.list("may write", b.Sandbox.Writable)
	t.list("but not", existing(b.Protected))
	t.list("cannot read", existing(b.Sandbox.Hidden))
	switch n := b.Sandbox.Network; {
	case n.Open:
		t.row("network", "open")
	case len(n.Hosts) == 0:
		t.row("network", "none but itself")
	default:
		t.list("network", n.Hosts)
	}
	t.row("caches", b.Sandbox.Caches)
	t.row("processes", fmt.Sprint(b.Sandbox.Limits.Processes))
	return t.String()
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// existing is those of the paths that are there.
func existing(names []string) (out []string) {
	for _, name := range names {
		if _, err := os.Lstat(name); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// textTable is a text of names with values.
type textTable struct{ text []byte }

func (t *textTable) row(name, value string) {
	t.text = append(t.text, strings.TrimRight(fmt.Sprintf("%-12s %s", name, value), " ")+"\n"...)
}

func (t *textTable) list(name string, values []string) {
	if len(values) == 0 {
		t.row(name, "-")
	}
	for i, v := range values {
		t.row(either(i == 0, name, ""), v)
	}
}

func (t *textTable) String() string { return string(t.text) }
