package team_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/team"
)

// TestKilledAtEveryPoint kills a process with an owner and five sub-agents in the background, with mail both ways: before and after every
// append to a journal. Then another process continues. A sample of the points runs by default. Whatever the point, no task is lost, none is
// settled twice, and no mail is lost or delivered twice.
func TestKilledAtEveryPoint(t *testing.T) {
	for _, kind := range []string{"background", "foreground"} {
		t.Run(kind, func(t *testing.T) { t.Parallel(); killed(t, crash{foreground: kind == "foreground"}, 23, 47) })
	}
}

// TestKilledWithWorktrees is TestKilledAtEveryPoint in the background, with four tasks in worktrees, of which one is a copy of another one. The
// process is also killed before and after the start of every git command that makes a worktree, and of every write in one. Whatever the point,
// each of these tasks has one worktree, which no other task has, with all work in it; no other worktree is left, and no half of one.
func TestKilledWithWorktrees(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "The beginning"}} {
		if err := os.WriteFile(filepath.Join(project, "file.txt"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	killed(t, crash{project: project}, 41, 97)
	cmd := exec.CommandContext(t.Context(), "git", "status", "--porcelain")
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the project changed: %s, %v", out, err)
	}
}

func killed(t *testing.T, c crash, step, raced int) {
	calm := c
	calm.dir = t.TempDir()
	points := calm.finish(t)
	calm.check(t)
	if points < 200 {
		t.Fatalf("the work has %d points to die at; at least 200 are wanted", points)
	}
	t.Logf("%d points", points)
	for at := range points {
		if !sample.Takes(at, step, raced) { // odd steps meet both sides of appends
			continue
		}
		t.Run(fmt.Sprint(at+1), func(t *testing.T) {
			t.Parallel()
			c := c
			c.dir = t.TempDir()
			c.process(t, at+1) // it may finish before: the order of the work varies
			c.finish(t)
			c.check(t)
		})
	}
}

// TestKilledAgainAndAgain kills every process that continues at a random point, until one reaches the end.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		if !sample.Takes(round, 5, 10) {
			continue
		}
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			c := crash{dir: t.TempDir(), foreground: round%2 == 1}
			for range 10 {
				if _, finished := c.process(t, 1+random.IntN(120)); finished {
					break
				}
			}
			c.finish(t)
			c.check(t)
		})
	}
}

// crash is a store that processes work on and die of.
type crash struct {
	dir        string
	foreground bool
	project    string // of which some tasks get a worktree; empty: none
}

// finish runs one process to its end and returns how many points it passed.
func (c crash) finish(t *testing.T) int {
	t.Helper()
	points, finished := c.process(t, 0)
	if !finished {
		t.Fatal("the process did not come to its end")
	}
	return points
}

func (c crash) process(t *testing.T, at int) (points int, finished bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a process that hangs fails the test
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), crashDir+"="+c.dir, crashTrees+"="+c.project, fmt.Sprintf("%s=%d", crashPoint, at))
	if c.foreground {
		cmd.Env = append(cmd.Env, crashWaits+"=true")
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failed := cmd.Run()
	if strings.Contains(stderr.String(), "is in use by another process") && ctx.Err() == nil {
		return c.process(t, at) // the process was killed while it forked: its child has its locks until it becomes git
	}
	if ctx.Err() != nil {
		t.Fatalf("the process hung: %s", stderr.String())
	}
	for l := range strings.Lines(stdout.String()) {
		if n, _ := fmt.Sscanf(l, "finished %d", &points); n == 1 {
			finished = true
		}
	}
	if failed != nil && stderr.Len() > 0 {
		t.Fatalf("the process failed: %s", stderr.String())
	}
	return points, finished
}

