//go:build linux || darwin

package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// proxies tells every well-known program about the proxy. npm, pip, cargo, git and go read the general names.
func proxies(number int, hosts []string, relayed bool) []string {
	port := strconv.Itoa(number)
	http, java := "http://127.0.0.1:"+port, ""
	for _, scheme := range []string{"http", "https"} {
		java += " -D" + scheme + ".proxyHost=127.0.0.1 -D" + scheme + ".proxyPort=" + port
	}
	env := []string{"NODE_USE_ENV_PROXY=1", "MAVEN_OPTS=" + strings.TrimSpace(java), "GRADLE_OPTS=" + strings.TrimSpace(java)}
	for name, value := range map[string]string{
		"HTTP_PROXY": http, "HTTPS_PROXY": http, "ALL_PROXY": "socks5h://127.0.0.1:" + port, "NO_PROXY": strings.Join(unasked(hosts, relayed), ","),
	} {
		env = append(env, name+"="+value, strings.ToLower(name)+"="+value)
	}
	slices.Sort(env)
	return env
}

// caches sends what toolchains keep to dir, so that nothing that a command leaves there is used outside: a module or an object
// that was swapped would run with the next build. A cache that lies in a writable tree stays where it is: who lists it wants it
// used. Go still reads the modules that home has, as a proxy from files; online only when GOPROXY says what comes after them.
func caches(dir string, writable, env []string, online bool) []string {
	home := value(env, "HOME")
	usual := cmp.Or(value(env, "XDG_CACHE_HOME"), filepath.Join(home, ".cache"))
	system := usual
	if runtime.GOOS == "darwin" {
		system = filepath.Join(home, "Library", "Caches")
	}
	gopath := cmp.Or(value(env, "GOPATH"), filepath.Join(home, "go"))
	mods := cmp.Or(value(env, "GOMODCACHE"), filepath.Join(filepath.SplitList(gopath)[0], "pkg", "mod"))
	var out []string
	for _, c := range []struct{ variable, name, own string }{
		{"GOCACHE", "go-build", filepath.Join(system, "go-build")},
		{"GOMODCACHE", "go-mod", mods},
		{"npm_config_cache", "npm", filepath.Join(home, ".npm")},
		{"YARN_CACHE_FOLDER", "yarn", filepath.Join(system, "yarn")},
		{"PIP_CACHE_DIR", "pip", filepath.Join(system, "pip")},
		{"UV_CACHE_DIR", "uv", filepath.Join(usual, "uv")},
		{"CCACHE_DIR", "ccache", filepath.Join(usual, "ccache")},
		{"XDG_CACHE_HOME", "xdg", usual},
	} {
		place := cmp.Or(value(env, c.variable), c.own)
		if !lies(place, writable) {
			place = filepath.Join(dir, c.name)
			if c.variable == "GOMODCACHE" {
				out = append(out, "GOPROXY="+modules(mods, value(env, "GOPROXY"), online))
			}
		}
		out = append(out, c.variable+"="+place)
	}
	return out
}

// modules is a GOPROXY that takes modules from a cache first.
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
	return slices.ContainsFunc(trees, func(tree string) bool { return within(place, followed(tree)) })
}

// resolved follows links and leaves out what does not exist, and what a link in one of the trees leads to: the trees are written
// by commands, and a command may have made the link to write more with the next one.
func resolved(paths, trees []string) []string {
	written := make([]string, len(trees))
	for i, tree := range trees {
		written[i] = followed(tree)
	}
	var found []string
	for _, path := range paths {
		if real, err := unbent(path, written); err == nil {
			found = append(found, real)
		}
	}
	return found
}

// unbent follows the links in a path, none of which may lie in one of the trees.
func unbent(path string, trees []string) (string, error) {
	at, rest := string(filepath.Separator), filepath.Clean(path)
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(strings.TrimPrefix(rest, string(filepath.Separator)), string(filepath.Separator))
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > 40 || slices.ContainsFunc(trees, func(tree string) bool { return within(next, tree) }) {
			return "", fmt.Errorf("%s is a link that is not followed", next)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		rest = target + string(filepath.Separator) + rest
	}
	return at, nil
}

// followed follows the links in as much of a path as exists.
func followed(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// value returns what the last setting of a name says.
func value(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			return text
		}
	}
	return ""
}
