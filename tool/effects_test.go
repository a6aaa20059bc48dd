package tool_test

import (
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

func TestCollides(t *testing.T) {
	name := func(parts ...string) string {
		return filepath.Join(append([]string{string(filepath.Separator)}, parts...)...)
	}
	read := func(p tool.Path) tool.Effects { return tool.Effects{Reads: []tool.Path{p}} }
	write := func(p tool.Path) tool.Effects { return tool.Effects{Writes: []tool.Path{p}} }
	nothing, unknown := tool.Effects{None: true}, tool.Effects{Unknown: true}
	a, ab, ac, abc := name("a"), name("a", "b"), name("a", "c"), name("ab")
	tests := []struct {
		name string
		e, f tool.Effects
		want bool
	}{
		{"nothing and nothing", nothing, nothing, false},
		{"nothing and undeclared", nothing, tool.Effects{}, false},
		{"undeclared and undeclared", tool.Effects{}, tool.Effects{}, true},
		{"undeclared and read", tool.Effects{}, read(tool.File(ab)), true},
		{"undeclared and write", tool.Effects{}, write(tool.File(ab)), true},
		{"unknown and read", unknown, read(tool.File(ab)), false},
		{"unknown and unknown", unknown, unknown, false},
		{"unknown and write", unknown, write(tool.File(ab)), true},
		{"unknown and command", unknown, tool.Effects{Unknown: true, Exclusive: true}, true},
		{"exclusive read and read", tool.Effects{Reads: []tool.Path{tool.File(ab)}, Exclusive: true}, read(tool.File(ac)), true},
		{"two reads of one file", read(tool.File(ab)), read(tool.File(ab)), false},
		{"read and write of one file", read(tool.File(ab)), write(tool.File(ab)), true},
		{"two writes of one file", write(tool.File(ab)), write(tool.File(ab)), true},
		{"two writes of two files", write(tool.File(ab)), write(tool.File(ac)), false},
		{"write within a tree that is read", write(tool.File(ab)), read(tool.Tree(a)), true},
		{"write of a name that only starts like the tree", write(tool.File(abc)), read(tool.Tree(a)), false},
		{"write below the root", write(tool.File(ab)), read(tool.Tree(name())), true},
		{"write below a directory that was not read as a tree", write(tool.File(ab)), read(tool.File(a)), false},
		{"command and read", tool.Effects{Unknown: true, Exclusive: true}, read(tool.File(ab)), true},
		{"command and write", tool.Effects{Unknown: true, Exclusive: true}, write(tool.File(ab)), true},
		{"two commands", tool.Effects{Unknown: true, Exclusive: true}, tool.Effects{Unknown: true, Exclusive: true}, true},
		{"command and agent", tool.Effects{Unknown: true, Exclusive: true}, tool.Effects{Agents: true}, true},
		{"command and question", tool.Effects{Unknown: true, Exclusive: true}, tool.Effects{Asks: true}, false},
		{"two questions", tool.Effects{Asks: true}, tool.Effects{Asks: true}, true},
		{"two agents", tool.Effects{Agents: true}, tool.Effects{Agents: true}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.e.Collides(test.f); got != test.want {
				t.Errorf("Collides = %t", got)
			}
			if got := test.f.Collides(test.e); got != test.want {
				t.Errorf("the other way round, Collides = %t", got)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	file := []tool.Path{tool.File(filepath.Join(string(filepath.Separator), "f"))}
	tests := []struct {
		name string
		e    tool.Effects
		want bool
	}{
		{"nothing", tool.Effects{None: true}, true},
		{"undeclared", tool.Effects{}, false},
		{"idempotent alone", tool.Effects{Idempotent: true}, false},
		{"a command alone", tool.Effects{Command: "ls"}, false},
		{"reads and more", tool.Effects{Reads: file, Unknown: true}, false},
		{"reads alone", tool.Effects{Reads: file, Exclusive: true}, true},
		{"reads", tool.Effects{Reads: file}, true},
		{"asks", tool.Effects{Asks: true}, true},
		{"writes", tool.Effects{Writes: file}, false},
		{"runs", tool.Effects{Unknown: true, Exclusive: true}, false},
		{"reaches", tool.Effects{Hosts: []string{"example.com"}}, false},
		{"delegates", tool.Effects{Agents: true}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.e.ReadOnly(); got != test.want {
				t.Errorf("ReadOnly = %t", got)
			}
		})
	}
}
