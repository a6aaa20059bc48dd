package app

import (
	"crypto/rand"
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

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Bounds is what work in a directory may touch: the same for tools and for commands.
type Bounds struct {
	Root      string   // absolute, links resolved
	Roots     []string // further directories that count as inside
	Hidden    []string // what nobody may read
	Protected []string // what may be read but not written
	Home      string
	Outputs   string // where the whole of long outputs of commands is kept; made when it is needed

	// Sandbox confines commands; nil: the person has switched it off, and Off says where.
	Sandbox *sandbox.Policy
	Off     string
}

// Bounds returns the bounds of work in a directory, which is absolute with its links resolved.
func (s *Setup) Bounds(dir string) Bounds {
	c := &s.Config.Sandbox
	b := Bounds{Root: dir, Home: s.home(), Roots: s.paths(dir, s.Config.Roots), Outputs: outputs()}
	b.Hidden = s.paths(dir, c.Hidden)
	if b.Home != "" {
		b.Hidden = append(b.Hidden, sandbox.DefaultHidden(b.Home)...)
	}
	b.Hidden = slices.DeleteFunc(append(b.Hidden, s.own()...), func(name string) bool { return holds(name, dir) })
	slices.Sort(b.Hidden)
	b.Hidden = slices.Compact(b.Hidden)
	b.Protected = s.paths(dir, c.Protected)
	var writable, absent []string
	for _, root := range append([]string{dir}, b.Roots...) {
		p := sandbox.ForProject(root)
		writable, absent = append(writable, p.Writable...), append(absent, p.Absent...)
		b.Protected = append(b.Protected, p.Protected...)
	}
	writable = append(writable, s.paths(dir, c.Writable)...)
	if c.Enabled == nil || *c.Enabled {
		b.Sandbox = &sandbox.Policy{
			Writable: writable, Protected: slices.Clone(b.Protected), Absent: absent, Hidden: b.Hidden,
			Readable: append(homeInTemp(b.Home, writable), b.Outputs),
			Network:  sandbox.Network{Open: slices.Contains(c.Network, "*"), Hosts: c.Network},
			Caches:   s.caches(dir), Partial: true,
			Limits: sandbox.Limits{Processes: c.Processes, Memory: c.Memory},
		}
	}
	if b.Sandbox == nil {
		b.Off = "the sandbox is switched off by sandbox.enabled in " + s.origin("sandbox.enabled")
	}
	b.Protected = append(b.Protected, absent...) // a tool makes none of them either
	return b
}

// There checks that the roots of the configuration are there. The first that is not is a [*config.Error] with its place.
func (s *Setup) There(b Bounds) error {
	for i, root := range b.Roots {
		info, err := os.Stat(root)
		if err == nil && info.IsDir() {
			continue
		}
		what := root + " is no directory"
		if errors.Is(err, fs.ErrNotExist) {
			what = root + " is not there"
		} else if err != nil {
			what = err.Error()
		}
		return s.Config.Mistake(s.Config.UserFile, fmt.Sprintf("roots[%d]", i), what+"; make the directory, or take it out of the list")
	}
	return nil
}

// home is the home directory of the person: as the environment says or, where it says nothing, as the system does. A service without
// HOME has the same secrets there.
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

// outputs is a name for a private directory that nobody has yet.
func outputs() string {
	temp := os.TempDir()
	if real, err := filepath.EvalSymlinks(temp); err == nil {
		temp = real
	}
	const random = 12 // letters and digits
	return filepath.Join(temp, "tenon-output-"+strings.ToLower(rand.Text()[:random]))
}

// homeInTemp is a home directory that lies where temporary files are covered, such as that of a test or a container. Commands read
// it as they do in any other place: git finds its settings, and secrets stay hidden.
func homeInTemp(home string, writable []string) []string {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	in := func(dir string) bool { return holds(dir, home) }
	for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
		if home != dir && in(dir) && !slices.ContainsFunc(writable, in) {
			return []string{home}
		}
	}
	return nil
}

// origin is where the configuration sets a key.
func (s *Setup) origin(key string) string {
	for _, o := range s.Config.Origins() {
		if o.Key == key {
			return o.Where
		}
	}
	return "the configuration"
}

// in is the bounds in a mode: in yolo there are none but the rules.
func (b Bounds) in(mode permission.Mode) Bounds {
	if mode == permission.Yolo {
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

// own is what Tenon keeps to itself: the configuration with its keys, and the sessions. Where such a directory holds the home directory
// too, it is what Tenon has in it.
func (s *Setup) own() []string {
	var out []string
	data, _ := DataDir(s.getenv)
	for dir, names := range map[string][]string{
		s.Dir: {"tenon.json", "keys.json", "trust.json"},
		data:  {databaseName, databaseName + "-wal", databaseName + "-shm", checkpointsName, "artifacts"},
	} {
		switch {
		case dir == "":
		case holds(dir, s.home()):
			for _, name := range names {
				out = append(out, filepath.Join(dir, name))
			}
		default:
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// holds reports whether a directory lies in another one, or is it: who works there wants to see it.
func holds(outer, dir string) bool {
	rel, err := filepath.Rel(outer, dir)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// caches is where the toolchains of confined commands keep what they build, a directory for each workspace: what a project leaves in
// it is used by no other.
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
