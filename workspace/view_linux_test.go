package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
)

// While a job runs, a program outside replaces the settings of git, which uncovers what lies under a mount, and asks git for the status. The
// job writes all that makes git run a program. Git runs it neither then nor later.
func TestGitRunsNothingWhileAJobRuns(t *testing.T) {
	const settings = `printf '[core]\n\tbare = false\n\trepositoryformatversion = 0\n\tfsmonitor = %s\n' "$BAD"`
	for name, script := range map[string]string{
		"settings":         settings + ` >>.git/config`,
		"common":           `mkdir -p ev && cp -r .git/refs .git/objects ev && ` + settings + ` >ev/config && echo ../ev >.git/commondir`,
		"of a worktree":    `git config extensions.worktreeConfig true; ` + settings + ` >.git/config.worktree`,
		"hooks":            `mkdir -p .git/hooks; for h in post-checkout pre-commit post-index-change; do printf '#!/bin/sh\n%s\n' "$BAD" >.git/hooks/$h; chmod 755 .git/hooks/$h; done`,
		"attributes":       `mkdir -p .git/info; echo '* filter=x' >.git/info/attributes; git config filter.x.clean "$BAD"`,
		"nested":           settings + ` >>nested/.git/config; mkdir -p nested/.git/hooks; printf '#!/bin/sh\n%s\n' "$BAD" >nested/.git/hooks/pre-commit; chmod 755 nested/.git/hooks/pre-commit`,
		"settings removed": `rm -f .git/config; mv .git .g; mkdir -p .git; ` + settings + ` >.git/config`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, true, "git init -q nested && cd nested && echo x >x && git add x && git commit -qm x")
			p.inside("true") // the first look finds the nested one
			up := make(chan bool)
			job := start(t, p.w, workspace.Command{
				Line: `unset GIT_CONFIG_COUNT; echo ready; until [ -e replaced ]; do :; done; (` + script + `) 2>&1; echo up; sleep 1000`, Env: p.vars(),
				Report: func(text []byte) {
					if strings.Contains(string(text), "up\n") {
						close(up)
					}
				},
			})
			if out, err := p.outside(".", "git config branch.main.z y && (cd nested && git config branch.main.z y) && touch replaced"); err != nil {
				t.Fatal(err, out)
			}
			<-up
			p.safe("nested")
			if _, err := job.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.safe("nested")
			if out, err := p.outside(".", "git config branch.main.z"); err != nil || out != "y\n" {
				t.Errorf("the person's setting is %q, %v", out, err)
			}
		})
	}
}