// check looks at all that a crash must not break.
func (c crash) check(t *testing.T) {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(c.dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var owner session.SessionID
	for _, s := range collect(t, store.List(t.Context(), index.Query{})) {
		owner = s.ID
	}
	journals := map[session.SessionID][]session.Event{}
	tasks := c.checkTeam(t, store, owner, names, journals).Tasks
	for _, one := range tasks {
		if one.Name == "e" {
			tasks = append(tasks, c.checkTeam(t, store, one.Session, []string{"f"}, journals).Tasks...)
		}
	}
	c.checkTrees(t, tasks, journals)
	for what, n := range settlements(journals) {
		if n != 1 {
			t.Errorf("attempt %s was settled %d times", what, n)
		}
	}
	for id, events := range journals {
		runs := 0
		for _, e := range events {
			switch e.Body.(type) {
			case session.RunStarted:
				runs++
			case session.RunEnded:
				runs--
			}
			if runs < 0 || runs > 1 {
				t.Errorf("session %s, entry %d: runs overlap", id, e.Seq)
			}
		}
		if runs != 0 && id == owner { // a sub-agent that had completed is not opened again: the next one to open it ends its run
			t.Errorf("session %s has a run without an end", id)
		}
	}
	if t.Failed() {
		for id := range journals {
			messages, _ := view.Messages(context.Background(), view.Stored(store, id, ""))
			t.Logf("session %s, %d messages:\n%s", id, len(messages), conversation(messages))
		}
	}
}

// checkTrees compares the worktrees on disk with the tasks and with what the sub-agents did in them.
func (c crash) checkTrees(t *testing.T, tasks []*team.Task, journals map[session.SessionID][]session.Event) {
	t.Helper()
	trees, made := treesOf(c.dir), map[string]bool{}
	for _, one := range tasks {
		if own := c.project != "" && slices.Contains(copied, one.Name); own != (one.Worktree != "") || own != one.TaskCreated.Worktree {
			t.Errorf("%s has the worktree %q", one.Name, one.Worktree)
		}
		if one.Worktree == "" {
			continue
		}
		if made[one.Worktree] {
			t.Errorf("%s shares the worktree %s", one.Name, one.Worktree)
		}
		made[one.Worktree] = true
		w, err := trees.Open(one.Worktree)
		if err != nil {
			t.Errorf("the worktree of %s: %v", one.Name, err)
			continue
		}
		if created, _ := journals[one.Session][0].Body.(session.Created); one.Dir != w.Dir() || created.Dir != w.Dir() || journals[session.SessionID(w.Owner)] == nil {
			t.Errorf("%s works in %s and began in %s; its worktree is %s, of %s", one.Name, one.Dir, created.Dir, w.Dir(), w.Owner)
		}
		var want, got []string // the copy has the work of the sub-agent, and nothing else
		for i := range one.Reports {
			want = append(want, fmt.Sprintf("%s%d.txt", one.Name, i))
		}
		changes, err := w.Changes(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, change := range changes {
			got = append(got, change.Path)
			if text, err := os.ReadFile(filepath.Join(w.Dir(), change.Path)); string(text) != "by "+one.Name {
				t.Errorf("%s has %q, %v", change.Path, text, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the worktree of %s has %q, want %q", one.Name, got, want)
		}
	}
	for _, dir := range []string{trees.Private, trees.Files} {
		entries, err := os.ReadDir(dir)
		if err != nil && c.project != "" {
			t.Error(err)
		}
		for _, e := range entries {
			if !made[e.Name()] {
				t.Errorf("%s is left in %s", e.Name(), dir)
			}
		}
	}
}

// settlements counts the settlements of each attempt.
func settlements(journals map[session.SessionID][]session.Event) map[string]int {
	all := map[string]int{}
	for _, events := range journals {
		for _, e := range events {
			if b, ok := e.Body.(session.TaskSettled); ok {
				all[fmt.Sprintf("%s.%d", b.Task, b.Attempt)]++
			}
		}
	}
	return all
}

// checkTeam checks the tasks of an owner and their mail, and reads the journals.
func (c crash) checkTeam(t *testing.T, store index.Store, owner session.SessionID, names []string, journals map[session.SessionID][]session.Event) *team.State {
	t.Helper()
	if n := len(collect(t, store.List(t.Context(), index.Query{Parent: owner}))); n != len(names) {
		t.Errorf("there are %d sessions of sub-agents, want %d", n, len(names))
	}
	s, err := team.Read(t.Context(), store, owner)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]int{}
	journals[owner] = collect(t, store.Read(t.Context(), owner, 0))
	for _, one := range s.Tasks {
		given[one.Name]++
		if one.Status() != team.StatusCompleted {
			t.Errorf("the task of %s is %s: %+v", one.Name, one.Status(), one.Reports)
		}
		if one.Session != "" {
			journals[one.Session] = collect(t, store.Read(t.Context(), one.Session, 0))
		}
	}
	for _, name := range names {
		if given[name] != 1 {
			t.Errorf("%s was given %d times", name, given[name])
		}
	}
	c.checkMail(t, owner, s, journals)
	return s
}

// arrival is how often a draft was added, entered the conversation and was removed.
type arrival struct{ added, came, removed int }

// arrivals are the drafts of a session.
func arrivals(events []session.Event) map[session.ID]arrival {
	drafts := map[session.ID]arrival{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.Queued:
			a := drafts[b.Draft]
			switch b.Change {
			case "added":
				a.added++
			case "removed":
				a.removed++
			}
			drafts[b.Draft] = a
		case session.Message:
			a := drafts[b.Draft]
			a.came++
			drafts[b.Draft] = a
		}
	}
	return drafts
}

// checkMail checks that every prompt, message and report came once.
func (c crash) checkMail(t *testing.T, owner session.SessionID, s *team.State, journals map[session.SessionID][]session.Event) {
	t.Helper()
	delivered := func(to session.SessionID, draft session.ID, what string) {
		if a := arrivals(journals[to])[draft]; a.added != 1 || a.came+a.removed != 1 {
			t.Errorf("%s %s in session %s: %+v", what, draft, to, a)
		}
	}
	for _, one := range s.Tasks {
		delivered(one.Session, one.Task, "the prompt")
		for attempt := range one.Reports {
			delivered(owner, session.ID(fmt.Sprintf("%s.%d", one.Task, attempt+1)), "the report")
			shown := 0
			for _, e := range journals[owner] {
				if m, ok := e.Body.(session.Message); ok {
					shown += strings.Count(m.Text(), fmt.Sprintf("Report about task %s (%s), attempt %d:", one.Task, one.Name, attempt+1))
				}
			}
			if shown != 1 {
				t.Errorf("the report of %s, attempt %d, is shown %d times", one.Name, attempt+1, shown)
			}
		}
		instructions, texts := 0, map[string]int{}
		for _, m := range one.Mail {
			if texts[m.Text]++; texts[m.Text] > 1 {
				t.Errorf("%s: %q was sent twice", one.Name, m.Text)
			}
			if m.Type == session.MailInstruction {
				instructions++
				delivered(one.Session, m.Mail, "instruction "+m.Text)
			} else {
				delivered(owner, m.Mail, string(m.Type)+" "+m.Text)
			}
		}
		if want := map[bool]int{true: 0, false: 1}[one.Name == "f"]; instructions != want {
			t.Errorf("%s got %d instructions", one.Name, instructions)
		}
	}
}

func conversation(messages []session.Event) string {
	var b strings.Builder
	for _, e := range messages {
		m := e.Body.(session.Message)
		fmt.Fprintf(&b, "%s %s %s %q", m.Author().Kind, m.Tool, m.Outcome, m.Text())
		for _, c := range m.Calls() {
			fmt.Fprintf(&b, " %s%s", c.Name, c.Arguments)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func collect[T any](t testing.TB, all iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for one, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}
