package files_test

import (
	"path/filepath"
	"testing"
)

// A model that has seen all of a file in the output of a command need not read it again.
func TestWhatCommandsShow(t *testing.T) {
	p := newProject(t, map[string]string{"a": "one\ntwo\n", "b": "three\n", "c": "four", "d": "", "e": "five\n"})
	at := func(name string) string { return filepath.Join(p.dir, name) }
	p.set.Observe("one\ntwo\nfour\n[exit code 0]", at("a"), at("b"), at("c"), at("d"), at("none"), p.dir)
	p.set.Observe("five\n")
	p.put("c", "changed")
	p.ok("delete", `{"paths":["a"]}`, "deleted a")
	p.fails("delete", `{"paths":["b"]}`, "b exists and was not read yet")
	p.fails("write", `{"path":"c","content":"x"}`, "c has changed since it was read")
	p.fails("write", `{"path":"e","content":"x"}`, "e exists and was not read yet")
}