// What commands do with git works, and comes back: commits, branches, a rebase over several commands, and the state of a merge.
func TestGitWorksInAView(t *testing.T) {
	p := newProject(t, true)
	for _, script := range []string{
		`git checkout -qb topic; echo topic >file; git commit -qam topic; git tag v1; git stash list`,
		`git checkout -q main; echo main >file; git commit -qam main; git notes add -m note; git gc -q`,
		`git checkout -q topic; git rebase main && exit 1; git status | grep -q 'rebase in progress'`,
		`echo both >file; git add file; GIT_EDITOR=true git rebase --continue; ! test -d .git/rebase-merge; git log --format=%s | head -1 | grep -q topic`,
		`git checkout -q main; git merge -q --no-ff -m merged topic; git branch -d topic; git worktree list; git fsck --no-dangling`,
		`echo more >more; git add more; mkdir -p .git/info; echo junk >>.git/info/exclude`,
		`git status --porcelain | grep -q 'A  more'; git commit -qm more; git reset -q --soft HEAD~1; git cherry-pick --no-commit v1 || true; git merge --abort || git reset -q --hard`,
	} {
		if text := p.inside(script); text != "" {
			t.Errorf("%s: %s", script, text)
		}
		if _, err := os.Lstat(filepath.Join(p.dir, ".git/rebase-merge")); strings.Contains(script, "--continue") && err == nil {
			t.Error("the rebase has not ended outside")
		}
	}
	out, err := p.outside(".", `git log --format=%s -1 main; git status --porcelain; git fsck --no-dangling; cat .git/info/exclude | tail -1; ls .git | grep -c lock; git notes list | wc -l`)
	if err != nil || out != "merged\njunk\n0\n1\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// A packed reference cannot bring back any other file of the git directory, and a cherry-pick with a program as its strategy stays behind.
func TestNamesThatLeadOutOfTheReferences(t *testing.T) {
	p := newProject(t, true)
	p.inside(`h=$(git rev-parse HEAD); git pack-refs --all; printf '%s refs/%s\n' $h ../commondir $h heads/more >>.git/packed-refs`)
	if out, err := p.outside(".", "git rev-parse -q more >/dev/null && ls .git/commondir"); !strings.Contains(out, "No such file") {
		t.Error(out, err)
	}
}

func TestAStrategyThatIsAProgram(t *testing.T) {
	p := newProject(t, true)
	text := p.inside(`git checkout -q -b o; echo o >file; git commit -qam o; git checkout -q main; echo m >file; git commit -qam m
		! git cherry-pick o main~1 2>&1; git config -f .git/sequencer/opts options.strategy x/evil
		mkdir git-merge-x; printf '#!/bin/sh\n%s\n' "$BAD" >git-merge-x/evil; chmod +x git-merge-x/evil`)
	out, _ := p.outside(".", "git checkout -f -q; git cherry-pick --continue")
	if _, err := os.Lstat(p.marker); err == nil || !strings.Contains(text, "sequencer/opts") {
		t.Errorf("%v, reported %s\n%s", err, text, out)
	}
}

// With a commit, git copies the files that MERGE_RR names to rr-cache, where the next command would read them.
func TestGitCopiesNoSecretsForCommands(t *testing.T) {
	const script = `id=7777777777777777777777777777777777777777; mkdir -p .git/rr-cache/$id; echo x >.git/rr-cache/$id/preimage; ln -s ../../home/secret link
		[ -e ../../home ] || ln -sf ../home/secret link; printf '%s\tlink\0' $id >.git/MERGE_RR`
	for place, script := range map[string]string{".": script, "sub": "git init -q sub; cd sub; git commit -q --allow-empty -m x\n" + script} {
		p := newProject(t, true)
		write(t, p.home, map[string]string{"secret": "secret"})
		p.inside(script)
		out, _ := p.outside(place, "echo more >more; git add more; git commit -qm more; grep -r secret .git/rr-cache")
		if strings.Contains(out, "postimage:secret") {
			t.Errorf("in %s git copied a secret: %s", place, out)
		}
	}
}

// A list of steps that runs programs stays behind, and so does an index that a person changed meanwhile.
func TestWhatDoesNotComeBackFromAView(t *testing.T) {
	p := newProject(t, true, `git commit -q --allow-empty -m second`)
	text := p.inside(`GIT_SEQUENCE_EDITOR="sed -i '1i break'" git rebase -i HEAD~1; echo "exec $BAD" >>.git/rebase-merge/git-rebase-todo; echo a >.git/strange; ln -s / .git/FETCH_HEAD`)
	for _, want := range []string{".git/rebase-merge/git-rebase-todo:", ".git/strange:", ".git/FETCH_HEAD:"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not reported: %s", want, text)
		}
	}
	if out, _ := p.outside(".", "git rebase --continue; git checkout -q main"); strings.Contains(out, "exec") {
		t.Error(out)
	}
	p.safe()
	job := p.job(`echo theirs >theirs; git add theirs`)
	if out, err := p.outside(".", "git checkout -q main; echo mine >mine; git add mine"); err != nil {
		t.Fatal(err, out)
	}
	status, err := job.Kill(t.Context())
	if err != nil || status.Trouble == nil || !strings.Contains(status.Trouble.Error(), "a program outside changed it, too") {
		t.Errorf("%v, %v", err, status.Trouble)
	}
	if out, err := p.outside(".", "git diff --cached --name-only"); err != nil || out != "mine\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// Git writes every path of an index when a person discards changes, also one in .git or outside the worktree. No such index stays.
func TestAnIndexWithPathsThatAreNotInTheWorktree(t *testing.T) {
	const hook = `mkdir -p Xgit/hooks; printf '#!/bin/sh\n%s\n' "$BAD" >Xgit/hooks/post-checkout; chmod +x Xgit/hooks/*; git add Xgit; rm -r Xgit`
	for name, c := range map[string]struct{ script, place, kept string }{
		"in .git":         {hook + `; sed -i s/Xgit/.git/g .git/index`, ".", ".git/index"},
		"version 4":       {hook + `; git update-index --index-version 4; sed -i s/Xgit/.git/g .git/index`, ".", ".git/index"},
		"outside":         {`mkdir -p xx; echo evil >xx/marker; git add xx; rm -r xx; sed -i s:xx/:../:g .git/index`, ".", ".git/index"},
		"of a worktree":   {`git worktree add -q w; cd w; mkdir -p xx/xx; echo evil >xx/xx/marker; git add xx; rm -r xx; sed -i s:xx/xx/:../../:g ../.git/worktrees/w/index`, "w", ".git/worktrees/w"},
		"of a repository": {`git init -q sub; cd sub; git commit -q --allow-empty -m x; ` + hook + `; sed -i s/Xgit/.git/g .git/index`, "sub", "sub/.git"},
		"of two parts":    {hook + `; git update-index --split-index; sed -i s/Xgit/.git/g .git/sharedindex.*`, ".", ".git/sharedindex."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, true)
			if text := p.inside(c.script); !strings.Contains(text, c.kept) {
				t.Errorf("%s is not reported: %s", c.kept, text)
			}
			out, _ := p.outside(c.place, "git checkout .; git checkout -q -b other")
			if _, err := os.Lstat(p.marker); err == nil {
				t.Error("git wrote it: ", out)
			}
		})
	}
}

