package gitdir

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// setting is one line of git's settings. The section and the name are in lower case, as git compares them.
type setting struct {
	section, sub, name string
	value              string
	bare               bool // without "=": true
}

// key returns the setting's name with a star for the free part.
func (s setting) key() string {
	if s.sub == "" {
		return s.section + "." + s.name
	}
	return s.section + ".*." + s.name
}

func (s setting) String() string {
	if s.sub == "" {
		return fmt.Sprintf("%s.%s=%q", s.section, s.name, s.value)
	}
	return fmt.Sprintf("%s.%s.%s=%q", s.section, s.sub, s.name, s.value)
}

var errSyntax = errors.New("it cannot be read with certainty")

// parseConfig reads git's settings as git does, but gives up on everything that is not plain: signs that are not text, a byte
// order mark, a carriage return within a line.
func parseConfig(data []byte) ([]setting, error) {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f || r == '\ufeff' }) {
		return nil, errSyntax
	}
	p := configParser{text: text}
	var all []setting
	section, sub := "", ""
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\n':
			p.at++
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			if section, sub = p.header(); section == "" {
				return nil, errSyntax
			}
		case isLetter(c) && section != "":
			s, ok := p.setting()
			if !ok {
				return nil, errSyntax
			}
			s.section, s.sub = section, sub
			all = append(all, s)
		default:
			return nil, errSyntax
		}
	}
	return all, nil
}

type configParser struct {
	text string
	at   int
}

// line skips the rest of a line.
func (p *configParser) line() {
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		p.at += i
	} else {
		p.at = len(p.text)
	}
}

// next is the next sign, and a line's end at the end.
func (p *configParser) next() byte {
	if p.at >= len(p.text) {
		return '\n'
	}
	p.at++
	return p.text[p.at-1]
}

// header reads [section], [section.sub] or [section "sub"]; without a section it is none of them.
func (p *configParser) header() (section, sub string) {
	p.at++ // [
	start := p.at
	for p.at < len(p.text) && (isKeyChar(p.text[p.at]) || p.text[p.at] == '.') {
		p.at++
	}
	name := strings.ToLower(p.text[start:p.at])
	section, sub, dotted := strings.Cut(name, ".")
	switch c := p.next(); {
	case name == "" || dotted && sub == "":
		return "", ""
	case c == ']':
		return section, sub
	case c != ' ' && c != '\t' || dotted:
		return "", ""
	}
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.next() != '"' {
		return "", ""
	}
	var quoted strings.Builder
	for {
		c := p.next()
		if c == '"' {
			break
		}
		if c == '\\' {
			c = p.next()
		}
		if c == '\n' {
			return "", ""
		}
		quoted.WriteByte(c)
	}
	if quoted.Len() == 0 || p.next() != ']' {
		return "", "" // git accepts an empty one, too, and no program writes it
	}
	return section, quoted.String()
}

// setting reads a name and its value.
func (p *configParser) setting() (s setting, ok bool) {
	start := p.at
	for p.at < len(p.text) && isKeyChar(p.text[p.at]) {
		p.at++
	}
	s.name = strings.ToLower(p.text[start:p.at])
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	switch p.next() {
	case '\n':
		s.bare = true
		return s, true
	case '=':
		s.value, ok = p.value()
	}
	return s, ok
}

