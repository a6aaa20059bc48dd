package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/permission"
)

// FileName is the name of a configuration file.
const FileName = "tenon.json"

// Options set where Load looks. With the zero value, Load finds only the built-in defaults.
type Options struct {
	Dir     string // the user's directory, from UserDir; "": no user's file
	File    string // the user's file; default: tenon.json in Dir
	WorkDir string // the directory where the search for a project begins; "": no project
	Getenv  func(string) string

	// Trusted makes Load read the project's file as if its folder were trusted, to inspect its settings.
	Trusted bool

	// Providers are the names of the built-in providers. If the list is not empty, a reference to a provider that is
	// neither built in nor configured is an error.
	Providers []string
}

// Config holds the merged layers. The caller owns it and may change the Settings.
type Config struct {
	Settings

	UserFile    string   // the user's file, whether it exists or not
	Root        string   // the project's root: see ProjectRoot
	ProjectFile string   // the project's file, if Load has merged it
	Inert       string   // the project's file, if Load has not merged it because its folder is not trusted
	Warnings    []string // the ignored settings, each with its position
	Claude      []ClaudeFile

	MCPFile  string // the .mcp.json of the project, if there is one
	MCPInert bool   // MCPFile has no effect because its folder is not trusted

	// OwnMode is permissions.mode without the project's file.
	OwnMode permission.Mode

	// Own holds the number of the user's elements, which come first, for each list that the project has extended.
	Own map[string]int

	// Variables are the names of the environment variables to which the files refer.
	Variables []string

	origins map[string]Origin
	offsets map[string]int // the offsets of the keys in the current file
	named   []named        // the providers, models, pools and profiles that the files name
}

// named is a name in a file that must exist.
type named struct {
	is   string // "provider" for a configured provider, else the rule of its value
	name string
	at   spot
}

// Origin is the origin of a value.
type Origin struct {
	Key   string `json:"key"`   // such as providers.openai.timeouts.idle
	Value string `json:"value"` // the displayed form, with secrets hidden
	Where string `json:"where"` // "default", "file:line", or the argument of Record
}

// UserDir returns the absolute path of the user's configuration directory: $TENON_CONFIG_DIR, or the usual directory of
// the operating system. The directory need not exist.
func UserDir(getenv func(string) string) (string, error) { return userDirOf(runtime.GOOS, getenv) }

func userDirOf(goos string, getenv func(string) string) (string, error) {
	if dir := getenv("TENON_CONFIG_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if goos == "windows" {
		if dir := getenv("AppData"); dir != "" {
			return filepath.Join(dir, "tenon"), nil
		}
		return "", errors.New("cannot determine the configuration directory: neither TENON_CONFIG_DIR nor AppData is set; set TENON_CONFIG_DIR to a directory")
	}
	// The specification requires Tenon to ignore a relative path: https://specifications.freedesktop.org/basedir-spec/latest/
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tenon"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "tenon"), nil
	}
	return "", errors.New("cannot determine the configuration directory: neither TENON_CONFIG_DIR nor HOME is set; set TENON_CONFIG_DIR to a directory")
}

// Load reads the files and merges them. It skips a file that does not exist. If the files contain mistakes, Load returns an
// [*Errors]. If Load cannot determine whether the project is trusted, it returns another error. The Config is nil in both
// cases. Load resolves no references.
func Load(o Options) (*Config, error) {
	c := &Config{origins: map[string]Origin{}}
	c.defaults()
	getenv := o.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	env := &environment{getenv: getenv, dir: o.Dir, timeout: commandTime}
	errs := &Errors{}
	if o.Dir != "" {
		c.UserFile = filepath.Join(o.Dir, FileName)
	}
	if c.UserFile = cmp.Or(o.File, c.UserFile); c.UserFile != "" {
		c.read(c.UserFile, env, false, errs)
	}
	c.OwnMode = c.Permissions.Mode
	if o.WorkDir != "" {
		if err := c.project(o, env, errs); err != nil {
			return nil, err
		}
	}
	c.checkNames(o.Providers, errs)
	if err := errs.orNil(); err != nil {
		return nil, err
	}
	c.Variables = env.refers
	c.offsets, c.named = nil, nil
	return c, nil
}

// defaults sets the weakest layer.
func (c *Config) defaults() {
	c.Limits.Cost = 20
	c.Permissions.Mode = permission.AskMode
	c.Sandbox.Processes = 4096
	c.Record("permissions.mode", c.Permissions.Mode, "default")
	c.Record("sandbox.processes", c.Sandbox.Processes, "default")
	c.Record("limits.cost", c.Limits.Cost, "default")
}

// project finds the project's file, and reads it if its folder is trusted.
func (c *Config) project(o Options, env *environment, errs *Errors) error {
	root, files := findProject(o.WorkDir, c.UserFile)
	c.Root = root
	trusted := sync.OnceValues(func() (bool, error) {
		if o.Trusted || o.Dir == "" {
			return o.Trusted, nil
		}
		return NewTrustStore(o.Dir).Trusted(root)
	})
	if err := c.projectFile(files, trusted, env, errs); err != nil {
		return err
	}
	if err := c.projectServers(trusted, env); err != nil {
		return err
	}
	return c.claude(o.WorkDir, trusted)
}

