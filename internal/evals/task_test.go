package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

const example = "category: bug\nabout: one line\ndeny: shell(rm *)\nwindow: 16000\n-- repo/a/b.txt --\ntext\n-- setup --\ntrue\n-- prompt --\nDo it.\n" +
	"-- check --\ntrue\n-- check/x --\nhidden\n-- solution --\necho\n-- solution/a/b.txt --\nnew\n-- answer --\nDone.\n"

func TestATaskIsRead(t *testing.T) {
	all, err := loadTasks(fstest.MapFS{"tasks/one.task": {Data: []byte(example)}})
	if err != nil {
		t.Fatal(err)
	}
	task := all[0]
	if task.Name != "one" || task.Category != "bug" || task.Deny[0] != "shell(rm *)" || task.Window != 16000 || task.Repo["a/b.txt"] != "text\n" ||
		task.Setup != "true\n" || task.Prompt != "Do it.\n" || task.Check != "true\n" || task.Hidden["x"] != "hidden\n" || task.Script != "echo\n" ||
		task.Files["a/b.txt"] != "new\n" || task.Answer != "Done.\n" {
		t.Errorf("%+v", task)
	}
}

// A broken task is an error that names the task and the fault.
func TestABrokenTask(t *testing.T) {
	for want, change := range map[string][2]string{
		"no section; write":           {example, "about: x\n"},
		`line "odd"`:                  {"category: bug", "odd"},
		`category "fun" is unknown`:   {"category: bug", "category: fun"},
		`key "limit" is unknown`:      {"window: 16000", "limit: 3"},
		`window is "-1"`:              {"window: 16000", "window: -1"},
		`section "repo/../x"`:         {"repo/a/b.txt", "repo/../x"},
		`section "files/x"`:           {"check/x", "files/x"},
		`section "setup" occurs`:      {"-- prompt --", "-- setup --"},
		"no section prompt":           {"Do it.\n", "\n"},
		"no section check":            {"-- check --\ntrue\n", ""},
		"no section answer":           {"Done.\n", ""},
		"no section repo/FILE":        {"repo/a/b.txt", "check/y"},
		"no line about":               {"about: one line\n", ""},
		"cannot read tasks/one.task:": {"about: one line\n", ""},
	} {
		text := strings.Replace(example, change[0], change[1], 1)
		_, err := loadTasks(fstest.MapFS{"tasks/one.task": {Data: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestTasksAreSelected(t *testing.T) {
	all := []*Task{{Name: "crlf", Category: "edit"}, {Name: "dirty-tree", Category: "git"}, {Name: "denied-push", Category: "limits"}}
	for patterns, want := range map[string]string{
		"": "crlf dirty-tree denied-push", "git": "dirty-tree", "d*": "dirty-tree denied-push", "limits,crlf": "crlf denied-push",
	} {
		got, err := selectTasks(all, patterns)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, task := range got {
			names = append(names, task.Name)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%q: %q", patterns, names)
		}
	}
	for _, patterns := range []string{"crlf,nothing", "[", ","} {
		if got, err := selectTasks(all, patterns); err == nil {
			t.Errorf("%q: %v", patterns, got)
		}
	}
}