// Outside, git status writes the index again when times of files have changed. That takes nothing away from a command, and the same in a job
// nothing from a person.
func TestAnIndexWithOtherTimes(t *testing.T) {
	p := newProject(t, true)
	job := p.job(`echo job >job; git add job; git commit -qm job`)
	if out, err := p.outside(".", "touch -d 2001-01-01 file; git status"); err != nil {
		t.Fatal(err, out)
	}
	if status, err := job.Kill(t.Context()); err != nil || status.Trouble != nil {
		t.Errorf("%v, %v", err, status.Trouble)
	}
	job = p.job(`touch -d 2002-01-01 file; git status`)
	if out, err := p.outside(".", "echo mine >mine; git add mine"); err != nil {
		t.Fatal(err, out)
	}
	if status, err := job.Kill(t.Context()); err != nil || status.Trouble != nil {
		t.Errorf("%v, %v", err, status.Trouble)
	}
	if out, err := p.outside(".", "git status --porcelain; git log --format=%s -1"); err != nil || out != "A  mine\njob\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// No command loses a reference that it packed, also if Tenon is killed, and one that it deleted is deleted. What a person does with packed ones
// meanwhile stays.
func TestPackedReferences(t *testing.T) {
	const list = "git for-each-ref --format='%(refname:short)' | tr '\\n' ' '; git fsck --no-dangling --no-progress; git cat-file -t first"
	for name, before := range map[string]string{"some packed before": "git tag gone; git tag -am x first; git tag old; git pack-refs --all; git tag v1", "none packed": "git tag gone; git tag -am x first; git tag old; git tag v1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, true, before)
			first, err := p.outside(".", "git rev-parse main")
			if err != nil {
				t.Fatal(first)
			}
			job := p.job(`git tag -d gone; git gc -q; git pack-refs --all; git tag v2; git pack-refs --all; git tag v3; test $(git tag | wc -l) = 5`)
			if out, err := p.outside(".", "set -- "+strings.TrimSpace(first)+" && git tag mine $1 && git tag mine2 $1 && git pack-refs && git tag -d mine2"); err != nil {
				t.Fatal(out)
			}
			status, err := job.Kill(t.Context())
			if err != nil || status.Trouble != nil {
				t.Fatal(err, status.Trouble)
			}
			if out, err := p.outside(".", list); err != nil || out != "main first mine old v1 v2 v3 tag\n" {
				t.Errorf("after the job: %q, %v", out, err)
			}
		})
	}
}

