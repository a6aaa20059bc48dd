package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// project is a directory to work in, with a home and data of its own.
type project struct {
	t       testing.TB
	dir     string // the project itself
	home    string
	data    string
	env     []string // in addition to those that name the home and data directories
	secrets []string // texts that must not appear anywhere
}

// fact is a text that only the file fact.txt of each project has.
const fact = "The drawer holds seventeen keys."

func newProject(t testing.TB) *project {
	t.Helper()
	top := t.TempDir()
	p := &project{t: t, dir: filepath.Join(top, "project"), home: filepath.Join(top, "home"), data: filepath.Join(top, "data")}
	for _, dir := range []string{p.dir, p.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write(filepath.Join(p.dir, "fact.txt"), fact+"\n")
	p.write(filepath.Join(p.dir, "other.txt"), "Nothing of interest.\n")
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// puts writes a file of the project or of the home, with its directories.
func (p *project) puts(top, name, text string) {
	p.t.Helper()
	file := filepath.Join(top, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.write(file, text)
}

// config writes the user's configuration.
func (p *project) config(text string) { p.write(filepath.Join(p.home, "tenon.json"), text) }

// result is what a run of the program gave.
type result struct {
	code           int
	stdout, stderr string
}

// command is the program with these arguments, not started yet.
func (p *project) command(ctx context.Context, args ...string) *exec.Cmd {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{programName}, args...)
	cmd.Dir = p.dir
	cmd.Env = append([]string{
		"HOME=" + p.home, "USERPROFILE=" + p.home, "TENON_CONFIG_DIR=" + p.home, "TENON_DATA_DIR=" + p.data,
		"TENON_TITLES=off",         // models are asked what their scripts know of
		"GORACE=atexit_sleep_ms=0", // by default a program with the race detector waits a second before it ends
	}, p.env...)
	return cmd
}

// tenon runs the program.
func (p *project) tenon(args ...string) result {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := p.command(p.t.Context(), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := result{stdout: stdout.String(), stderr: stderr.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.code = exit.ExitCode()
	} else if err != nil {
		p.t.Fatal(err)
	}
	p.keepsSecret("standard output", r.stdout)
	p.keepsSecret("standard error", r.stderr)
	return r
}

// must runs the program, which must do what it is asked for.
func (p *project) must(args ...string) string {
	p.t.Helper()
	r := p.tenon(args...)
	if r.code != 0 {
		p.t.Fatalf("%v: exit code %d: %s%s", args, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// keepsSecret fails the test when a secret can be read in text.
func (p *project) keepsSecret(where, text string) {
	p.t.Helper()
	for _, s := range p.secrets {
		if strings.Contains(text, s) {
			p.t.Errorf("%s shows the secret %s", where, s)
		}
	}
}

// keepsSecretOnDisk does the same with every file of the data directory.
func (p *project) keepsSecretOnDisk() {
	p.t.Helper()
	err := filepath.WalkDir(p.data, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		p.keepsSecret(d.Name(), string(data))
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Error(err)
	}
}

// journal returns the entries of the last session; nil when there is none.
func (p *project) journal() []session.Event {
	p.t.Helper()
	store, err := sqlite.Open(filepath.Join(p.data, "sessions.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			p.t.Error(err)
		}
	}()
	var all []session.Event
	for s, err := range store.List(p.t.Context(), index.Query{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		for e, err := range store.Read(p.t.Context(), s.ID, 0) {
			if err != nil {
				p.t.Fatal(err)
			}
			all = append(all, e)
		}
		break
	}
	return all
}

// answers returns the messages of the model in a journal.
func answers(journal []session.Event) []llm.Message {
	var all []llm.Message
	for _, e := range journal {
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleAssistant {
			all = append(all, m.Message)
		}
	}
	return all
}

// ended returns how the last run of a journal ended, and whether each run has exactly one end.
func ended(t testing.TB, journal []session.Event) session.RunEnded {
	t.Helper()
	var last session.RunEnded
	open := 0
	for _, e := range journal {
		switch b := e.Body.(type) {
		case session.RunStarted:
			open++
		case session.RunEnded:
			open--
			last = b
		}
		if open != 0 && open != 1 {
			t.Errorf("entry %d: %d runs are open", e.Seq, open)
		}
	}
	if open != 0 || last.Reason == "" {
		t.Errorf("the journal has no end of the run: %d are open, the last one ended with %q", open, last.Reason)
	}
	return last
}

// session is the ID of the last session.
func (p *project) session() string {
	p.t.Helper()
	r := p.tenon("sessions", "list", "--json", "--limit", "1")
	var s index.Summary
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil || r.code != 0 {
		p.t.Fatalf("exit code %d, %v: %s", r.code, err, r.stderr)
	}
	return string(s.ID)
}
