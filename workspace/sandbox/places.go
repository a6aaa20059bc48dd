//go:build linux || darwin

package sandbox

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// proxies tells every well-known program about the proxy. npm, pip, cargo, git and go read the general names.
func proxies(number int) []string {
	port := strconv.Itoa(number)
	http, java := "http://127.0.0.1:"+port, ""
	for _, scheme := range []string{"http", "https"} {
		java += " -D" + scheme + ".proxyHost=127.0.0.1 -D" + scheme + ".proxyPort=" + port
	}
	env := []string{"NODE_USE_ENV_PROXY=1", "MAVEN_OPTS=" + strings.TrimSpace(java), "GRADLE_OPTS=" + strings.TrimSpace(java)}
	for name, value := range map[string]string{
		"HTTP_PROXY": http, "HTTPS_PROXY": http, "ALL_PROXY": "socks5h://127.0.0.1:" + port, "NO_PROXY": "localhost,127.0.0.1,::1",
	} {
		env = append(env, name+"="+value, strings.ToLower(name)+"="+value)
	}
	slices.Sort(env)
	return env
}

// caches sends what toolchains keep to dir, so that nothing that a command leaves there is used outside: a module or an object
// that was swapped would run with the next build. Go still reads the modules that home has, as a proxy from files; online only when
// GOPROXY says what comes after them.
func caches(dir, home string, env []string, online bool) []string {
	mods := value(env, "GOMODCACHE")
	if mods == "" {
		gopath := value(env, "GOPATH")
		if gopath == "" {
			gopath = filepath.Join(home, "go")
		}
		mods = filepath.Join(filepath.SplitList(gopath)[0], "pkg", "mod")
	}
	proxy := "file://" + filepath.ToSlash(filepath.Join(mods, "cache", "download"))
	if set := value(env, "GOPROXY"); set != "" {
		proxy += "," + set
	} else if online {
		proxy = "" // the go command knows where else it looks
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	return []string{
		"GOCACHE=" + at("go-build"), "GOMODCACHE=" + at("go-mod"), "GOPROXY=" + proxy,
		"npm_config_cache=" + at("npm"), "YARN_CACHE_FOLDER=" + at("yarn"), "PIP_CACHE_DIR=" + at("pip"), "UV_CACHE_DIR=" + at("uv"),
		"CCACHE_DIR=" + at("ccache"), "XDG_CACHE_HOME=" + at("xdg"),
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
