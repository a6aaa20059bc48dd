package overview

import (
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// table is a TOML table, as far as a manifest needs it: its keys in order with the text of their values.
type table struct {
	keys   []string
	values map[string]string
}

func (t *table) get(key string) string {
	if t == nil {
		return ""
	}
	return unquoted(t.values[key])
}

var (
	tomlHead = lazy.Compile(`^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$`)
	tomlKey  = lazy.Compile(`^\s*([\w."'-]+)\s*=\s*(.*)$`)
	tomlText = lazy.Compile(`"((?:[^"\\]|\\.)*)"|'([^']*)'`)
)

// readTOML reads tables of simple values and of arrays of strings, and passes over what else TOML can say.
func readTOML(text string) map[string]*table {
	tables := map[string]*table{}
	in := func(name string) *table {
		t := tables[name]
		if t == nil {
			t = &table{values: map[string]string{}}
			tables[name] = t
		}
		return t
	}
	cur, open := in(""), ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if open != "" {
			cur.values[open] += "\n" + line
			if strings.Contains(tomlText.ReplaceAllString(line, ""), "]") {
				open = ""
			}
			continue
		}
		if g := tomlKey.FindStringSubmatch(line); g != nil {
			key, value := strings.Trim(g[1], `"'`), strings.TrimSpace(g[2])
			cur.keys = append(cur.keys, key)
			cur.values[key] = value
			if strings.HasPrefix(value, "[") && !strings.Contains(tomlText.ReplaceAllString(value, ""), "]") {
				open = key
			}
			continue
		}
		if g := tomlHead.FindStringSubmatch(line); g != nil {
			cur = in(strings.ReplaceAll(g[1], `"`, ""))
		}
	}
	return tables
}

// texts returns the strings in a value.
func texts(value string) []string {
	var out []string
	for _, g := range tomlText.FindAllStringSubmatch(value, -1) {
		out = append(out, g[1]+g[2])
	}
	return out
}

func unquoted(value string) string {
	if t := texts(value); len(t) > 0 {
		return t[0]
	}
	return value
}