// value reads to the end of the line, or of the last of several.
func (p *configParser) value() (string, bool) {
	var b strings.Builder
	quoted, spaces := false, 0
	for {
		c := p.next()
		switch {
		case c == '\n':
			return b.String(), !quoted
		case !quoted && (c == ' ' || c == '\t'):
			if b.Len() > 0 {
				spaces++
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.line()
			continue
		}
		for ; spaces > 0; spaces-- {
			b.WriteByte(' ')
		}
		switch c {
		case '"':
			quoted = !quoted
			continue
		case '\\':
			switch c = p.next(); c {
			case '\n':
				if p.at >= len(p.text) {
					return "", false
				}
				continue
			case 't':
				c = '\t'
			case 'n':
				c = '\n'
			case '"', '\\':
			default:
				return "", false // also \b: a name with a backspace in it hides something
			}
		}
		b.WriteByte(c)
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isKeyChar(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

// writeConfig writes settings in a plain form.
func writeConfig(settings []setting) []byte {
	quote := strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n", "\t", "\\t").Replace
	var b strings.Builder
	for i, s := range settings {
		if i == 0 || s.section != settings[i-1].section || s.sub != settings[i-1].sub {
			if s.sub == "" {
				fmt.Fprintf(&b, "[%s]\n", s.section)
			} else {
				fmt.Fprintf(&b, "[%s \"%s\"]\n", s.section, strings.NewReplacer("\\", "\\\\", "\"", "\\\"").Replace(s.sub))
			}
		}
		if s.bare {
			fmt.Fprintf(&b, "\t%s\n", s.name)
		} else {
			fmt.Fprintf(&b, "\t%s = \"%s\"\n", s.name, quote(s.value))
		}
	}
	return []byte(b.String())
}

// harmless reports whether a setting can execute nothing and leads to no other settings. An unknown setting is not harmless. core.worktree is
// harmless if its path is.
func (s setting) harmless() bool {
	fits, known := plainSettings()[s.key()]
	if s.bare {
		return known && fits("\n") // which nothing but anything fits
	}
	return known && fits(s.value)
}

// Personal returns the settings of a person that commands in a sandbox see: names, and how git works, without aliases, other files, helpers,
// addresses and signatures. The filter of git-lfs stays, because commits would have other contents without it. If the settings cannot be read
// with certainty, there are none.
func Personal(data []byte) []byte {
	all, err := parseConfig(data)
	if err != nil {
		return nil
	}
	return writeConfig(slices.DeleteFunc(all, func(s setting) bool {
		switch key := s.key(); {
		case key == "safe.directory", key == "core.excludesfile", s.section == "filter" && s.sub == "lfs":
			return false
		case s.name == "gpgsign", key == "user.signingkey", s.sub != "":
			return true
		default:
			return !s.harmless()
		}
	}))
}

// plainSettings are the settings that git, its usual helpers and the forges write, each with its allowed values.
var plainSettings = sync.OnceValue(func() map[string]func(string) bool {
	all := map[string]func(string) bool{
		"core.fsmonitor": off, "branch.*.remote": plainURL, "branch.*.pushremote": plainURL, "remote.pushdefault": plainURL,
		"remote.*.url": plainURL, "remote.*.pushurl": plainURL, "submodule.*.url": plainURL,
		"submodule.*.update":    oneOf("checkout", "rebase", "merge", "none"),
		"extensions.refstorage": oneOf("files", "reftable"),
	}
	for _, key := range plainKeys {
		all[key] = anything
	}
	return all
})

var plainKeys = strings.Fields(`
	core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks
	core.autocrlf core.eol core.safecrlf core.whitespace core.worktree core.sharedrepository core.abbrev core.compression
	core.loosecompression core.bigfilethreshold core.quotepath core.sparsecheckout core.sparsecheckoutcone core.protecthfs
	core.protectntfs core.longpaths core.untrackedcache core.preloadindex core.trustctime core.checkstat core.splitindex
	core.multipackindex core.commitgraph core.warnambiguousrefs core.hidedotfiles core.prefersymlinkrefs core.fscache
	user.name user.email user.useconfigonly user.signingkey author.name author.email committer.name committer.email
	commit.gpgsign tag.gpgsign push.gpgsign init.defaultbranch
	branch.*.merge branch.*.rebase branch.*.description branch.*.vscode-merge-base branch.*.gh-merge-base
	branch.autosetupmerge branch.autosetuprebase branch.sort tag.sort
	remote.*.fetch remote.*.push remote.*.mirror remote.*.tagopt remote.*.prune remote.*.prunetags remote.*.promisor
	remote.*.partialclonefilter remote.*.skipdefaultupdate remote.*.skipfetchall remote.*.gh-resolved
	submodule.*.active submodule.*.path submodule.*.branch submodule.*.ignore submodule.*.shallow submodule.*.fetchrecursesubmodules
	submodule.active submodule.recurse submodule.fetchjobs submodule.propagatebranches submodule.alternatelocation
	submodule.alternateerrorstrategy
	extensions.objectformat extensions.compatobjectformat extensions.worktreeconfig extensions.partialclone extensions.noop
	extensions.preciousobjects extensions.relativeworktrees
	pull.rebase pull.ff push.default push.autosetupremote push.followtags fetch.prune fetch.prunetags fetch.writecommitgraph
	merge.ff merge.conflictstyle rebase.autostash rebase.autosquash rerere.enabled rerere.autoupdate gc.auto gc.autodetach
	maintenance.auto maintenance.autodetach maintenance.strategy index.version index.threads index.sparse index.skiphash
	diff.renames diff.algorithm diff.mnemonicprefix diff.noprefix log.date log.follow status.showuntrackedfiles
	status.submodulesummary receive.denycurrentbranch receive.denynonfastforwards receive.denydeletes checkout.defaultremote
	worktree.guessremote worktree.userelativepaths lfs.repositoryformatversion lfs.*.access
	advice.detachedhead advice.addignoredfile advice.defaultbranchname advice.statushints
`)

func anything(string) bool { return true }

func off(value string) bool {
	return slices.Contains([]string{"", "false", "no", "off", "0"}, strings.ToLower(value))
}

func oneOf(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, value) }
}

// plainURL reports whether a repository's address is one that git fetches itself: no helper, which is a program, and no host that
// a program would take for an option. A path is one, too.
func plainURL(value string) bool {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if value == "" || value[0] == '-' || strings.Contains(value, "::") || strings.ContainsFunc(value, control) {
		return false
	}
	scheme, rest, ok := strings.Cut(value, "://")
	if ok {
		if !slices.Contains([]string{"https", "http", "ssh", "git", "git+ssh", "ssh+git", "ftp", "ftps", "file"}, strings.ToLower(scheme)) {
			return false
		}
	} else {
		rest = value
	}
	host, _, _ := strings.Cut(rest, "/")
	return !strings.HasPrefix(host[strings.LastIndexByte(host, '@')+1:], "-")
}

// localURL returns the path that an address is, if it is one.
func localURL(value string) (path string, ok bool) {
	if rest, file := strings.CutPrefix(value, "file://"); file {
		return rest, true
	}
	colon, slash := strings.IndexByte(value, ':'), strings.IndexByte(value, '/')
	return value, value != "" && (colon < 0 || slash >= 0 && slash < colon)
}
