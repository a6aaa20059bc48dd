package sandbox

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Environment returns those of the variables, "NAME=value", that do not look like secrets by their names, and those to keep.
func Environment(env []string, keep ...string) []string {
	kept := make([]string, 0, len(env))
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if !secret(strings.ToUpper(name)) || slices.Contains(keep, name) {
			kept = append(kept, v)
		}
	}
	return kept
}

// secret judges a name in capitals. A variable too many missing is a nuisance that Keep ends; one too many is a leak.
func secret(name string) bool {
	for _, prefix := range []string{"AWS_", "AZURE_", "GOOGLE_APPLICATION_", "OP_SESSION", "TENON_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "KUBECONFIG",
		"DATABASE_URL", "PGPASSFILE", "NETRC", "GIT_ASKPASS", "SSH_ASKPASS", "XAUTHORITY":
		return true
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for i, w := range words {
		switch w {
		case "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "CREDENTIAL", "CREDENTIALS",
			"APIKEY", "DSN", "PAT", "AUTH":
			if name != "PWD" && name != "OLDPWD" {
				return true
			}
		case "KEY":
			if i > 0 && slices.Contains([]string{"API", "ACCESS", "PRIVATE", "SECRET", "AUTH", "ENCRYPTION", "SIGNING", "ACCOUNT"}, words[i-1]) {
				return true
			}
		}
	}
	return false
}

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
// that was swapped would run with the next build. Go still reads the modules that home has, as a proxy from files.
func caches(dir, home string, env []string) []string {
	mods := value(env, "GOMODCACHE")
	if mods == "" {
		gopath := value(env, "GOPATH")
		if gopath == "" {
			gopath = filepath.Join(home, "go")
		}
		mods = filepath.Join(filepath.SplitList(gopath)[0], "pkg", "mod")
	}
	proxy := value(env, "GOPROXY")
	if proxy == "" {
		proxy = "https://proxy.golang.org,direct"
	}
	files := "file://" + filepath.ToSlash(filepath.Join(mods, "cache", "download"))
	at := func(name string) string { return filepath.Join(dir, name) }
	return []string{
		"GOCACHE=" + at("go-build"), "GOMODCACHE=" + at("go-mod"), "GOPROXY=" + files + "," + proxy,
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
