package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// The commands of docs/agents.md work as they are written, one after the other, with the offline model.
func TestDocumentedAgents(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bash := func(line string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", "tenon() { (exec -a "+programName+" "+self+" \"$@\"); }\n"+line)
		cmd.Dir, cmd.Env = p.dir, p.command(t.Context()).Env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd, &out
	}
	want := map[string]string{ // what some of them say
		"tenon roles show explorer":         "explorer",
		"tenon run --model offline --role ": "hello.txt",
		"tenon agents show finder":          "hello.txt",
		"tenon agents show builder":         "test -f built.txt: verified",
		"tenon agents merge builder --yes":  "built.txt (+1 -0)",
		"tenon agents remove builder --yes": "",
	}
	seen, lists := 0, []string{"completed", "cancelled"}
	var behind *exec.Cmd // in the background
	for _, block := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			command, background := strings.CutSuffix(line, " &")
			switch trees, _ := filepath.Glob(p.data + "-worktrees/parallel-*"); {
			case line == "tenon --model offline":
				continue // TestDocumentedAgentsInTheTerminal
			case strings.Contains(line, "WORKTREE"):
				command = strings.ReplaceAll(line, "WORKTREE", filepath.Base(trees[0]))
			case line == "wait":
				if err := behind.Wait(); err != nil {
					t.Errorf("the run in the background: %v", err)
				}
				continue
			case strings.HasPrefix(line, "tenon agents list"):
				want[line], lists = lists[0], lists[1:]
			}
			seen++
			cmd, out := bash(command)
			if background {
				if behind = cmd; cmd.Start() != nil {
					t.Errorf("%s does not start", line)
				}
				continue
			}
			err := cmd.Run()
			for strings.HasPrefix(line, "tenon agents stop") && err != nil && t.Context().Err() == nil { // a person waits until the agent is at work
				cmd, out = bash(command)
				err = cmd.Run()
			}
			if code := cmd.ProcessState.ExitCode(); code != map[bool]int{true: 5}[strings.Contains(line, "missing.txt")] {
				t.Errorf("%s: exit code %d, %v: %s", line, code, err, out)
			}
			for beginning, text := range want {
				if strings.HasPrefix(line, beginning) && !strings.Contains(out.String(), text) {
					t.Errorf("%s: %s", line, out)
				}
			}
			if strings.Contains(line, "cd agents") {
				p.dir = filepath.Join(p.dir, "agents")
			}
		}
	}
	if seen < 20 || len(lists) > 0 {
		t.Errorf("%d commands, %d lists are left", seen, len(lists))
	}
}

// The prompts of docs/agents.md for the terminal do what it says: the question of a sub-agent has its name, and the list stops an agent.
func TestDocumentedAgentsInTheTerminal(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.start(console.Size{Width: 100, Height: 40}, console.Dark, "--model", "offline")
	d.Until(ready)
	d.say("give a sub-agent named maker the task: create made.txt with yes")
	d.asks("Start another agent?")
	d.Press("y")
	d.asks("sub-agent maker: writes")
	d.Press("y")
	d.idle("Created made.txt with 1 line.")
	if text := d.file("made.txt"); text != "yes\n" {
		t.Errorf("made.txt has %q", text)
	}
	d.say("give a sub-agent named napper the task in the background: run sleep 60")
	d.asks("Start another agent?")
	d.Press("y")
	d.idle("Started task", "1 agent")
	d.Press("alt+a")
	d.Until("› maker", "napper", "running")
	d.Press("down")
	d.Until("› napper")
	d.Press("enter")
	d.Until("agent napper · running", "sleep 60")
	d.Press("esc")
	d.Gone("agent napper · running")
	d.Press("alt+a")
	d.Until("› maker")
	d.Press("down")
	d.Until("› napper")
	d.Press("ctrl+d")
	d.Until("Stop the agent napper?")
	d.Press("enter")
	d.Until("napper", "cancelled")
	d.Press("esc")
	d.idle()
	d.leaves()
}
