//go:build linux || darwin

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/session"
)

const (
	thePlan  = "1. Write done.txt with yes\\n2. Run ls"
	handOver = `{"title":"Write the file!","plan":"` + thePlan + `"}`
)

// planFile is the file of the plan.
func (d *desk) planFile() string {
	return ".tenon/plans/" + time.Now().Format(time.DateOnly) + "-write-the-file.md"
}

// plans lets the planner make its plan, and waits for the question.
func (d *desk) plans() {
	d.t.Helper()
	d.say("Plan it")
	d.Until("Who executes this plan?", "builder, in this session", "builder, in a new session", "enter answer")
	if text := d.file(d.planFile()); text != "# Write the file!\n\n1. Write done.txt with yes\n2. Run ls\n" {
		d.t.Errorf("the file of the plan has %q", text)
	}
}

// executed checks the run that executed the plan, and returns its journal.
func (d *desk) executed() []session.Event {
	d.t.Helper()
	if d.file("done.txt") != "yes" {
		d.t.Error("the plan was not executed")
	}
	var last []session.Event
	for _, journal := range d.journals() {
		if slices.ContainsFunc(journal, func(e session.Event) bool { m, ok := e.Body.(session.Message); return ok && m.Tool == "write" }) {
			last = journal
		}
	}
	ended(d.t, last)
	role := ""
	for _, e := range last {
		switch b := e.Body.(type) {
		case session.RunStarted:
			role = b.Config.Role
		case session.Message:
			if strings.HasPrefix(b.Text(), "Execute the plan") && (b.Text() != "Execute the plan in "+d.planFile()+"." || !b.ByPerson()) {
				d.t.Errorf("the prompt is %q of %+v", b.Text(), b.Author())
			}
		}
	}
	if role != "builder" {
		d.t.Errorf("the role %q executed the plan", role)
	}
	return last
}

var (
	planned = modelserver.Say("I have a plan.").Call("handoff", handOver)
	written = modelserver.Call("write", `{"path":"done.txt","content":"yes"}`)
)

// The role of the person's choice executes the plan, in the same session, and in the mode from before.
func TestHandoffInTheSession(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"planner": {"--mode", "edits", "--role", "planner"}, "mode": {"--mode", "edits"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := sit(t, planned, written, modelserver.Say("It is done."))
			d.open(d.withModel(args...)...)
			if name == "mode" {
				d.opensWith("/mode plan", "plan · "+modelName)
			}
			d.plans()
			d.Press("enter")
			d.idle("It is done.", "Execute the plan in", "edits · "+modelName)
			journal := d.executed()
			if runs := runsOf(journal); len(runs) != 2 || len(d.model.Requests()) != 3 {
				t.Errorf("%d runs, %d requests", len(runs), len(d.model.Requests()))
			}
			d.leaves()
		})
	}
}

// In a new session the executing role knows only the plan. The terminal shows it.
func TestHandoffInANewSession(t *testing.T) {
	t.Parallel()
	d := sit(t, planned, written, modelserver.Say("It is done."))
	d.open(d.withModel("--mode", "edits", "--role", "planner")...)
	d.plans()
	d.Press("down")
	d.Until("› builder, in a new session")
	d.Press("enter")
	d.idle("It is done.", "Execute the plan in")
	d.Gone("Plan it")
	journal := d.executed()
	if all := d.journals(); len(all) != 2 || len(runsOf(journal)) != 1 {
		t.Errorf("%d sessions, %d runs", len(all), len(runsOf(journal)))
	}
	if strings.Contains(d.heard(), "Plan it") {
		t.Error("the new session has the conversation of the planner")
	}
	d.leaves()
}

