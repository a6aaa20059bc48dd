package permission

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFillingADirectory: what makes a directory with files in it counts for rules about what is below it, there or not.
func TestFillingADirectory(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "tree"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "a.tar"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base, err := New(Options{Mode: Yolo, Root: root, Sandboxed: true})
	if err != nil {
		t.Fatal(err)
	}
	fills := []string{
		"cp -r x docs", "cp -a tree/. docs", "mv x docs", "mv tree docs", "git mv tree docs", "git checkout -- docs", "git checkout HEAD -- docs",
		"git restore docs", "tar -x -f a.tar -C docs", "tar xf a.tar --directory=docs", "git clone u.example docs", "git init docs", "ln -s tree docs",
		"unzip a.zip -d docs", "rsync -a tree/ docs", "scp -r h:/x docs", "git worktree add docs", "mv docs x", "rm -r docs", "patch -d docs",
		"mkdir docs && cd docs && curl -O http://x.example/a", "pip install -t docs x", "docker run -v ./docs:/x a", "wget -P docs u.example",
	}
	files := []string{"cp file docs", "mv file docs", "ln file docs", "mkdir docs", "touch docs", "echo > docs", "go build -o docs", "git checkout docs"}
	for _, there := range []bool{false, true} {
		if there {
			if err := os.Mkdir(filepath.Join(root, "docs"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for rule, want := range map[string]Action{"write(docs/**)": Deny, "write(docs/)": Deny, "write(docs/secret/**)": Ask, "write(*.pem)": Ask} {
			p := base.With(parse(t, User, "deny "+rule)...)
			for _, line := range fills {
				if d := p.Judge(p.Command(line)); d.Action != want {
					t.Errorf("deny %s, there %v: %s is %s, want %s: %s", rule, there, line, d.Action, want, d.Reason)
				}
			}
			for _, line := range files[:7] {
				if d := p.Judge(p.Command(line)); !there && d.Action != Allow {
					t.Errorf("deny %s: %s is %s: %s", rule, line, d.Action, d.Reason)
				}
			}
		}
		p := base.InMode(AskMode).With(parse(t, User, "allow write(docs/**)")...)
		for _, line := range fills[:5] {
			if d := p.Judge(p.Command(line)); d.Action != Ask {
				t.Errorf("allow write(docs/**): %s is %s: %s", line, d.Action, d.Reason)
			}
		}
	}
}
