package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tenon-agent/tenon/tool"
)

// interactive returns advice for a command line that waits for a person at a terminal, or does nothing without one. It returns "" for other
// commands, for those that report the missing terminal themselves, and for command lines that the parser rejects.
func interactive(file *syntax.File) (advice string) {
	if file == nil {
		return ""
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && advice == "" {
			advice = call{words: words(c), assigns: c.Assigns}.advice()
		}
		return true
	})
	return advice
}

// parsed is the syntax tree of a command line: that of the analysis in its effects, if there is one. It is nil if the line cannot be parsed.
func parsed(e tool.Effects) *syntax.File {
	if a, ok := e.Analysis.(interface{ Tree() *syntax.File }); ok {
		return a.Tree()
	}
	line := e.Command
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

// call is one command.
type call struct {
	words   []string
	assigns []*syntax.Assign
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
		if slices.Contains(strings.Fields(h.programs), c.words[0]) && !c.has(strings.Fields(h.options)...) && !(h.letters != "" && c.letter(h.letters)) {
			return c.refuse(h.instead)
		}
	}
	if advice := c.special(); advice != "" {
		return advice
	}
	return c.git()
}

type habit struct {
	programs string
	options  string // with one of these, a program needs no terminal
	letters  string // the same for short options, also in groups such as -it
	instead  string // advice
}

func habits() []habit {
	const edit, processes = "use the tools for files, or a command such as sed", "use top -b -n 1, or ps"
	return []habit{
		{"emacs", "--batch -batch --script", "", "use the tools for files, or --batch"},
		{"nano pico micro hx helix joe mcedit", "", "", edit},
		{"less more most", "", "", "use read, cat, head or tail"},
		{"top", "", "bl", processes},
		{"htop btop atop glances", "", "", processes},
		{"tig lazygit gitui", "", "", "use git log, git status or git diff"},
		{"ncdu mc ranger nnn", "", "", "use du or list"},
		{"fzf", "--filter", "f", "choose the answer yourself and pass it to the command"},
		{"dialog whiptail", "", "", "choose the answer yourself and pass it to the command"},
		{"watch", "", "", "run the command itself; to wait for something, start a background job"},
		{"passwd visudo vipw vigr chsh", "", "", "ask the user to do this"},
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
	}
	return ""
}

// git checks an interactive rebase, which would change nothing, because Tenon disables the editor of git.
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
	if sub := (call{words: rest}); rest[0] == "rebase" && !edited && sub.has("-i", "--interactive") {
		return "git rebase -i edits a list, and there is no editor; set GIT_SEQUENCE_EDITOR to a command that edits the file, or rebase without -i"
	}
	return ""
}
