//go:build linux || darwin

package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// TestTerminalWholeTask does a task in mode ask: a question, an edited argument, a grant, a denial with a reason, steering, a rewind, an undo
// and a fork. Then the program is killed with an open question, and the next one continues.
func TestTerminalWholeTask(t *testing.T) {
	t.Parallel()
	write := func(name, text string) modelserver.Step {
		return modelserver.Call("write", `{"path":"`+name+`","content":"`+text+`"}`)
	}
	d := sit(t,
		modelserver.Call("AskUserQuestion", `{"questions":[{"question":"Which language?","header":"Language","multiSelect":false,"options":[{"label":"Go","description":"fast"},{"label":"C","description":"old"}]}]}`), // 0
		write("a.txt", "one"),                // 1: edited
		write("b.txt", "two"),                // 2: granted
		write("b.txt", "three"),              // 3: no question
		write("c.txt", "four"),               // 4: denied
		modelserver.Call("read", readFact),   // 5: steered
		modelserver.Say("The task is done."), // 6
		write("b.txt", "five"),               // 7: second prompt
		modelserver.Say("Once more."),        // 8
		modelserver.Say("In the fork."),      // 9
		write("d.txt", "six"),                // 10: killed
		modelserver.Say("After the kill."),   // 11
	)
	release := d.hold(5)
	d.open(d.withModel()...)
	d.say("Do the task")
	d.Until("Which language?", "enter answer")
	d.Press("enter")

	d.asks("a.txt?")
	d.Press("e")
	d.Until("The new arguments, as JSON:", `one`)
	d.Press("left", "left", "left") // into the string
	d.Send("!")
	d.Until("one!")
	d.Press("enter")
	d.Gone("The new arguments, as JSON:")

	d.asks("b.txt?")
	d.Press("down")
	d.Until("› Allow in this session")
	d.Press("enter")

	d.asks("c.txt?")
	d.Press("down", "down", "down", "down", "down")
	d.Until("› Deny with a reason")
	d.Press("enter")
	d.Until("The reason, for the model:")
	d.Send("not this file")
	d.Press("enter")
	d.Gone("The reason, for the model:")

	d.Until("esc cancels")
	d.Send("hurry up")
	d.Until("› hurry up")
	d.Press("alt+enter")
	d.Until("↳ hurry up")
	release()
	d.idle("The task is done.")
	if a, b, c := d.file("a.txt"), d.file("b.txt"), d.file("c.txt"); a != "one!" || b != "three" || c != "" {
		t.Errorf("the files are %q, %q and %q", a, b, c)
	}
	if heard := d.heard(); !strings.Contains(heard, "not this file") || !strings.Contains(heard, "hurry up") || !strings.Contains(heard, "Go") {
		t.Errorf("the model heard\n%s", heard)
	}

	d.say("Change b again")
	d.idle("Once more.")
	d.say("/undo")
	d.Wait(func(s console.Screen) bool { return d.file("b.txt") == "three" }, "the undone file")
	d.Until(ready)
	d.say("/fork")
	d.say("Where am I?")
	d.idle("In the fork.")
	d.say("Write d")
	d.asks("d.txt?")
	d.Kill()

	d.start(small, console.Dark, "--continue")
	d.asks("d.txt?")
	d.Press("y")
	d.idle("After the kill.")
	if got := d.file("d.txt"); got != "six" {
		t.Errorf("%s is %q", filepath.Join(d.dir, "d.txt"), got)
	}
	d.leavesInOrder()
}
