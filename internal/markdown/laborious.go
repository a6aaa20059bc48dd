package markdown

import "strings"

// Laborious reports whether a text is too long, or has a paragraph with so many brackets, stars or nested blocks that the parser needs
// quadratic time.
func Laborious(text string) bool {
	const (
		maxText     = 256 << 10
		maxBrackets = 400
		maxMarks    = 1500
		maxNested   = 60
	)
	if len(text) > maxText {
		return true
	}
	brackets, marks := 0, 0
	for line := range strings.Lines(text) {
		content := strings.TrimLeft(line, "> \t-+*.)0123456789")
		if strings.TrimSpace(content) == "" && strings.TrimSpace(line) == "" {
			brackets, marks = 0, 0 // the next paragraph
		}
		nested := 0
		for _, c := range line[:len(line)-len(content)] {
			if c == '>' || c == '-' || c == '+' || c == '*' || c == '.' || c == ')' {
				nested++
			}
		}
		brackets += strings.Count(content, "[") + strings.Count(content, "<")
		marks += strings.Count(content, "*") + strings.Count(content, "_") + strings.Count(content, "~") + strings.Count(content, "`")
		rule := strings.Trim(strings.TrimSpace(line), "-*_ ") == "" // a line across the page
		if nested > maxNested && !rule || brackets > maxBrackets || marks > maxMarks {
			return true
		}
	}
	return false
}