// The words of the person go to the planner, which stays the planner.
func TestHandoffKeepsPlanning(t *testing.T) {
	t.Parallel()
	d := sit(t, planned, modelserver.Say("Then I plan again."), modelserver.Call("write", `{"path":"done.txt","content":"yes"}`), modelserver.Say("I may not."))
	d.open(d.withModel("--mode", "edits", "--role", "planner")...)
	d.plans()
	d.Send("without ls")
	d.Until("without ls")
	d.Press("enter")
	d.idle("Then I plan again.")
	if !strings.Contains(d.heard(), "without ls") || !strings.Contains(d.heard(), "does not want to execute") {
		t.Errorf("the model heard %s", d.heard())
	}
	d.say("Now write")
	d.idle("I may not.", "plan · "+modelName)
	if d.file("done.txt") != "" {
		t.Error("the planner wrote a file")
	}
	d.leaves()
}

// The question outlives its process: the next one shows it, and the answer counts once. The session keeps a role, but no mode.
func TestKilledDuringAHandoff(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"planner": {"--role", "planner"}, "mode": {"--mode", "plan"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := sit(t, planned, written, modelserver.Say("It is done."))
			d.open(d.withModel(args...)...)
			d.plans()
			d.Kill()
			d.start(small, console.Dark, "--mode", "edits", "--continue")
			d.Until("Who executes this plan?", "enter answer")
			d.Press("enter")
			d.idle("It is done.", "Execute the plan in")
			d.executed()
			plans, err := os.ReadDir(filepath.Join(d.dir, ".tenon", "plans"))
			if err != nil || len(plans) != 1 {
				t.Errorf("%d plans, %v", len(plans), err)
			}
			d.leaves()
		})
	}
}

// Without a person the plan is the answer, and its file is named. Undo leaves it there.
func TestHandoffWithoutAPerson(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"text", "json"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			d := sit(t, planned)
			r := d.tenon("run", "--model", modelName, "--role", "planner", "--output", output, "Plan it")
			if r.code != 0 || len(d.model.Requests()) != 1 || d.file(d.planFile()) == "" {
				t.Fatalf("exit code %d, %d requests: %s%s", r.code, len(d.model.Requests()), r.stdout, r.stderr)
			}
			plan := strings.ReplaceAll(thePlan, `\n`, "\n")
			if output == "json" {
				var result struct{ Answer, Plan string }
				if err := json.Unmarshal([]byte(r.stdout), &result); err != nil || result.Answer != plan || result.Plan != d.planFile() {
					t.Errorf("%v, the result is %+v", err, result)
				}
			} else if r.stdout != plan+"\n" || !strings.Contains(r.stderr, `tenon run --role builder "Execute the plan in `+d.planFile()) {
				t.Errorf("the answer is %q, people see %s", r.stdout, r.stderr)
			}
			if r := d.tenon("undo"); r.code != 0 || d.file(d.planFile()) == "" {
				t.Errorf("undo: exit code %d, the file has %q: %s%s", r.code, d.file(d.planFile()), r.stdout, r.stderr)
			}
		})
	}
}

// A terminal that is attached to the session answers. In a new session, this terminal shows it, and the other one stays.
func TestHandoffFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	for _, isNew := range []bool{false, true} {
		t.Run(map[bool]string{false: "this session", true: "a new session"}[isNew], func(t *testing.T) {
			t.Parallel()
			d := sit(t, planned, written, modelserver.Say("It is done."))
			d.open(d.withModel("--mode", "edits", "--role", "planner")...)
			d.plans()
			open, err := attach.List(t.Context(), d.data)
			if err != nil || len(open) != 1 {
				t.Fatalf("the open sessions are %+v, %v", open, err)
			}
			there := console.Start(t, d.command(t.Context(), "--session", string(open[0].ID)), small, console.Dark)
			there.Until("Who executes this plan?", "› builder, in this session", "enter answer")
			if isNew {
				there.Press("down")
				there.Until("› builder, in a new session")
			}
			there.Press("enter")
			there.Until("It is done.", "Execute the plan in", ready)
			if d.idle(); isNew {
				there.Gone("Plan it")
				d.Until("› Plan it")
			}
			d.executed()
			there.Press("ctrl+d")
			if code := there.Exit(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, there.Screen())
			}
			d.leaves()
		})
	}
}
