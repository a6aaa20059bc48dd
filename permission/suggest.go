package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Programs that run their arguments or input: a rule that allows one allows everything, so Tenon suggests none.
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
	// Programs with subcommands: a rule for a subcommand with any further arguments is useful.
	grouped = strings.Fields(`git go npm pnpm yarn cargo pip pip3 uv poetry bundle gem dotnet gh glab terraform mix composer brew`)
)

// suggest makes rules that would allow the call, from the rules for each need, and tries them.
func (j *judgement) suggest() []Suggestion {
	var narrow, wide []Rule
	for i := range j.needs {
		n, f := &j.needs[i], &j.found[i]
		if f.action != Ask {
			continue
		}
		if f.rule != nil {
			return nil // an ask rule beats allow rules
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

// with adds a rule if it is missing.
func (j *judgement) with(rules []Rule, text string) []Rule {
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.Text() == text }) {
		return rules
	}
	r, err := ParseRule(Allow, Session, text, j.policy.options.Tools...)
	if err != nil {
		return append(rules, Rule{}) // matches nothing, so the trial of the suggestion fails
	}
	return append(rules, r)
}

// would reports whether the rules would allow the call.
func (j *judgement) would(rules []Rule) bool {
	if len(rules) == 0 || slices.ContainsFunc(rules, func(r Rule) bool { return r.tool == "" }) {
		return false
	}
	return j.allowed(j.policy.With(rules...), j.mode)
}

// wants returns the rules for one need, the narrowest and a wider one, "" for none.
func (j *judgement) wants(n *need) (narrow, wide string) {
	switch n.kind {
	case unknownCommand, unreadable, destroys, destroysFiles, discards, chained, leaves, writeProtected, hidden:
		return "", ""
	case unconfined:
		return j.free()
	case unknownTool:
		for kind, language := range vocabulary {
			if rest, ok := strings.CutPrefix(j.call.Tool, kind+"__"); ok && language == serving {
				server, name, _ := strings.Cut(rest, "__")
				return same(kind + "(" + server + "/" + name + ")")
			}
		}
		return same(j.call.Tool)
	case startsAgents:
		if name := j.call.agent(); name != "" {
			return same("agent(" + name + ")")
		}
		return "", ""
	}
	switch {
	case n.host != "" && (n.command == noCommand || onlyHosts(j.needs, j.found, n.command)):
		return same("fetch(" + n.host + ")")
	case n.command != noCommand && n.own:
		return j.line(&j.analysis.Commands[n.command], "shell")
	case n.path != "":
		return j.place(n)
	}
	return "", ""
}

// onlyHosts reports whether a command needs approval for its hosts alone.
func onlyHosts(needs []need, found []ruling, command int) bool {
	for i, n := range needs {
		if n.command == command && n.host == "" && found[i].action == Ask {
			return false
		}
	}
	return true
}

func same(text string) (narrow, wide string) { return text, text }

// free returns the rules for a line outside the sandbox, if it is one command.
func (j *judgement) free() (narrow, wide string) {
	if len(j.analysis.Commands) != 1 || len(j.analysis.Problems) > 0 {
		return "", ""
	}
	return j.line(&j.analysis.Commands[0], "unconfined")
}

// line returns the rules for a command: exactly it, and with any further arguments if that is useful.
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

// quoted quotes a word for a pattern; "" if that is impossible.
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

// place returns the rules for a file: the file, and for changes in the workspace its directory.
func (j *judgement) place(n *need) (narrow, wide string) {
	verb := "read"
	if n.write {
		verb = "write"
	}
	name := filepath.ToSlash(n.path)
	root := j.policy.options.Root
	rel, inside := paths.Rel(root, n.path)
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
