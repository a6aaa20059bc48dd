package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// longestName is the longest name of a tool that every provider accepts.
const longestName = 64

// Prefix begins the names of all tools of MCP servers.
const Prefix = "mcp__"

// plain replaces the characters that providers refuse in names.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 {
			return r
		}
		return '_'
	}, text)
}

// ServerName returns the name of a server in the names of its tools and in rules. Two underscores would end it, so that it has none.
func ServerName(name string) string {
	name = plain(name)
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	return strings.Trim(name, "_")
}

// fullName returns the name of a tool in rules and in the journal. It may be longer than a provider accepts.
func fullName(server, tool string) string { return Prefix + ServerName(server) + "__" + plain(tool) }

// names returns the name of each tool for the model: unique, and at most 64 characters. It depends only on the set of the tools.
func names(server string, tools []string) map[string]string {
	tools = slices.Sorted(slices.Values(tools))
	count := map[string]int{}
	for _, t := range tools {
		count[fullName(server, t)]++
	}
	out := make(map[string]string, len(tools))
	for _, t := range tools {
		name := fullName(server, t)
		if count[name] > 1 || len(name) > longestName {
			sum := sha256.Sum256([]byte(server + "\x00" + t))
			mark := "_" + hex.EncodeToString(sum[:4])
			name = name[:min(len(name), longestName-len(mark))] + mark
		}
		out[t] = name
	}
	return out
}

// matches reports whether a name is among globs with * and ?.
func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return glob(g, name) })
}

func glob(pattern, name string) bool {
	// The last star takes one more character when the rest does not match, so that the time is at most the product of the lengths.
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
