package state_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/state"
)

// writerName is the name under which the test binary is a process that adds facts until someone kills it.
const writerName = "state-writer"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == writerName {
		for i := 0; ; i++ {
			set(os.Args[1], fmt.Sprintf("%s %d", os.Args[2], i), time.Hour)
			fmt.Println(i)
		}
	}
	os.Exit(m.Run())
}

func set(dir, name string, d time.Duration) {
	now := time.Now()
	state.In(dir).Set(name, state.Fact{At: now, Until: now.Add(d), Text: "text of " + name})
}

func has(t *testing.T, dir, name string, want bool) {
	t.Helper()
	if f, ok := state.In(dir).Facts()[name]; ok != want || ok && f.Text != "text of "+name {
		t.Errorf("%s: there %v, %+v", name, ok, f)
	}
}

// A fact lasts until it expires, or until someone deletes it.
func TestFactsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		set(dir, "short", time.Minute)
		set(dir, "long", time.Hour)
		has(t, dir, "short", true)
		time.Sleep(time.Minute)
		has(t, dir, "short", false)
		has(t, dir, "long", true)
		set(dir, "other", time.Hour)
		state.In(dir).Forget("lo")
		has(t, dir, "long", false)
		has(t, dir, "other", true)
	})
}

// A clock that was wrong lets no fact last longer than it was meant to, and never longer than a day.
func TestWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		now := time.Now()
		state.In(dir).Set("endless", state.Fact{At: now, Until: now.AddDate(900, 0, 0)})
		state.In(dir).Set("both", state.Fact{At: now.AddDate(900, 0, 0), Until: now.AddDate(1900, 0, 0)})
		state.In(dir).Set("ahead", state.Fact{At: now.AddDate(9, 0, 0), Until: now.AddDate(9, 0, 0).Add(time.Minute)})
		got := state.In(dir).Facts()
		if d := got["ahead"].Until.Sub(now); d != time.Minute {
			t.Errorf("it lasts %v", d)
		}
		if a, b := got["endless"].Until.Sub(now), got["both"].Until.Sub(now); a != state.Longest || b != state.Longest {
			t.Errorf("they last %v, %v", a, b)
		}
	})
}

// The deletion of a fact that does not exist touches no file.
func TestNoWriteWithoutChange(t *testing.T) {
	dir := t.TempDir()
	state.In(dir).Set("none", state.Fact{})
	state.In(dir).Forget("no")
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// Writers side by side lose no fact of each other.
func TestWritersSideBySide(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { set(dir, fmt.Sprint(i), time.Hour) })
	}
	all.Wait()
	for i := range 20 {
		has(t, dir, fmt.Sprint(i), true)
	}
}

// A process that is killed while it writes loses at most the fact that it writes.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		set(dir, fmt.Sprint("mine ", round), time.Hour)
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Args = []string{writerName, dir, fmt.Sprint("writer", round)}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + round*3 {
			lines.Scan()
		}
		last := lines.Text() // this fact was written before the process was killed
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("the process was not killed")
		}
		for i := range round + 1 {
			has(t, dir, fmt.Sprint("mine ", i), true)
		}
		has(t, dir, fmt.Sprintf("writer%d %s", round, last), true)
	}
}

// A file that is missing, damaged, or no file at all is an empty state, and no error.
func TestUnusableFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"no directory":     func(path string) error { return os.Remove(filepath.Dir(path)) },
		"empty":            func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"null":             func(path string) error { return os.WriteFile(path, []byte("null"), 0o600) },
		"cut":              func(path string) error { return os.WriteFile(path, []byte(`{"a": {"at": "2026-`), 0o600) },
		"another form":     func(path string) error { return os.WriteFile(path, []byte(`[1, 2]`), 0o600) },
		"too large":        func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte{' '}, 2<<20), 0o600) },
		"a directory":      func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
		"not readable":     func(path string) error { return os.WriteFile(path, []byte("{}"), 0) },
		"a lock directory": func(path string) error { return os.Mkdir(path+".lock", 0o700) },
		"a read-only directory": func(path string) error {
			return os.Chmod(filepath.Dir(path), 0o500)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := make(filepath.Join(dir, "state.json")); err != nil {
				t.Fatal(err)
			}
			if n := len(state.In(dir).Facts()); n != 0 {
				t.Errorf("%d facts", n)
			}
			set(dir, "one", time.Hour) // may be lost
			if facts := state.In(dir).Facts(); len(facts) > 1 {
				t.Errorf("facts %v", facts)
			}
			if err := os.Chmod(dir, 0o700); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		})
	}
	if n := len(state.File{}.Facts()); n != 0 {
		t.Errorf("without a directory there are %d facts", n)
	}
}

// Others cannot read the file.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	set(dir, "one", time.Hour)
	info, err := os.Stat(filepath.Join(dir, "state.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// Whatever the file contains, reading and changing it works, and no fact lasts longer than a day.
func FuzzFacts(f *testing.F) {
	f.Add([]byte(`{"rest p k m": {"at": "2026-01-01T00:00:00Z", "until": "2126-01-01T00:00:00Z", "text": "quota"}}`))
	f.Add([]byte(`{"a": null, "b": {"at": "9999-12-31T23:59:59Z", "until": "9999-12-31T23:59:59.999Z", "count": -1}}`))
	f.Add([]byte(`{"a": {"until": "0000-01-01T00:00:00+23:59"}}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "state.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, fact := range state.In(dir).Facts() {
			if d := time.Until(fact.Until); d > state.Longest {
				t.Errorf("%q lasts %v", name, d)
			}
		}
		set(dir, "mine", time.Hour)
		if !strings.Contains(fmt.Sprint(state.In(dir).Facts()), "text of mine") {
			t.Error("the new fact is not there")
		}
	})
}