// The private directory of a Tenon that was killed goes with the next one, which brings back the references that the command had packed.
func TestPrivateDirectoriesOfKilledProcesses(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	p := newProject(t, false, "git tag old; git tag other; git branch topic")
	left, held := filepath.Join(temp, "tenon-git-1"), filepath.Join(temp, "tenon-git-2")
	for _, dir := range []string{left, held} {
		if err := errors.Join(
			os.MkdirAll(filepath.Join(dir, "git"), 0o700), os.Mkdir(filepath.Join(dir, "git", "info"), 0o500),
			os.WriteFile(filepath.Join(dir, "path"), []byte(filepath.Join(p.dir, ".git")), 0o600), os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)),
		); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := p.outside(".", "git pack-refs --all && mv .git/packed-refs "+left+"/git && git update-ref refs/tags/other $(sed -n s,.refs/heads/main,,p "+left+"/git/packed-refs)"); err != nil {
		t.Fatal(out)
	}
	f, err := os.Open(held)
	if err == nil {
		defer f.Close()
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	// One that a command could have made, for a repository outside of the workspace, changes nothing there.
	other, forged := t.TempDir(), filepath.Join(temp, "tenon-git-3")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(forged, "git"), 0o700), os.WriteFile(filepath.Join(forged, "path"), []byte(other), 0o600),
		os.WriteFile(filepath.Join(forged, "git", "packed-refs"), []byte(strings.Repeat("a", 40)+" refs/heads/forged\n"), 0o600),
		os.Chtimes(forged, time.Time{}, time.Now().Add(-time.Hour)),
	); err != nil {
		t.Fatal(err)
	}
	p.inside("git status")
	if all, _ := filepath.Glob(filepath.Join(temp, "tenon-git-*")); len(all) != 2 || all[0] != held || all[1] != forged {
		t.Errorf("there are %v", all)
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) > 0 {
		t.Errorf("the other repository has %v, %v", entries, err)
	}
	if out, err := p.outside(".", "git for-each-ref --format='%(refname:short)' | tr '\\n' ' '; git status --porcelain"); err != nil || out != "main topic old other " {
		t.Errorf("%q, %v", out, err)
	}
}

// Git outside follows links in the directories that are live: it would append the log of a reference to any file, or write references to other
// directories. A command can make no link there, and cannot move one there.
func TestNoLinksInLiveDirectories(t *testing.T) {
	p := newProject(t, true, "git checkout -q -b 'a;touch${IFS}PWNED'; git checkout -q main; echo kept >../victim; mkdir ../place")
	p.inside(`ln -s "$PWD/../victim" there; ln -s "$PWD/../place" dir; mkfifo pipe
for way in 'ln -s ../../../victim' 'cp -d there' 'mv -f there' 'ln -P there' 'ln -s ../../../place' 'cp -d dir' 'ln pipe' 'mv pipe' 'mkfifo'; do
	for name in logs/HEAD logs/refs/heads refs/heads objects/aa lfs; do rm -rf .git/$name.old; mv .git/$name .git/$name.old; $way .git/$name; test -L .git/$name || mv .git/$name.old .git/$name; done
done 2>/dev/null || true; find -L .git/refs .git/logs .git/objects -maxdepth 1 >/dev/null`)
	out, err := p.outside(".", `find .git/logs .git/refs .git/objects '!' -type d '!' -type f; git checkout -q 'a;touch${IFS}PWNED'; git commit -q --allow-empty -m x; cat ../victim; ls ../place`)
	if err != nil || out != "kept\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// If the person moves the repository away and makes another one, the job can write in that. It runs nothing after the job.
func TestARepositoryThatAPersonReplaces(t *testing.T) {
	p := newProject(t, true)
	up, done := make(chan bool), make(chan bool)
	job := start(t, p.w, workspace.Command{
		Line: `echo up; until [ -e replaced ]; do :; done; printf '[core]\n\tfsmonitor = %s\n' "$BAD" >>.git/config; echo done; sleep 1000`, Env: p.vars(),
		Report: func(text []byte) {
			if strings.Contains(string(text), "up\n") {
				close(up)
			}
			if strings.Contains(string(text), "done\n") {
				close(done)
			}
		},
	})
	<-up
	if out, err := p.outside(".", "mv .git ../old && git init -q && touch replaced"); err != nil {
		t.Fatal(err, out)
	}
	<-done
	status, err := job.Kill(t.Context())
	if err != nil || status.Trouble == nil || !strings.Contains(status.Trouble.Error(), "replaced it") {
		t.Errorf("%v, %v", err, status.Trouble)
	}
	p.safe()
}

// A file with other names is written under all of them. The result names it.
func TestHardLinksThatACommandWrites(t *testing.T) {
	p := newProject(t, true, "echo store >../store && ln ../store linked && ln ../store other")
	done, err := p.w.Run(t.Context(), workspace.Command{Line: `echo x >>linked; echo y >file; rm other; echo z >other`, Env: p.vars()})
	if err != nil || !strings.Contains(done.Note, "wrote "+p.dir+"/linked, which has hard links") || strings.Contains(done.Note, "other") || strings.Contains(done.Note, "/file") {
		t.Errorf("%q, %v", done.Note, err)
	}
}
