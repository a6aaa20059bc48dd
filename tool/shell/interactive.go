package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tenon-agent/tenon/tool"
)

// interactive returns advice for a command line that waits for a person at a terminal. It returns "" for other commands, and for command
// lines that the parser rejects.
func interactive(file *syntax.File) string {
	if file == nil {
		return ""
	}
	advice := ""
	piped := map[syntax.Node]bool{}
	fed := []bool{false} // for each enclosing node, the outermost first: it has an input of its own
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			fed = fed[:len(fed)-1]
			return true
		}
		own := fed[len(fed)-1] || piped[n]
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			piped[n.Y] = n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.Stmt:
			own = own || reads(n)
		case *syntax.CallExpr:
			if advice == "" {
				advice = call{words: words(n), assigns: n.Assigns, fed: own}.advice()
			}
		}
		fed = append(fed, own)
		return true
	})
	return advice
}

// parsed is the syntax tree of a line: that of the analysis in its effects, if there is one. It is nil if the line cannot be parsed.
func parsed(line string, e tool.Effects) *syntax.File {
	if a, ok := e.Analysis.(interface{ Tree() *syntax.File }); ok && e.Command == line {
		return a.Tree()
	}
	const most = 64 << 10
	if len(line) > most {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	return file
}

// reads reports whether a statement has an input of its own.
func reads(s *syntax.Stmt) bool {
	return slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return r.N == nil || r.N.Value == "0"
		}
		return false
	})
}

// words returns the words of a command; "" for a word that cannot be determined in advance.
func words(c *syntax.CallExpr) (list []string) {
	for _, w := range c.Args {
		list = append(list, literal(w.Parts))
	}
	return list
}

func literal(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(literal(p.Parts))
		default:
			return ""
		}
	}
	return b.String()
}

// call is one command with its input.
type call struct {
	words   []string
	assigns []*syntax.Assign
	fed     bool // it reads from a file, a pipe or the line itself
}

func (c call) advice() string {
	for len(c.words) > 0 {
		name := path.Base(c.words[0])
		if name == "sudo" || name == "doas" {
			if !c.has("-n", "--non-interactive") {
				return name + " may ask for a password, and no one can type it; use " + name + " -n"
			}
		} else if !slices.Contains(wrappers, name) || name == "command" && c.has("-v", "-V") {
			break
		}
		c.unwrap()
	}
	if len(c.words) == 0 {
		return ""
	}
	c.words[0] = path.Base(c.words[0])
	for _, h := range habits() {
		if slices.Contains(strings.Fields(h.programs), c.words[0]) && !c.has(strings.Fields(h.options)...) && !(h.letters != "" && c.letter(h.letters)) &&
			!(h.input && c.fed) {
			return c.refuse(h.instead)
		}
	}
	for _, check := range []func(call) string{call.special, call.git, call.prompt} {
		if advice := check(c); advice != "" {
			return advice
		}
	}
	return ""
}

// habit is a group of programs that need a terminal.
type habit struct {
	programs string
	options  string // with one of these, a program needs no terminal
	letters  string // the same for short options, also in groups such as -it
	input    bool   // a program with an input of its own needs no terminal
	instead  string // advice
}

func habits() []habit {
	const edit, processes = "use the tools for files, or a command such as sed", "use top -b -n 1, or ps"
	return []habit{
		{"emacs", "--batch -batch --script", "", false, "use the tools for files, or --batch"},
		{"nano pico micro hx helix joe mcedit", "", "", false, edit},
		{"less more most", "", "", false, "use read, cat, head or tail"},
		{"top", "", "bl", false, processes},
		{"htop btop atop glances", "", "", false, processes},
		{"tig lazygit gitui", "", "", false, "use git log, git status or git diff"},
		{"ncdu mc ranger nnn", "", "", false, "use du or list"},
		{"fzf", "--filter", "f", false, "choose the answer yourself and pass it to the command"},
		{"dialog whiptail", "", "", false, "choose the answer yourself and pass it to the command"},
		{"watch", "", "", false, "run the command itself; to wait for something, start a background job"},
		{"telnet ftp sftp minicom", "", "b", true, "use curl, or give it its input"},
		{"passwd visudo vipw vigr chsh", "", "", false, "ask the user to do this"},
		{"gdb lldb", "-batch --batch -b --version --help", "", true, "use --batch with commands"},
	}
}

// wrappers are commands that run the command in their arguments.
var wrappers = []string{"env", "nice", "ionice", "nohup", "time", "timeout", "stdbuf", "setsid", "command", "exec", "builtin"}

// unwrap removes a wrapper with its options, assignments and times.
func (c *call) unwrap() {
	c.words = c.words[1:]
	for len(c.words) > 0 {
		w := c.words[0]
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && strings.Trim(w, "0123456789.smhd") != "" {
			return
		}
		c.words = c.words[1:]
	}
}

func (c call) has(options ...string) bool {
	return slices.ContainsFunc(c.words[1:], func(w string) bool { return slices.Contains(options, w) })
}

