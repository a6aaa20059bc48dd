package sandbox

import (
	"slices"
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
