package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

func TestTrustIsForOneFolder(t *testing.T) {
	s := NewTrustStore(filepath.Join(t.TempDir(), "made", "when needed"))
	top := t.TempDir()
	dir, below := filepath.Join(top, "project"), filepath.Join(top, "project", "below")
	mkdir(t, below)
	check := func(dir string, want bool) {
		t.Helper()
		if got, err := s.Trusted(dir); got != want || err != nil {
			t.Errorf("trusted %s: %v, %v", dir, got, err)
		}
	}
	check(dir, false)
	for range 2 {
		if err := s.Trust(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	check(dir, true)
	check(filepath.Join(below, ".."), true)
	check(below, false)
	check(top, false)
	check(filepath.Join(top, "missing"), false)

	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Time.IsZero() || time.Since(list[0].Time) > time.Hour {
		t.Errorf("the list is %v, %v", list, err)
	}
	if info, err := os.Stat(s.file()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	for range 2 {
		if err := s.Revoke(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	check(dir, false)
}

func TestTrustIsForTheFolderBehindALink(t *testing.T) {
	s, top := NewTrustStore(t.TempDir()), t.TempDir()
	dir, link := filepath.Join(top, "dir"), filepath.Join(top, "link")
	mkdir(t, dir)
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if err := s.Trust(t.Context(), link); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Trusted(dir); !ok || err != nil {
		t.Errorf("got %v, %v", ok, err)
	}
	other := filepath.Join(top, "other")
	mkdir(t, other)
	if err := errors.Join(os.Remove(link), os.Symlink(other, link)); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Trusted(link); ok || err != nil {
		t.Errorf("a link that leads elsewhere now is trusted: %v, %v", ok, err)
	}
}

func TestAFolderThatIsGoneCanBeRevoked(t *testing.T) {
	s, dir := NewTrustStore(t.TempDir()), filepath.Join(t.TempDir(), "dir")
	mkdir(t, dir)
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Trust(t.Context(), dir), os.Remove(dir), s.Revoke(t.Context(), resolved)); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(); len(list) != 0 || err != nil {
		t.Errorf("the list is %v, %v", list, err)
	}
}

func TestOnlyAFolderCanBeTrusted(t *testing.T) {
	s, dir := NewTrustStore(t.TempDir()), t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for _, name := range []string{"file", "missing"} {
		if err := s.Trust(t.Context(), filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is trusted", name)
		}
	}
}

func TestAListThatCannotBeBelievedIsAnError(t *testing.T) {
	h := newHome(t).project(`{"model": "a/x"}`)
	s := NewTrustStore(h.Dir)
	fails := func(want string) {
		t.Helper()
		_, err := Load(h.Options)
		for _, err := range []error{err, s.Trust(t.Context(), h.root), s.Revoke(t.Context(), h.root)} {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), s.file()) {
				t.Errorf("got %v", err)
			}
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(s.file(), 0o622); err != nil {
			t.Fatal(err)
		}
		fails("chmod 600")
	}
	if err := os.Remove(s.file()); err != nil {
		t.Fatal(err)
	}
	write(t, s.file(), "{")
	fails("damaged")
	if err := os.Remove(s.file()); err != nil {
		t.Fatal(err)
	}
	mkdir(t, s.file())
	fails("is a directory")
}

func TestADirectoryThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if err := NewTrustStore(filepath.Join(file, "below")).Trust(t.Context(), t.TempDir()); err == nil {
		t.Error("no error")
	}
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	lock := flock.New(filepath.Join(dir, "trust.lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewTrustStore(dir).Trust(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNoFolderIsLostWhenProcessesTrustAtOnce(t *testing.T) {
	const processes, each = 2, 25
	dir, top := t.TempDir(), t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	for p := range processes {
		var folders strings.Builder
		for i := range each {
			folder := filepath.Join(top, fmt.Sprintf("%d-%d", p, i))
			mkdir(t, folder)
			fmt.Fprintln(&folders, folder)
		}
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(os.Environ(), roleEnv+"="+dir)
		cmd.Stdin = strings.NewReader(folders.String())
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			ended <- err
		}()
	}
	for left := processes; left > 0; {
		select {
		case err := <-ended:
			left--
			if err != nil {
				t.Error(err)
			}
		default: // a reader sees a whole list at any time
			if _, err := NewTrustStore(dir).List(); err != nil {
				t.Errorf("while others write: %v", err)
			}
		}
	}
	list, err := NewTrustStore(dir).List()
	if err != nil || len(list) != processes*each {
		t.Errorf("%d folders are left, %v", len(list), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("files are left over: %v, %v", entries, err)
	}
}

func TestTheListIsForPeopleToRead(t *testing.T) {
	s, dir := NewTrustStore(t.TempDir()), t.TempDir()
	if err := s.Trust(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.file())
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Folders []map[string]any }
	if err := json.Unmarshal(data, &got); err != nil || len(got.Folders) != 1 || len(got.Folders[0]) != 2 {
		t.Errorf("the file is %s, %v", data, err)
	}
}

// A person can inspect the configuration of a project before they trust it, and can check a file anywhere.
func TestLookingWithoutTrust(t *testing.T) {
	dir, project := t.TempDir(), t.TempDir()
	file, other := filepath.Join(project, "tenon.json"), filepath.Join(dir, "other.json")
	for name, text := range map[string]string{file: `{"model": "offline/rules"}`, other: `{"max_tokens": 5}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Options{Dir: dir, File: other, WorkDir: project, Trusted: true})
	if err != nil || c.Model != "offline/rules" || c.ProjectFile != file || c.Inert != "" || c.UserFile != other || c.MaxTokens != 5 {
		t.Errorf("got %+v, %v", c, err)
	}
	if c, err = Load(Options{Dir: dir, WorkDir: project}); err != nil || c.Model != "" || c.Inert != file {
		t.Errorf("looking has trusted it: %+v, %v", c, err)
	}
}
