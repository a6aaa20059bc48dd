package shell

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

func TestInteractiveCommandsAreRefusedWithAdvice(t *testing.T) {
	for line, want := range map[string]string{
		"vim main.go":                        "tools for files",
		"cd x && /usr/bin/vi y":              "tools for files",
		"EDITOR=vim nano a":                  "tools for files",
		"less README.md":                     "use read",
		"git log | less":                     "use read",
		"more x; true":                       "use read",
		"top":                                "top -b -n 1",
		"if true; then htop; fi":             "top -b -n 1",
		"echo $(top)":                        "top -b -n 1",
		"watch ls":                           "job",
		"git rebase -i HEAD~3":               "GIT_SEQUENCE_EDITOR",
		"git -C x rebase --interactive main": "GIT_SEQUENCE_EDITOR",
		"ssh host ls":                        "BatchMode",
		"ssh -o StrictHostKeyChecking=no h":  "BatchMode",
		"sudo make install":                  "sudo -n",
		"env A=b sudo ls":                    "sudo -n",
		"timeout 5 vim x":                    "tools for files",
		"nice -n 5 top":                      "top -b",
		"passwd":                             "user",
		"emacs x":                            "--batch",
	} {
		if got := interactive(parsed(tool.Effects{Command: line})); !strings.Contains(got, want) {
			t.Errorf("%s: %q; want %q in it", line, got, want)
		}
	}
}

func TestOtherCommandsAreNot(t *testing.T) {
	for _, line := range []string{
		"", "ls", "echo vim; printf 'less'", "git commit -m 'vim rebase -i'", "grep -r less .", "cat <<END\nvim x\nEND",
		"vim -es -c 'g/x/d' -c wq file", "vim -Es +q", "emacs --batch -l x.el",
		"top -b -n 1", "top -bn1", "git rebase main", "git rebase --continue", "GIT_SEQUENCE_EDITOR='sed -i 1d' git rebase -i HEAD~2",
		"git -c sequence.editor='sed -i 1d' rebase -i HEAD~2", "printf 'y\\nn\\n' | git add -p", "git add -p <answers", "git add -A",
		"ssh -o BatchMode=yes host ls", "ssh -oBatchMode=yes host", "sudo -n make", "docker run --rm alpine ls -it", "docker run -i alpine <x", "docker ps",
		"docker build -t name .", "docker run --rm -e A=t alpine",
		"python -c 'print(1)'", "python x.py", "python -m pytest", "python3 - <<END\nprint(1)\nEND", "echo 'print(1)' | python", "python <x.py", "python --version", "python -V",
		"echo 1 | { read x; python; }", "cat x | (cd y; node)",
		"node x.js", "node -e 1", "node --version", "bash x.sh", "bash -c ls", "sh -ec ls", "echo ls | bash", "bash --version", "bash <<END\nls\nEND",
		"psql -c 'select 1'", "psql <x.sql", "mysql -e 'select 1' db", "mysql --execute='select 1'", "gdb --batch -ex run ./a", "crontab -l", "tmux new -d", "tmux ls",
		"(((", "'", "for", "env", "time", "command -v vim", "which vim", "apt-get install -y vim", "exec 3<x",
	} {
		if got := interactive(parsed(tool.Effects{Command: line})); got != "" {
			t.Errorf("%s: %s", line, got)
		}
	}
}

func FuzzInteractive(f *testing.F) {
	for _, line := range []string{"vim x", "env A=b timeout 5 sudo -u x bash -c 'a | python'", "git -c", "docker run -", "psql -", "sh -c", "a=$( <<E\nE\n)"} {
		f.Add(line)
	}
	f.Fuzz(func(_ *testing.T, line string) { _ = interactive(parsed(tool.Effects{Command: line})) })
}
