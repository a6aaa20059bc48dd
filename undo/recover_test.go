//go:build unix

package undo_test

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// many changes two dozen files in every way there is.
const (
	manyBefore = `mkdir -p a/b gone/deep; for i in 1 2 3 4 5 6 7 8; do echo $i >a/f$i; echo $i >a/b/g$i; echo $i >gone/deep/h$i; done
		ln -s a link; printf '\000\001' >binary; echo '*.log' >.gitignore; echo ignored >x.log; chmod 600 a/f8`
	many = `echo x >>a/f1; echo x >>a/f2; sed -i s/3/three/ a/f3; rm a/f4 a/f5; mv a/f6 a/moved; chmod 755 a/f7; mv a/b c
		rm -r gone; mkdir -p new/deep; for i in 1 2 3 4; do echo $i >new/deep/n$i; done; rm link; ln -s new link; printf '\002' >binary
		rm a/f8; mkdir a/f8; printf '' >.gitignore; echo more >x.log; echo y >y.log`
)

// killUnder lets another process run a command, beside a job if there is one, and kills it when the command has made the file ready
// beside the project; when it is to be known that the process lived after the changes, a little later.
func (b *bench) killUnder(line string, later bool, job ...string) {
	b.t.Helper()
	id := b.writer.Session()
	b.close()
	ready := filepath.Join(b.base, "ready")
	cmd := b.child(id, "work", line, job...)
	b.must(cmd.Start())
	// The sign of life has a time of its own, which can be long before the write of it that the file system notes. The next one is after that.
	var sign time.Time
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		if made, err := os.Stat(ready); err == nil {
			last := b.alive()
			if !later || !sign.IsZero() && last.After(sign) {
				break
			}
			if sign.IsZero() && last.Sub(made.ModTime()) > 50*time.Millisecond {
				sign = last
			}
		}
		if time.Now().After(deadline) {
			b.t.Fatal("the command does not come to its point")
		}
	}
	b.must(cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		b.t.Fatal("it was not killed")
	}
	b.must(os.Remove(ready))
	b.open(id)
}

// left is a file of what the dead process left.
func (b *bench) left(name string) string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.base, "baselines", "*", name))
	if err != nil || len(found) != 1 {
		b.t.Fatal(found, err)
	}
	return found[0]
}

