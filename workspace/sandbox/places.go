//go:build linux || darwin

package sandbox

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// proxies returns the settings by which well-known programs find the proxy, in addition to env. npm, pip, cargo, git and go read the general names.
func proxies(number int, hosts []string, relayed bool, env []string) []string {
	port := strconv.Itoa(number)
	http, java := "http://127.0.0.1:"+port, ""
	for _, scheme := range []string{"http", "https"} {
		java += " -D" + scheme + ".proxyHost=127.0.0.1 -D" + scheme + ".proxyPort=" + port
	}
	set := []string{"NODE_USE_ENV_PROXY=1", "PIP_RETRIES=1"} // pip asks again after a refusal of the proxy, too
	for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS"} {
		set = append(set, name+"="+strings.TrimSpace(value(env, name)+java))
	}
	for name, value := range map[string]string{
		"HTTP_PROXY": http, "HTTPS_PROXY": http, "ALL_PROXY": "socks5h://127.0.0.1:" + port, "NO_PROXY": strings.Join(unasked(hosts, relayed), ","),
	} {
		set = append(set, name+"="+value, strings.ToLower(name)+"="+value)
	}
	slices.Sort(set)
	return set
}

// offline returns the settings with which package managers use what they have, and fail at once if they need the network. Those that still ask a
// server find one on the loopback address.
func offline() []string {
	return strings.Fields(`npm_config_prefer_offline=true npm_config_fetch_retries=0 YARN_ENABLE_NETWORK=0 COREPACK_ENABLE_NETWORK=0
		PIP_RETRIES=0 UV_OFFLINE=1 CARGO_NET_OFFLINE=true COMPOSER_DISABLE_NETWORK=1`)
}

// caches moves the caches of toolchains to dir, so that no program outside uses files that a command leaves there: a module or an object that
// was swapped would run with the next build. A cache in a writable tree stays there. Go still reads the modules in home, as a proxy from
// files; online only if GOPROXY names a proxy to ask after it. Without network, Cargo and Maven read the cache in home, unless a command with
// network has filled theirs. For npm, uv and Yarn see layers.
func caches(dir string, writable, env []string, online bool) []string {
	home := value(env, "HOME")
	var out []string
	for _, c := range cachePlaces(env) {
		place := c.own
		if !lies(place, writable) {
			own := filepath.Join(dir, c.name)
			if c.variable == "GOMODCACHE" {
				out = append(out, "GOPROXY="+modules(c.own, value(env, "GOPROXY"), online))
			}
			if c.variable != "CARGO_HOME" || online || exists(filepath.Join(own, "registry")) {
				place = own
			}
		}
		out = append(out, c.variable+"="+place)
	}
	m2, own := filepath.Join(home, ".m2", "repository"), filepath.Join(dir, "m2")
	if !lies(m2, writable) && (online || exists(own) || !exists(m2)) {
		out = append(out, "MAVEN_OPTS="+strings.TrimSpace(value(env, "MAVEN_OPTS")+" -Dmaven.repo.local="+own+" -Dmaven.repo.local.tail="+m2))
	}
	if !online {
		out = append(out, offline()...)
	}
	return out
}

// cachePlace is the cache of a toolchain.
type cachePlace struct {
	variable string // that names it
	name     string // in the directory for caches
	own      string // that of the person
	layer    string // a directory in it with downloads that only a writable cache gives; "": none
}

func cachePlaces(env []string) []cachePlace {
	home := value(env, "HOME")
	usual := cmp.Or(value(env, "XDG_CACHE_HOME"), filepath.Join(home, ".cache"))
	system := usual
	if runtime.GOOS == "darwin" {
		system = filepath.Join(home, "Library", "Caches")
	}
	gopath := cmp.Or(value(env, "GOPATH"), filepath.Join(home, "go"))
	all := []cachePlace{
		{"GOCACHE", "go-build", filepath.Join(system, "go-build"), ""},
		{"GOMODCACHE", "go-mod", filepath.Join(filepath.SplitList(gopath)[0], "pkg", "mod"), ""},
		{"npm_config_cache", "npm", filepath.Join(home, ".npm"), "_cacache"},
		{"YARN_CACHE_FOLDER", "yarn", filepath.Join(system, "yarn"), "."},
		{"PIP_CACHE_DIR", "pip", filepath.Join(system, "pip"), ""},
		{"UV_CACHE_DIR", "uv", filepath.Join(usual, "uv"), "."},
		{"CCACHE_DIR", "ccache", filepath.Join(usual, "ccache"), ""},
		{"CARGO_HOME", "cargo", filepath.Join(home, ".cargo"), ""},
		{"XDG_CACHE_HOME", "xdg", usual, ""},
	}
	for i := range all {
		all[i].own = cmp.Or(value(env, all[i].variable), all[i].own)
	}
	return all
}

// modules returns a GOPROXY that takes modules from a cache first.
func modules(cache, set string, online bool) string {
	proxy := "file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download"))
	switch {
	case set != "":
		return proxy + "," + set
	case online:
		return "" // the go command knows where else it looks
	}
	return proxy
}

// lies reports whether a place, which need not exist, lies in one of the trees.
func lies(place string, trees []string) bool {
	if !filepath.IsAbs(place) {
		return false
	}
	place = followed(place)
	return slices.ContainsFunc(trees, func(tree string) bool { return paths.Inside(followed(tree), place) })
}

// resolved follows links, and leaves out missing paths and the targets of links in one of the trees: commands write these trees, and a command
// may have made the link to write more with the next one.
func resolved(names, trees []string) []string {
	written := make([]string, len(trees))
	for i, tree := range trees {
		written[i] = followed(tree)
	}
	var found []string
	for _, path := range names {
		if real, err := unbent(path, written); err == nil {
			found = append(found, real)
		}
	}
	return found
}

// unbent follows the links in a path. None of them may lie in one of the trees.
func unbent(path string, trees []string) (string, error) {
	r := paths.Resolver{Link: func(at string) error {
		if _, inside := paths.In(trees, at); inside {
			return fmt.Errorf("%s is a link that is not followed", at)
		}
		return nil
	}}
	t, err := r.Resolve(path)
	if err == nil && !t.Exists {
		err = &fs.PathError{Op: "lstat", Path: t.Path, Err: fs.ErrNotExist}
	}
	return t.Path, err
}

// value returns the last setting of a name.
func value(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			return text
		}
	}
	return ""
}
