package skill

import (
	"errors"
	"strings"
)

// split separates the front matter of a file from its text. It reads the YAML that describes skills: plain, quoted and block texts of
// top-level keys. It ignores lists and maps. It accepts some invalid YAML that people often write, such as a plain text with a colon.
func split(text string) (front map[string]string, body string, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
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
		for i < len(lines) && (strings.TrimSpace(lines[i]) == "" || lines[i][0] == ' ' || lines[i][0] == '\t') {
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
	case strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{") || strings.HasPrefix(value, "- "):
		return ""
	}
	if before, _, comment := strings.Cut(text, " #"); comment && len(more) == 0 {
		text = strings.TrimSpace(before)
	}
	return text
}