// alive is the last sign of life in the logs of commands.
func (b *bench) alive() (last time.Time) {
	logs, _ := filepath.Glob(filepath.Join(b.base, "baselines", "*", "log"))
	for _, name := range logs {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// recover takes down what was found, and returns the entries of that.
func (b *bench) recover() (found []session.Event) {
	b.t.Helper()
	b.must(undo.Recover(b.t.Context(), b.store, b.writer, b.shared.Baselines, b.kept))
	for e, err := range b.store.Read(b.t.Context(), b.writer.Session(), 0, session.FilesChanged{}.Kind()) {
		b.must(err)
		if c, ok := e.Body.(session.FilesChanged); ok && c.Found {
			found = append(found, e)
		}
	}
	return found
}

func TestKilledUnderACommand(t *testing.T) {
	b := newBench(t)
	b.byHand(manyBefore)
	before := b.tree()
	b.killUnder(many+"; touch ../ready; sleep 1000", true)
	after := b.tree()
	found := b.recover()
	if len(found) != 1 {
		t.Fatalf("found %d times", len(found))
	}
	c := found[0].Body.(session.FilesChanged)
	if c.Call != "killed" || c.Cause != session.ByCommand || found[0].Run == "" || c.Note != "" || len(c.Files) < 30 {
		t.Errorf("found %d files: %+v", len(c.Files), c)
	}
	for _, f := range c.Files {
		if f.Unsure != "" || f.Before != nil && f.Before.Lost != "" {
			t.Errorf("%s: %+v", f.Path, f)
		}
	}
	if again := b.recover(); len(again) != 1 {
		t.Errorf("found again: %+v", again)
	}
	if diffs, err := b.history().Diff(b.t.Context(), "", b.kept); err != nil || len(diffs) != len(c.Files) {
		t.Errorf("%d differences of %d files, %v", len(diffs), len(c.Files), err)
	}
	for range 2 {
		if _, err := b.undo("", undo.Both, false); err != nil {
			t.Fatal(err)
		}
		trees.Same(t, like(b.tree()), like(maps.Clone(before)))
		if got := b.said(); got != "" {
			t.Errorf("said %q", got)
		}
		if _, err := b.redo(); err != nil {
			t.Fatal(err)
		}
		trees.Same(t, like(b.tree()), like(maps.Clone(after)))
	}
}

// What others change when nobody watches is not overwritten without force, wherever it is, and what the command did is taken back.
func TestOthersChangeAfterTheKill(t *testing.T) {
	b := newBench(t)
	b.byHand("mkdir -p d/e keep old; for i in 1 2 3 4 5 6; do echo $i >f$i; echo $i >d/g$i; echo $i >keep/h$i; done; echo o >old/o; echo 1 >d/e/x")
	before := b.tree()
	b.killUnder("for i in 1 2 3; do echo c >>f$i; echo c >>d/g$i; rm keep/h$i; done; mkdir made; echo c >made/c; echo c >>old/o; touch ../ready; sleep 1000", true)
	b.byHand(`echo person >>f1; echo person >f6; rm d/g6; echo person >theirs; mkdir mine; echo person >made/mine
		cp -a d/e d2; rm -r d/e; mkdir tmp; echo 1 >tmp/other; mv old older; mv tmp old`)
	after := b.tree()
	if found := b.recover(); len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	p, err := b.undo("", undo.Files, false)
	if err != nil {
		t.Fatal(err)
	}
	sure := map[string]bool{}
	for _, f := range p.Files {
		if !f.Unsure {
			sure[p.Rel(f.Path)] = true
		}
	}
	want := map[string]bool{
		"f2": true, "f3": true, "d/g1": true, "d/g2": true, "d/g3": true, "keep/h1": true, "keep/h2": true, "keep/h3": true,
	}
	if !maps.Equal(sure, want) {
		t.Errorf("taken back without force: %v\nwant %v", sure, want)
	}
	got := b.tree()
	for name := range want {
		if got[name] != before[name] {
			t.Errorf("%s is %q, want %q", name, got[name], before[name])
		}
		delete(got, name)
		delete(after, name)
	}
	trees.Same(t, got, after)
	if _, err := b.redo(); err != nil {
		t.Fatal(err)
	}
	if _, err = b.undo("", undo.Files, true); err != nil {
		t.Fatal(err)
	}
	trees.Same(t, b.tree(), before)
}

// However early the kill: by force all comes back, and what was not known to be the command's stays without.
func TestKilledAtOnce(t *testing.T) {
	for range 3 {
		b := newBench(t)
		b.byHand(manyBefore)
		before := b.tree()
		b.killUnder("touch ../ready; "+many, false)
		b.recover()
		if _, err := b.undo("", undo.Files, true); err != nil && !isNothing(err) {
			t.Fatal(err)
		}
		trees.Same(t, like(b.tree()), like(before))
	}
}

// A job, a tool beside it and a command: what the journal has already is not told again.
func TestKilledUnderSeveral(t *testing.T) {
	b := newBench(t)
	b.byHand("echo 1 >job; echo 1 >command")
	before := b.tree()
	b.killUnder("echo 2 >>command; touch ../ready; sleep 1000", true, "echo 2 >>job; echo ready; sleep 1000")
	found := b.recover()
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	for _, f := range found[0].Body.(session.FilesChanged).Files {
		if filepath.Base(f.Path) != "command" {
			t.Errorf("told again: %+v", f)
		}
	}
	if _, err := b.undo("", undo.Files, false); err != nil {
		t.Fatal(err)
	}
	trees.Same(t, b.tree(), before)
}

// A journal that cannot be written, or a process that is killed in the midst of it: it happens again, once.
func TestKilledInTheRecovery(t *testing.T) {
	b := newBench(t)
	b.byHand(manyBefore)
	before := b.tree()
	b.killUnder(many+"; touch ../ready; sleep 1000", true)
	after := b.tree()
	id := b.writer.Session()
	b.close()
	for n := 1; ; n++ {
		err := b.child(id, "recover", strconv.Itoa(n)).Run()
		b.open(id)
		trees.Same(t, b.tree(), after)
		b.close()
		if err == nil {
			if n < 4 {
				t.Errorf("it was killed only %d times", n-1)
			}
			break
		}
	}
	b.open(id)
	named := map[string]int{}
	for _, e := range b.recover() {
		for _, f := range e.Body.(session.FilesChanged).Files {
			if named[f.Path]++; named[f.Path] > 1 {
				t.Errorf("%s was told twice", f.Path)
			}
		}
	}
	if _, err := b.undo("", undo.Both, false); err != nil {
		t.Fatal(err)
	}
	trees.Same(t, like(b.tree()), like(before))
}

// What was taken down and is damaged, or not there, is told.
func TestDamagedBaseline(t *testing.T) {
	b := newBench(t)
	b.byHand("echo 1 >f")
	b.killUnder("echo 2 >>f; touch ../ready; sleep 1000", true)
	b.must(os.Truncate(b.left("log"), 30))
	found := b.recover()
	if len(found) != 1 || !strings.Contains(found[0].Body.(session.FilesChanged).Note, "damaged") {
		t.Fatalf("%+v", found)
	}
	p, err := b.history().Undo("", undo.Both)
	if err != nil || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "damaged") {
		t.Errorf("%+v, %v", p, err)
	}
	if len(b.recover()) != 1 {
		t.Error("found again")
	}
}

// Contents that are gone are told, as others that could not be kept.
func TestLostContentAfterTheKill(t *testing.T) {
	b := newBench(t)
	b.byHand("echo 1 >f")
	b.killUnder("echo 2 >>f; touch ../ready; sleep 1000", true)
	b.must(os.Truncate(b.left("contents"), 0))
	b.recover()
	p, err := b.history().Undo("", undo.Both)
	b.must(err)
	if len(p.Files) != 1 || !p.Files[0].Lost || !strings.Contains(p.Files[0].Problem, "not kept") {
		t.Errorf("%+v", p.Files)
	}
}

// A run that goes on with what was interrupted is one with it: an undo takes back all that came of the prompt, what was found too.
func TestUndoOfARunThatWentOn(t *testing.T) {
	for _, scope := range []undo.Scope{undo.Both, undo.Files, undo.Conversation} {
		b := newBench(t)
		b.write("before")
		b.killUnder("echo 1 >killed; touch ../ready; sleep 1000", true)
		b.recover()
		var on session.Event
		for _, text := range []string{"", "went on"} { // the second time, too, it goes on
			b.run = session.NewID()
			on = b.append(session.RunStarted{Run: b.run, Continues: session.ContinuesDefault})
			if text != "" {
				b.apply(workspace.Edit{Path: "f", Data: []byte(text)})
			}
			b.end()
		}
		after := b.tree()
		p, err := b.undo("", scope, false)
		b.must(err)
		if p.Title != "work" || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "--to "+string(on.ID)) {
			t.Errorf("scope %d: %q, %q", scope, p.Title, p.Notes)
		}
		said, file, killed := "before", "before", false
		switch scope {
		case undo.Files:
			said = "before work"
		case undo.Conversation:
			file, killed = "went on", true
		}
		b.is(said, file)
		if _, there := b.tree()["killed"]; there != killed {
			t.Errorf("scope %d: what the killed command made is there: %v", scope, there)
		}
		if _, err := b.redo(); err != nil {
			t.Fatal(err)
		}
		trees.Same(t, b.tree(), after)
		b.is("before work", "went on")
		if _, err := b.undo(string(on.ID), undo.Both, false); err != nil {
			t.Fatal(err)
		}
		b.is("before work", "before")
		if _, there := b.tree()["killed"]; !there {
			t.Error("with the entry, the rest is taken back too")
		}
	}
}
