package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/gitdir"
	"github.com/tenon-agent/tenon/workspace/host"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Bounds are the paths and hosts that tools and commands in a directory may touch. Root is absolute, with its links resolved.
type Bounds struct {
	paths.Bounds
	Home string

	// Sandbox confines commands; nil: the person has disabled it, and Off says where.
	Sandbox *sandbox.Policy
	Off     string

	Hosts []string // hosts that commands may reach, and tools without a question, as package host reads them
}

// Bounds returns the bounds of work in a directory, which is absolute with its links resolved.
func (s *Setup) Bounds(dir string) Bounds {
	c := &s.Config.Sandbox
	b := Bounds{Bounds: paths.Bounds{Root: dir, Roots: s.paths(dir, s.Config.Roots)}, Home: s.home(), Hosts: c.Network}
	b.Hidden = s.paths(dir, c.Hidden)
	if b.Home != "" {
		b.Hidden = append(b.Hidden, sandbox.DefaultHidden(b.Home)...)
	}
	b.Hidden = slices.DeleteFunc(append(b.Hidden, s.own()...), func(name string) bool { return paths.Inside(name, dir) })
	slices.Sort(b.Hidden)
	b.Hidden = slices.Compact(b.Hidden)
	b.Protected = s.paths(dir, c.Protected)
	var writable, absent, git []string
	for _, root := range append([]string{dir}, b.Roots...) {
		p := sandbox.ForProject(root)
		writable, absent = append(writable, p.Writable...), append(absent, p.Absent...)
		b.Protected = append(b.Protected, p.Protected...)
		if p.Git != "" {
			git = append(git, p.Git)
		}
	}
	writable = append(writable, s.paths(dir, c.Writable)...)
	if c.Enabled == nil || *c.Enabled {
		b.Sandbox = &sandbox.Policy{
			Writable: writable, Protected: slices.Clone(b.Protected), Absent: absent, Hidden: b.Hidden, Git: git,
			Readable: append(sandbox.Toolchains(b.Home, s.getenv), s.paths(dir, c.Readable)...),
			Homes:    homes(s.getenv, b.Home), Files: plainFiles(s.getenv, b.Home),
			Keep: c.Env, Secret: s.secretVars(),
			Network: network(b.Hosts), Loopback: new(sandbox.Loopback),
			Temp: scratchOf(s.getenv), Caches: s.caches(dir), Partial: true,
			Limits: sandbox.Limits{Processes: c.Processes, Memory: c.Memory},
		}
	}
	if b.Sandbox == nil {
		b.Off = "the sandbox is switched off by sandbox.enabled in " + s.origin("sandbox.enabled")
	}
	b.Protected = append(b.Protected, absent...) // a tool does not create them either
	return b
}

// secretVars returns the variables that commands never get.
func (s *Setup) secretVars() []string {
	if s.Models == nil { // the configuration is only checked
		return s.Config.Variables
	}
	return append(s.Models.SecretVars(), s.Config.Variables...)
}

func network(hosts []string) sandbox.Network {
	return sandbox.Network{Open: slices.Contains(hosts, "*"), Hosts: hosts}
}

// hosts returns the parsed Hosts. The policy of the bounds has reported wrong ones.
func (b Bounds) hosts() host.List {
	list, _ := host.Parse(b.Hosts...)
	return list
}

// Reach returns bounds with further hosts, such as those of a flag.
func (b Bounds) Reach(more []string) Bounds {
	if len(more) == 0 {
		return b
	}
	return b.reaching(slices.Concat(b.Hosts, more))
}

func (b Bounds) reaching(hosts []string) Bounds {
	b.Hosts = hosts
	if b.Sandbox != nil {
		b.Sandbox = b.Sandbox.Show() // a copy
		b.Sandbox.Network = network(hosts)
	}
	return b
}

// configured returns the bounds of undo for a session that no agent has open: those of the configuration for its directory.
func configured(getenv func(string) string, version string) undo.Bounds {
	return func(dir string) (workspace.Options, error) {
		s, err := NewSetup(getenv, ProjectOf(dir), version)
		if err != nil {
			return workspace.Options{}, err
		}
		b := s.Bounds(ProjectOf(dir))
		roots := slices.DeleteFunc(b.Roots, func(root string) bool { info, err := os.Stat(root); return err != nil || !info.IsDir() })
		return workspace.Options{Roots: roots, Hidden: b.Hidden, Protected: b.Protected}, nil
	}
}

