// Package frontmatter reads the front matter of Markdown files: the keys and texts between two lines "---" at the beginning, in the YAML
// that people write there.
package frontmatter

import (
	"errors"
	"strings"
)

// Split separates the front matter of a file from its text. It reads plain, quoted and block texts of top-level keys, and lists of texts as
// one item in each line. The value of a map is empty. It accepts some invalid YAML that people often write, such as a plain text with a
// colon.
func Split(text string) (front map[string]string, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, "", errors.New("it does not begin with front matter between two lines ---")
	}
	head, body, ok := strings.Cut(rest, "\n---")
	if !ok {
		return nil, "", errors.New("its front matter does not end with a line ---")
	}
	_, body, _ = strings.Cut(body, "\n")
	front = make(map[string]string)
	lines := strings.Split(head, "\n")
	for i := 0; i < len(lines); {
		key, value, found := strings.Cut(lines[i], ":")
		i++
		if !found || key == "" || strings.ContainsAny(key, " \t#-") && !plainKey(key) {
			continue
		}
		first := i
		for i < len(lines) && (strings.TrimSpace(lines[i]) == "" || lines[i][0] == ' ' || lines[i][0] == '\t' || strings.HasPrefix(lines[i], "- ")) {
			i++
		}
		if _, twice := front[key]; !twice {
			front[key] = scalar(strings.TrimSpace(value), lines[first:i])
		}
	}
	return front, strings.TrimLeft(body, "\n"), nil
}

func plainKey(key string) bool {
	return strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && key[0] != '-'
}

// scalar returns a text with its continuation lines. The line breaks of blocks are not exact, because the result becomes one line.
func scalar(value string, more []string) string {
	if items, ok := list(value, more); ok {
		return strings.Join(items, "\n")
	}
	parts := []string{value}
	if strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") {
		parts = nil
	}
	for _, line := range more {
		parts = append(parts, strings.TrimSpace(line))
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	switch {
	case len(text) > 1 && text[0] == '\'' && strings.HasSuffix(text, "'"):
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	case len(text) > 1 && text[0] == '"' && strings.HasSuffix(text, `"`):
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(text[1 : len(text)-1])
	case strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{"):
		return ""
	}
	if before, _, comment := strings.Cut(text, " #"); comment && len(more) == 0 {
		text = strings.TrimSpace(before)
	}
	return text
}

// list returns the items of a list of texts: in brackets, or each in a line after a hyphen.
func list(value string, more []string) (items []string, ok bool) {
	if inner, found := strings.CutPrefix(value, "["); found {
		inner, found = strings.CutSuffix(strings.TrimSpace(strings.Join(append([]string{inner}, more...), " ")), "]")
		return Items(inner), found
	}
	if value != "" {
		return nil, false
	}
	for _, line := range more {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		item, found := strings.CutPrefix(line, "- ")
		if !found {
			return nil, false
		}
		items = append(items, scalar(strings.TrimSpace(item), nil))
	}
	return items, len(items) > 0
}

// Items returns the items of a value that is a list, or a text with commas. A comma in parentheses separates nothing.
func Items(value string) (items []string) {
	depth := 0
	separates := func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == '\n' || r == ',' && depth <= 0
	}
	for item := range strings.FieldsFuncSeq(value, separates) {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if !strings.HasPrefix(item, "[") {
			item = scalar(item, nil)
		}
		items = append(items, item)
	}
	return items
}