// letter reports whether a group of short options, such as -it, has one of the letters.
func (c call) letter(letters string) bool {
	return slices.ContainsFunc(c.words[1:], func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w[1:], letters)
	})
}

// refuse returns the advice with its reason.
func (c call) refuse(instead string) string {
	return fmt.Sprintf("%s needs a terminal, and there is none; %s", c.words[0], instead)
}

// special checks programs that need a terminal only in some forms.
func (c call) special() string {
	switch c.words[0] {
	case "vi", "vim", "nvim", "view", "vimdiff":
		if !c.has("-es", "-Es") && (!c.letter("eE") || !c.letter("s")) {
			return c.refuse("use the tools for files, or a command such as sed")
		}
	case "ssh", "slogin":
		batch := func(w string) bool { return strings.EqualFold(strings.TrimPrefix(w, "-o"), "BatchMode=yes") }
		if !slices.ContainsFunc(c.words, batch) && !c.has("-V", "-Q", "-G") {
			return c.refuse("use ssh -o BatchMode=yes HOST COMMAND, so that it fails instead of asking")
		}
	case "tmux", "screen":
		if len(c.words) == 1 || c.has("attach", "attach-session", "a", "-r", "-x") {
			return c.refuse("start a background job instead")
		}
	case "docker", "podman", "nerdctl", "kubectl", "docker-compose":
		i := slices.IndexFunc(c.words, func(w string) bool { return w == "run" || w == "exec" || w == "start" })
		for _, w := range c.words[i+1:] {
			if i < 0 || w == "" || w[0] != '-' {
				break
			}
			if w == "--tty" || w == "--tty=true" || w[1:] != "" && w[1] != '-' && strings.Contains(w, "t") && !strings.Contains(w, "=") {
				return c.refuse("leave out -t")
			}
		}
	case "crontab":
		if c.letter("e") {
			return c.refuse("use crontab FILE")
		}
	}
	return ""
}

// git checks git commands that ask about parts of changes. Tenon disables the editor of git, so an interactive rebase would change nothing.
func (c call) git() string {
	if c.words[0] != "git" {
		return ""
	}
	rest := c.words[1:]
	edited := slices.ContainsFunc(c.assigns, func(a *syntax.Assign) bool { return a.Name != nil && a.Name.Value == "GIT_SEQUENCE_EDITOR" })
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		takes := slices.Contains([]string{"-c", "-C", "--git-dir", "--work-tree", "--namespace"}, rest[0]) && len(rest) > 1
		if takes {
			edited = edited || strings.HasPrefix(rest[1], "sequence.editor=")
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return ""
	}
	sub := call{words: rest, fed: c.fed}
	switch rest[0] {
	case "rebase":
		if !edited && sub.has("-i", "--interactive") {
			return "git rebase -i edits a list, and there is no editor; set GIT_SEQUENCE_EDITOR to a command that edits the file, or rebase without -i"
		}
	case "add", "commit", "checkout", "restore", "reset", "stash":
		asks := sub.has("-p", "--patch", "--interactive") || rest[0] == "add" && sub.has("-i")
		if asks && !c.fed {
			return "git " + rest[0] + " -p asks about each part, and no one can answer; name the files, or use git apply --cached"
		}
	case "difftool", "mergetool", "gui", "citool":
		return "git " + rest[0] + " opens an interactive program; use git diff, or edit the file"
	}
	return ""
}

// prompt checks interpreters that read commands from a terminal if they get no input.
func (c call) prompt() string {
	if c.fed {
		return ""
	}
	name := strings.TrimRight(c.words[0], "0123456789.")
	bare := !slices.ContainsFunc(c.words[1:], func(w string) bool { return w == "" || w[0] != '-' || len(w) > 2 })
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		for i, w := range c.words {
			if i > 0 && len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.HasSuffix(w, "c") && i+1 < len(c.words) {
				return interactive(parsed(c.words[i+1], tool.Effects{}))
			}
		}
		if bare && !c.letter("c") || c.letter("i") && bare {
			return c.refuse("use -c or name a script")
		}
	case "python", "pypy", "node", "deno", "bun", "irb", "pry", "ghci", "lua", "julia", "R", "php":
		only := bare && !c.letter("cehmVvr")
		if name == "php" {
			only = c.letter("a") && bare
		}
		if only || c.has("-i") && bare {
			return c.refuse("give it code with an option such as -c or -e, a here-document, or a file")
		}
	case "ipython", "bpython", "ptpython":
		if bare && !c.letter("chV") {
			return c.refuse("use python with -c, a here-document, or a file")
		}
	case "psql", "mysql", "mariadb":
		options := map[string]string{"psql": "cfl", "mysql": "e", "mariadb": "e"}[name]
		long := func(w string) bool {
			return slices.ContainsFunc([]string{"--command", "--file", "--list", "--execute", "--version", "--help"}, func(o string) bool { return strings.HasPrefix(w, o) })
		}
		if !c.letter(options) && !slices.ContainsFunc(c.words[1:], long) && !c.letter("VhF") {
			return c.refuse("give it its statements with -c or -e, a file, or a here-document")
		}
	}
	return ""
}
