package command

import (
	"path"
	"slices"
	"strings"
)

// quiet is the explanation of a command without effects.
const quiet = "changes nothing"

// facts are the known effects of a command. The table of programs and the rules add to them.
type facts struct {
	a     *analyzer
	place place
	cmd   Command
	whys  []string

	replaces bool // it replaces what it writes, also a device
}

// does adds effects with their reason.
func (f *facts) does(d Does, why string) {
	if f.cmd.Does |= d; why != "" && !slices.Contains(f.whys, why) {
		f.whys = append(f.whys, why)
	}
}

func (f *facts) unknown(why string) { f.does(Unknown, why) }

func (f *facts) reads(w word) {
	paths := f.a.at(f.place).paths(w)
	if w.named { // .git names files, and is not read
		paths = slices.DeleteFunc(paths, func(p string) bool { return path.Base(p) == ".git" })
	}
	if len(paths) > 0 || f.place.remote {
		f.cmd.ReadPaths = add(f.cmd.ReadPaths, paths)
		f.does(Reads, "")
	}
}

func (f *facts) writes(w word) {
	if w.named || w.number { // only words that are read profit
		w = word{dynamic: true}
	}
	paths := f.a.at(f.place).written(w)
	if name := path.Clean(w.text); f.replaces && !w.dynamic && silent(name) {
		paths = []string{name}
	}
	if len(paths) > 0 || f.place.remote {
		if f.cmd.WritePaths = add(f.cmd.WritePaths, paths); w.text == "." {
			f.cmd.Trees = add(f.cmd.Trees, paths)
		}
		f.does(Writes, "")
	}
}

// implies lists an option that another word of the command implies.
func (f *facts) implies(given string, names ...string) {
	f.cmd.Options = append(f.cmd.Options, Option{Names: names, Given: given})
}

// repository notes a change of the repository.
func (f *facts) repository() {
	f.writes(word{text: ".git"})
}

// somewhere notes a write to files that the line does not name.
func (f *facts) somewhere() {
	for _, p := range f.cmd.WritePaths {
		if path.Base(p) != ".git" {
			return
		}
	}
	f.writes(word{dynamic: true})
}

// sorted lists the options of the command.
func (f *facts) sorted(g *arguments) {
	f.cmd.Sorted = f.cmd.Sorted && g.certain()
	for _, o := range g.options {
		f.cmd.Options = append(f.cmd.Options, o.listed())
	}
}

// why describes the effects of the command.
func (f *facts) why(cmd Command, name string) string {
	all := slices.Clone(f.whys)
	say := func(d Does, verb, nameless string, names ...string) {
		switch {
		case cmd.Does&d == 0:
			return
		case len(names) == 0 && len(all) > 0:
			return
		case len(names) == 0 || names[0] == "":
			verb += nameless
		default:
			verb += shown(names[0])
		}
		if len(names) > 1 {
			verb += " and others"
		}
		all = append(all, verb)
	}
	say(Writes, "writes ", "files that cannot be determined in advance", cmd.WritePaths...)
	say(Network, "reaches ", "other machines", cmd.Hosts...)
	say(Reads, "reads ", "files that cannot be determined in advance", cmd.ReadPaths...)
	say(Destroys, "", "destroys data")
	say(Executes, "", "runs code")
	say(Publishes, "", "publishes")
	say(Queries, "", "asks a service")
	say(Unknown, "", "unknown command "+name)
	switch {
	case len(all) == 0:
		return quiet
	case len(all) > 3:
		all = all[:3]
	}
	return strings.Join(all, "; ")
}

// host notes the host of an address: a URL, or a host as scp and git write it.
func (f *facts) host(w word) {
	if h, known := hostOf(w); !known {
		f.reaches("")
	} else if h != "" {
		f.reaches(h)
	}
}

// reaches notes a host, "" for an unknown one.
func (f *facts) reaches(h string) {
	if !slices.Contains(f.cmd.Hosts, h) {
		f.cmd.Hosts = append(f.cmd.Hosts, h)
	}
}
