package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// ofSession is a workspace with the private directories of a session.
type ofSession struct {
	t       *testing.T
	w       *workspace.Workspace
	policy  *sandbox.Policy
	temp    string
	changed []string
}

func newSession(t *testing.T) *ofSession {
	t.Helper()
	if !confined() {
		t.Skip("no sandbox here")
	}
	base := realDir(t)
	s := &ofSession{t: t, temp: filepath.Join(base, "data", "scratch")}
	write(t, base, map[string]string{"work/file": "mine\n", "data/secret": "secret\n"})
	dir := filepath.Join(base, "work")
	s.policy = &sandbox.Policy{Writable: []string{dir}, Readable: []string{base}, Hidden: []string{filepath.Join(base, "data")}, Temp: s.temp}
	s.w = openWith(t, dir, workspace.Options{
		Sandbox: s.policy, Hidden: s.policy.Hidden, Outside: workspace.AskOutside, Checkpoints: contents.NewDir(filepath.Join(base, "kept"), contents.Options{}),
		Changed: func(_ context.Context, changes []workspace.Change) error {
			for _, c := range changes {
				s.changed = append(s.changed, c.Path)
			}
			return nil
		},
	})
	return s
}

// runs runs a line in the sandbox and returns its output.
func (s *ofSession) runs(line string) string {
	s.t.Helper()
	done, err := s.w.Run(s.t.Context(), workspace.Command{Line: line})
	if err != nil || done.Trouble != nil {
		s.t.Fatal(err, done.Trouble)
	}
	return strings.TrimSpace(done.Head + done.Tail)
}

// Commands, jobs and file tools of a session have one directory for temporary files, as /tmp and /var/tmp. Nothing of it is on record.
func TestTemporaryFilesOfASession(t *testing.T) {
	s := newSession(t)
	if got := s.runs(`echo "$TMPDIR"; echo x >/tmp/n && cat /var/tmp/n; mkdir /tmp/sub; ln -s n /tmp/to; ln -s /tmp/to /tmp/sub/to`); got != "/tmp\nx" {
		t.Errorf("got %q", got)
	}
	job := start(t, s.w, workspace.Command{Line: `cat /tmp/n; echo job >/tmp/job`})
	if status, err := job.Wait(t.Context()); err != nil || status.Head != "x\n" {
		t.Errorf("the job read %q, %v", status.Head, err)
	}
	for _, name := range []string{"/tmp/n", "/var/tmp/n", "/tmp/to", "/tmp/sub/to", "/tmp/sub/../n"} {
		if data, err := s.w.ReadFile(name, 100); err != nil || string(data) != "x\n" {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
	if at, err := s.w.Resolve("/tmp/sub/to"); err != nil || at != "/tmp/n" {
		t.Errorf("got %s, %v", at, err)
	}
	for _, name := range []string{"/tmp/made/by/tool", "/tmp/n"} {
		if err := s.w.WriteFile(t.Context(), name, []byte("tool\n"), nil); err != nil {
			t.Error(err)
		}
	}
	if err := s.w.Remove(t.Context(), "/tmp/job", nil); err != nil {
		t.Error(err)
	}
	if got := s.runs(`cat /tmp/made/by/tool /tmp/n; ls /tmp | grep job`); got != "tool\ntool" {
		t.Errorf("got %q", got)
	}
	var walked []string
	for e, err := range s.w.Walk(t.Context(), "/tmp/made", workspace.WalkOptions{}) {
		if walked = append(walked, e.Path); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(walked, []string{"/tmp/made/by", "/tmp/made/by/tool"}) {
		t.Errorf("the walk found %q", walked)
	}
	if len(s.changed) > 0 {
		t.Errorf("recorded %q", s.changed)
	}
	if _, err := os.Lstat("/tmp/made"); err == nil {
		t.Error("it is in the machine's /tmp")
	}
}

// A command runs a program that another one has built there.
func TestProgramsOfASession(t *testing.T) {
	s := newSession(t)
	s.runs(`printf '#!/bin/sh\necho ran\n' >/tmp/app; chmod +x /tmp/app`)
	if got := s.runs(`/tmp/app`); got != "ran" {
		t.Errorf("got %q", got)
	}
}

// Links that a command makes lead tools to the paths that they lead commands to, and never into the files of the session.
func TestLinksInTemporaryFiles(t *testing.T) {
	s := newSession(t)
	secret := filepath.Join(filepath.Dir(s.temp), "secret")
	s.runs(`ln -s ` + secret + ` /tmp/secret; ln -s ../secret /tmp/up; ln -s /etc/hostname /tmp/out; ln -s /tmp/n file2; echo x >/tmp/n`)
	_, err := s.w.ReadFile("/tmp/secret", 100)
	if _, ok := errors.AsType[*workspace.HiddenError](err); !ok {
		t.Errorf("a link to a hidden file: %v", err)
	}
	if at, err := s.w.Resolve("/tmp/up"); err != nil || at != "/secret" {
		t.Errorf("a link up leads to %s, %v", at, err)
	}
	_, err = s.w.ReadFile("/tmp/out", 100)
	if _, ok := errors.AsType[*workspace.OutsideError](err); !ok {
		t.Errorf("a link out: %v", err)
	}
	if data, err := s.w.ReadFile("file2", 100); err != nil || string(data) != "x\n" {
		t.Errorf("a link from the workspace: %q, %v", data, err)
	}
	if _, err := s.w.ReadFile(s.temp+"/n", 100); err == nil {
		t.Error("it can be read by its real name")
	}
	if got := s.runs(`cat ` + secret + ` ` + s.temp + `/n 2>&1 | grep -c 'No such\|Permission'`); got != "2" {
		t.Errorf("a command sees the real names: %s", got)
	}
}

// Without the sandbox, /tmp is that of the machine, for commands and tools.
func TestTemporaryFilesOutsideTheSandbox(t *testing.T) {
	s := newSession(t)
	s.runs(`echo x >/tmp/only-inside`)
	done, err := s.w.Run(t.Context(), workspace.Command{Line: `cat /tmp/only-inside`, Unconfined: true})
	if err != nil || done.ExitCode == 0 {
		t.Error(done, err)
	}
	s.w.Limit(workspace.Limits{})
	defer s.w.Permit([]string{"/tmp/only-inside"}, nil)()
	if _, err := s.w.ReadFile("/tmp/only-inside", 100); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	s.w.Limit(workspace.Limits{Sandbox: s.policy})
	if data, err := s.w.ReadFile("/tmp/only-inside", 100); err != nil || string(data) != "x\n" {
		t.Error(string(data), err)
	}
}

// A file in the /tmp of the machine is covered by that of the session.
func TestFilesOfTheMachineAreCovered(t *testing.T) {
	s := newSession(t)
	f, err := os.CreateTemp("/tmp", "tenon-test")
	if err != nil {
		t.Skip("no /tmp here")
	}
	t.Cleanup(func() { _ = errors.Join(f.Close(), os.Remove(f.Name())) })
	for name, want := range map[string]string{f.Name(): "/tmp", f.Name() + "-none": "", "file": "", "none": ""} {
		if got := s.w.Covered(name); got != want {
			t.Errorf("%s is covered by %q, want %q", name, got, want)
		}
	}
	if got := openWith(t, realDir(t), workspace.Options{Outside: workspace.AskOutside}).Covered(f.Name()); got != "" {
		t.Errorf("without a sandbox it is covered by %q", got)
	}
}
