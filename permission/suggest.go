package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
)

// Programs that run whatever they are given: a rule that allows one allows everything. None is suggested for them.
var (
	runners = strings.Fields(`sh bash dash zsh fish ksh ash busybox python python2 python3 pypy ruby perl lua node deno bun php java
		jshell groovy scala kotlin swift Rscript R julia ghci runghc erl elixir iex osascript pwsh powershell cmd awk gawk mawk nawk sed
		env nohup timeout nice ionice chrt time xargs parallel find fd watch entr sudo doas su runuser ssh mosh chroot unshare nsenter
		docker podman nerdctl kubectl lxc vagrant flatpak systemd-run at batch crontab eval exec source . command builtin trap alias
		npx pnpx bunx uvx pipx tclsh expect gdb lldb strace ltrace script setsid stdbuf tmux screen nvim vim vi ex ed emacs
		make gmake ninja just task rake ant psql mysql sqlite3 rsync tar scp sftp git-shell nix nix-shell rm rmdir dd mkfs shred kill pkill killall`)
	running2 = strings.Fields(`go:run go:generate go:tool npm:exec npm:x npm:explore pnpm:exec pnpm:dlx yarn:exec yarn:dlx yarn:node
		uv:run poetry:run pipenv:run hatch:run conda:run cargo:run bundle:exec bun:run bun:x dotnet:run dotnet:exec mix:run stack:exec
		cabal:exec git:config git:filter-branch git:bisect git:submodule git:rebase git:difftool git:mergetool git:clean git:reset`)
	// Programs whose first argument says what they do: with it any further arguments are useful to allow.
	grouped = strings.Fields(`git go npm pnpm yarn cargo pip pip3 uv poetry bundle gem dotnet gh glab terraform mix composer brew`)
)

// suggest finds what would allow the call. It is made of the rules that each need wants, and tried.
func (j *judgement) suggest() []Suggestion {
	var narrow, wide []Rule
	for i := range j.needs {
		n, f := &j.needs[i], &j.found[i]
		if f.verdict != Ask {
			continue
		}
		if f.rule != nil {
			return nil // a rule that asks is stronger than one that allows
		}
		a, b := j.wants(n)
		if a == "" {
			return nil
		}
		narrow, wide = j.with(narrow, a), j.with(wide, b)
	}
	var all []Suggestion
	for _, rules := range [][]Rule{narrow, wide} {
		s := Suggestion{rules}
		if j.would(rules) && !slices.ContainsFunc(all, func(t Suggestion) bool { return t.Words() == s.Words() }) {
			all = append(all, s)
		}
	}
	return all
}

// with adds a rule that is not there yet.
func (j *judgement) with(rules []Rule, text string) []Rule {
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.Text() == text }) {
		return rules
	}
	r, err := ParseRule(Allow, Session, text, j.policy.options.Tools...)
	if err != nil {
		return append(rules, Rule{}) // which allows nothing, so that the suggestion fails its trial
	}
	return append(rules, r)
}

// would reports whether the call runs with the rules.
func (j *judgement) would(rules []Rule) bool {
	if len(rules) == 0 || slices.ContainsFunc(rules, func(r Rule) bool { return r.tool == "" }) {
		return false
	}
	other := judgement{policy: j.policy.With(rules...), call: j.call, mode: j.mode, analysis: j.analysis, needs: j.needs, mentioned: j.mentioned}
	for i := range other.needs {
		if other.rule(&other.needs[i]).verdict != Allow {
			return false
		}
	}
	return true
}

// wants returns the rules for one need, the narrowest and a wider one, "" when none is to be suggested.
func (j *judgement) wants(n *need) (narrow, wide string) {
	switch n.kind {
	case unknownCommand, unreadable, destroys, destroysFiles, chained, leaves, writeProtected, hidden:
		return "", ""
	case unconfined:
		return j.free()
	case unknownTool:
		if rest, ok := strings.CutPrefix(j.call.Tool, "mcp__"); ok {
			server, name, _ := strings.Cut(rest, "__")
			return same("mcp(" + server + "/" + name + ")")
		}
		return same(j.call.Tool)
	case startsAgents:
		if name := j.call.agent(); name != "" {
			return same("agent(" + name + ")")
		}
		return "", ""
	}
	switch {
	case n.command != noCommand && n.own:
		return j.line(&j.analysis.Commands[n.command], "shell")
	case n.path != "":
		return j.place(n)
	case n.host != "":
		return same("fetch(" + n.host + ")")
	}
	return "", ""
}

func same(text string) (narrow, wide string) { return text, text }

// free is the rules for a line outside the sandbox: for one command alone.
func (j *judgement) free() (narrow, wide string) {
	if len(j.analysis.Commands) != 1 || len(j.analysis.Problems) > 0 {
		return "", ""
	}
	return j.line(&j.analysis.Commands[0], "unconfined")
}

// line is the rules for a command: exactly it, and where that is of use, with any further arguments.
func (j *judgement) line(c *command.Command, tool string) (narrow, wide string) {
	if len(c.Words) == 0 || len(c.Dynamic) > 0 || c.Adds != 0 || c.Does&(command.Unknown|command.Destroys) != 0 {
		return "", ""
	}
	name := path.Base(c.Words[0])
	if slices.Contains(runners, strings.TrimRight(name, "0123456789.")) || slices.Contains(runners, name) {
		return "", ""
	}
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		if words[i] = quoted(w); words[i] == "" {
			return "", ""
		}
	}
	if len(words) > 1 && slices.Contains(running2, name+":"+c.Words[1]) {
		return "", ""
	}
	narrow = tool + "(" + strings.Join(words, " ") + ")"
	if len(words) > 1 && slices.Contains(grouped, c.Words[0]) && words[1] == c.Words[1] && !strings.HasPrefix(words[1], "-") {
		k := 2
		if words[1] == "run" && len(words) > 2 { // npm run build
			k = 3
		}
		return narrow, tool + "(" + strings.Join(words[:k], " ") + " *)"
	}
	return same(narrow)
}

// quoted writes a word for a pattern; "" when it cannot be written.
func quoted(w string) string {
	switch {
	case strings.ContainsFunc(w, func(r rune) bool { return r < ' ' || r == star || r == one || r == 0xFFFD }):
		return ""
	case w != "" && !strings.ContainsAny(w, " *?'\"\\()`;&|"):
		return w
	case strings.Contains(w, "'"):
		return ""
	}
	return "'" + w + "'"
}

// place is the rules for a file: it alone, and for changes in the workspace the directory that it is in.
func (j *judgement) place(n *need) (narrow, wide string) {
	verb := "read"
	if n.write {
		verb = "write"
	}
	name := filepath.ToSlash(n.path)
	root := j.policy.options.Root
	rel, inside := below(root, n.path)
	if inside && root != "" {
		name = filepath.ToSlash(rel)
	}
	if name == "." || name == "/" || hasMeta(name) || strings.ContainsAny(name, ")\n\r") || strings.HasPrefix(name, "!") || strings.HasPrefix(name, "~") || strings.TrimSpace(name) != name {
		return "", ""
	}
	dir := path.Dir(name)
	if inside && !strings.Contains(name, "/") {
		name = "./" + name
	}
	narrow = verb + "(" + name + ")"
	if dir == "." || dir == "/" || n.tree || n.write && !inside {
		return same(narrow)
	}
	return narrow, verb + "(" + dir + "/**)"
}
