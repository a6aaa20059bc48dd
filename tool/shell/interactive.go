package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// interactive says what to do instead of a command line that waits for a person at a terminal, or "" when it has no such command,
// or cannot be read.
func interactive(line string) string {
	const most = 64 << 10
	if len(line) > most {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return ""
	}
	advice := ""
	piped := map[syntax.Node]bool{}
	fed := []bool{false} // whether what is around a node has an input that is not that of the line, from outside inwards
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

// words are those of a command; what is not known before it runs is "".
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

// call is one command with what it is given.
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
				return name + " may ask for a password, and nobody can type one here; use " + name + " -n"
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
	for _, check := range []func(call) string{call.screen, call.session, call.asking, call.prompt} {
		if advice := check(c); advice != "" {
			return advice
		}
	}
	return ""
}

// wrappers run the command that follows.
var wrappers = []string{"env", "nice", "ionice", "nohup", "time", "timeout", "stdbuf", "setsid", "command", "exec", "builtin"}

// unwrap takes a wrapper away with its options, assignments and times.
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

// letter reports whether one of the bundles of short options, such as -it, has a letter.
func (c call) letter(letters string) bool {
	return slices.ContainsFunc(c.words[1:], func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w[1:], letters)
	})
}

// refuse is the advice with its reason.
func (c call) refuse(instead string) string {
	return fmt.Sprintf("%s needs a person at a terminal, and there is none; %s", c.words[0], instead)
}

// screen is about what fills one.
func (c call) screen() string {
	switch c.words[0] {
	case "vi", "vim", "nvim", "view", "vimdiff":
		if !c.has("-es", "-Es") && (!c.letter("eE") || !c.letter("s")) {
			return c.refuse("use the tools for files, or a command such as sed")
		}
	case "emacs":
		if !c.has("--batch", "-batch", "--script") {
			return c.refuse("use the tools for files, or --batch")
		}
	case "nano", "pico", "micro", "hx", "helix", "joe", "mcedit":
		return c.refuse("use the tools for files, or a command such as sed")
	case "less", "more", "most":
		return c.refuse("use read, cat, head or tail")
	case "top":
		if !c.letter("bl") {
			return c.refuse("use top -b -n 1, or ps")
		}
	case "htop", "btop", "atop", "glances":
		return c.refuse("use top -b -n 1, or ps")
	case "tig", "lazygit", "gitui":
		return c.refuse("use git log, git status or git diff")
	case "ncdu", "mc", "ranger", "nnn":
		return c.refuse("use du or list")
	case "fzf", "dialog", "whiptail":
		if c.words[0] != "fzf" || !c.letter("f") && !c.has("--filter") {
			return c.refuse("decide and pass the answer to the command that needs it")
		}
	case "watch":
		return c.refuse("run the command itself; to wait for something, start a job")
	}
	return ""
}

// session is about what connects a terminal to elsewhere.
func (c call) session() string {
	switch c.words[0] {
	case "ssh", "slogin":
		batch := func(w string) bool { return strings.EqualFold(strings.TrimPrefix(w, "-o"), "BatchMode=yes") }
		if !slices.ContainsFunc(c.words, batch) && !c.has("-V", "-Q", "-G") {
			return c.refuse("use ssh -o BatchMode=yes HOST COMMAND, so that it fails instead of asking")
		}
	case "tmux", "screen":
		if len(c.words) == 1 || c.has("attach", "attach-session", "a", "-r", "-x") {
			return c.refuse("start a job instead: background")
		}
	case "docker", "podman", "nerdctl", "kubectl", "docker-compose":
		i := slices.IndexFunc(c.words, func(w string) bool { return w == "run" || w == "exec" || w == "start" })
		if i < 0 {
			return ""
		}
		for _, w := range c.words[i+1:] {
			if w == "" || w[0] != '-' {
				break
			}
			if w == "--tty" || w == "--tty=true" || w[1:] != "" && w[1] != '-' && strings.Contains(w, "t") && !strings.Contains(w, "=") {
				return c.refuse("leave out -t")
			}
		}
	case "telnet", "ftp", "sftp", "minicom":
		if !c.fed && !c.letter("b") {
			return c.refuse("use curl, or give it its input")
		}
	}
	return ""
}

// asking is about what puts questions.
func (c call) asking() string {
	switch c.words[0] {
	case "git":
		return c.git()
	case "passwd", "visudo", "vipw", "vigr", "chsh":
		return c.refuse("leave this to the person")
	case "crontab":
		if c.letter("e") {
			return c.refuse("use crontab FILE")
		}
	case "gdb", "lldb":
		if !c.fed && !c.has("-batch", "--batch", "-b", "--version", "--help") {
			return c.refuse("use --batch with commands")
		}
	}
	return ""
}

// git asks about parts of changes; its editors are switched off, so that it would take over a rebase as it is.
func (c call) git() string {
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
			return "git " + rest[0] + " -p asks about each part, and there is nobody to answer; name the files, or use git apply --cached"
		}
	case "difftool", "mergetool", "gui", "citool":
		return "git " + rest[0] + " opens a program for people; use git diff, or edit the file"
	}
	return ""
}

// prompt is about what reads commands when it gets none.
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
				return interactive(c.words[i+1])
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