// projectFile reads the file of the project.
func (c *Config) projectFile(files []string, trusted func() (bool, error), env *environment, errs *Errors) error {
	if len(files) == 0 {
		return nil
	}
	ok, err := trusted()
	switch {
	case err != nil:
		return err
	case !ok:
		c.Inert = files[0]
	case len(files) > 1:
		errs.add(&Error{File: files[0], Message: "the project also has " + files[1] + "; keep one of them"})
	default:
		c.ProjectFile = files[0]
		c.read(files[0], env, true, errs)
	}
	return nil
}

func (c *Config) read(file string, env *environment, project bool, errs *Errors) {
	src, err := readSource(file)
	if err != nil {
		if wrong, ok := errors.AsType[*Error](err); ok {
			errs.add(wrong)
		}
		return
	}
	c.offsets = map[string]int{}
	d := &decoder{
		source: src, config: c, env: env, project: project, errs: errs,
		fields: map[reflect.Type][]field{}, set: map[string]bool{},
	}
	d.file()
}

// alone is the only reference that consists of a provider without a model.
const alone = "offline"

// checkNames checks that the named providers, models, pools and profiles exist.
func (c *Config) checkNames(builtin []string, errs *Errors) {
	for _, n := range c.named {
		if errs.full() {
			return
		}
		known := len(builtin) == 0 || slices.Contains(builtin, n.name)
		switch n.is {
		case "provider":
			if !known {
				c.checkProvider(n, builtin)
			}
		case "profile":
			if !known {
				errs.add(n.at.error(fmt.Sprintf("there is no profile %s%s; write the name of a built-in provider",
					clip(n.name), meant(n.name, builtin))))
			}
		default:
			c.checkModel(n, builtin, errs)
		}
	}
}

func (c *Config) checkModel(n named, builtin []string, errs *Errors) {
	provider, _, ref := strings.Cut(n.name, "/")
	if _, there := c.Pools[n.name]; !ref && !there && n.name != alone {
		errs.add(n.at.error(fmt.Sprintf("there is no pool %s%s; write provider/model, or add the pool",
			clip(n.name), meant(n.name, sortedKeys(c.Pools)))))
	}
	if _, there := c.Providers[provider]; ref && !there && len(builtin) > 0 && !slices.Contains(builtin, provider) {
		known := slices.Concat(builtin, sortedKeys(c.Providers))
		errs.add(n.at.error(fmt.Sprintf("there is no provider %s%s; add it to providers in %s",
			clip(provider), meant(provider, known), c.UserFile)))
	}
}

// checkProvider warns about a provider whose name is probably misspelled. Its settings would have no effect.
func (c *Config) checkProvider(n named, builtin []string) {
	p := c.Providers[n.name]
	if near := meant(n.name, builtin); near != "" && !p.BaseURL.IsSet() && p.Protocol == "" && p.Profile == "" {
		c.Warnings = append(c.Warnings, n.at.error("is not built in and has no base_url"+near).Error())
	}
}

// Record stores the value and the origin of a key that the caller has set. The origin is a text such as "TENON_MODEL" or
// "--model". [Config.Origins] returns the value as fmt prints it.
func (c *Config) Record(key string, value any, where string) {
	c.origins[key] = Origin{Key: key, Value: fmt.Sprint(value), Where: where}
}

// Origins returns each set key with its value and its origin, sorted by key.
func (c *Config) Origins() []Origin {
	out := make([]Origin, 0, len(c.origins))
	for _, key := range slices.Sorted(maps.Keys(c.origins)) {
		out = append(out, c.origins[key])
	}
	return out
}

// Mistake returns an error for a mistake that only the caller can find, at a key such as "permissions.deny[1]" that a file has set. If a
// project extends a list, the index counts from the project's first element.
func (c *Config) Mistake(file, key, message string) *Error {
	e := &Error{File: file, Key: key, Message: message}
	list, index, element := strings.Cut(strings.TrimSuffix(key, "]"), "[")
	if i, err := strconv.Atoi(index); element && err == nil && file == c.ProjectFile {
		key = fmt.Sprintf("%s[%d]", list, i+c.Own[list])
	}
	for _, o := range c.Origins() { // a key precedes the keys inside it
		if line, here := strings.CutPrefix(o.Where, file+":"); here && (o.Key == key || o.Key == list || strings.HasPrefix(o.Key, key+".")) {
			e.Line, _ = strconv.Atoi(line) // Load has formatted it
			break
		}
	}
	return e
}

// ProjectRoot returns the root of the project that contains dir. It searches dir and its parents, up to the nearest folder
// with a .git, and returns the nearest folder with a tenon.json or a .tenon/tenon.json. If there is no such file, it returns
// the folder with the .git. If there is no .git, it looks only in dir and returns dir, because other people may own the
// parents.
func ProjectRoot(dir string) string {
	root, _ := findProject(dir, "")
	return root
}

// findProject returns the root of the project and its configuration files, without the user's file.
func findProject(dir, userFile string) (root string, files []string) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	top := dir
	for at := dir; ; at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) {
			top = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range []string{FileName, filepath.Join(".tenon", FileName)} {
			if file := filepath.Join(at, name); exists(file) && !same(file, userFile) {
				files = append(files, file)
			}
		}
		if len(files) > 0 {
			return at, files
		}
		if at == top {
			return top, nil
		}
	}
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil || b == "" {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