// There checks that the roots of the configuration exist. The error is a [*config.Error] with the position of the first root that does not.
func (s *Setup) There(b Bounds) error {
	for i, root := range b.Roots {
		info, err := os.Stat(root)
		if err == nil && info.IsDir() {
			continue
		}
		what := root + " is not a directory"
		if errors.Is(err, fs.ErrNotExist) {
			what = root + " does not exist"
		} else if err != nil {
			what = err.Error()
		}
		return s.Config.Mistake(s.Config.UserFile, fmt.Sprintf("roots[%d]", i), what+"; create the directory, or remove it from the list")
	}
	return nil
}

// home returns the home directory of the person: HOME or, if it is empty, the home directory of the account. A service without HOME has
// the same secrets there.
func (s *Setup) home() string {
	if home := s.getenv("HOME"); home != "" {
		return home
	}
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// homes returns the directories that are empty for commands: the home directory, that of the account, and the directories for settings and
// data outside of them.
func homes(getenv func(string) string, home string) []string {
	all := []string{home}
	if u, err := user.Current(); err == nil {
		all = append(all, u.HomeDir)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		all = append(all, getenv(name))
	}
	return slices.DeleteFunc(all, func(dir string) bool { return !filepath.IsAbs(dir) || dir == "/" })
}

// plainFiles returns the files of a home directory with other contents for commands: the settings of git without programs and secrets.
func plainFiles(getenv func(string) string, home string) map[string]string {
	config := getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	var settings []byte
	for _, name := range []string{filepath.Join(config, "git", "config"), filepath.Join(home, ".gitconfig")} {
		text, _ := os.ReadFile(name) // git fails there, too, if it matters
		settings = append(settings, gitdir.Personal(text)...)
	}
	return map[string]string{filepath.Join(home, ".gitconfig"): string(settings)}
}

// origin returns the position at which the configuration sets a key.
func (s *Setup) origin(key string) string {
	for _, o := range s.Config.Origins() {
		if o.Key == key {
			return o.Where
		}
	}
	return "the configuration"
}

// in returns the bounds in a mode. A free mode, such as yolo, has no bounds except the rules.
func (b Bounds) in(mode permission.Mode) Bounds {
	if mode.Free() {
		b.Hidden, b.Protected, b.Sandbox = nil, nil, nil
	}
	return b
}

// paths makes paths of a configuration absolute.
func (s *Setup) paths(dir string, names []string) []string {
	var out []string
	for _, name := range names {
		switch rest, home := strings.CutPrefix(name, "~/"); {
		case home || name == "~":
			name = filepath.Join(s.home(), strings.TrimPrefix(rest, "~"))
		case !filepath.IsAbs(name):
			name = filepath.Join(dir, name)
		}
		out = append(out, filepath.Clean(name))
	}
	return out
}

// own returns the paths that only Tenon may touch: the configuration with its keys, and the sessions. If such a directory contains the home
// directory, own returns only Tenon's files in it.
func (s *Setup) own() []string {
	var out []string
	data, _ := DataDir(s.getenv)
	for dir, names := range map[string][]string{
		s.Dir: {"tenon.json", "keys.json", "trust.json"},
		data:  {databaseName, databaseName + "-wal", databaseName + "-shm", conversation.ContentsName, conversation.BaselinesName, attach.DirName, worktreesName, mcpName, apisName},
	} {
		switch {
		case dir == "":
		case paths.Inside(dir, s.home()):
			for _, name := range names {
				out = append(out, filepath.Join(dir, name))
			}
		default:
			out = append(out, dir)
		}
	}
	if data != "" {
		out = append(out, attach.Dir(data)) // also if it is elsewhere
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// scratchOf returns the directory for temporary files of a session that has not begun.
func scratchOf(getenv func(string) string) string {
	data, err := DataDir(getenv)
	if err != nil {
		return ""
	}
	d := conversation.Data{Dir: data}
	return filepath.Join(d.Contents("new"), scratchName)
}

// caches returns the directory for the build caches of confined commands. Each workspace has its own directory, so that no project uses the
// cache of another.
func (s *Setup) caches(dir string) string {
	base := s.getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) {
		if s.getenv("HOME") == "" {
			return ""
		}
		base = filepath.Join(s.getenv("HOME"), ".cache")
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(base, "tenon", "sandbox", hex.EncodeToString(sum[:8]))
}
