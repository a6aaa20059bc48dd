package offline

import (
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// maxClause is the longest instruction, in bytes, without its quotes and its content.
const maxClause = 8 << 10

// maxInstructions bounds how many instructions of one message are carried out.
const maxInstructions = 50

// parse returns the instructions of a text, in their order. What no rule knows becomes an instruction with the verb
// unknown, and parse returns none only for a blank text.
func parse(text string) []instruction {
	m := mask(text)
	var list []instruction
	last, command := "", "" // what "it" is
	for _, c := range clauses(m) {
		in := m.instruction(c)
		in.text = strings.TrimSpace(m.raw(c))
		if isPronoun(in.path) {
			in.path = last
		}
		if in.verb == run {
			if command == "" && again.MatchString(in.command) {
				in = instruction{verb: unknown, text: in.text}
			} else if again.MatchString(in.command) {
				in.command = command
			}
			command = in.command
		}
		if in.path != "" && in.verb != unknown {
			last = in.path
		}
		if n := len(list); n > 0 && in.verb == unknown && list[n-1].verb == unknown {
			list[n-1].text += "\n" + in.text
			continue
		}
		if list = append(list, in); len(list) == maxInstructions {
			break
		}
	}
	return list
}

// again matches what stands for the command before it.
var again = lazy.Compile(`(?i)^(?:it|that|this|the (?:same )?command)(?: again| once more)?$`)

func isPronoun(s string) bool {
	switch strings.ToLower(s) {
	case "it", "that", "them", "that file", "this file", "the file", "the result", "the new file":
		return true
	}
	return false
}

var (
	numbered = lazy.Compile(`^\s*(?:[0-9]{1,2}[.)]|[-*•])\s+`)
	filler   = lazy.Compile(`(?i)^[\s,]*(?:please|now|also|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|next|then|after(?: ?wards| that)|and|so|ok|okay|hi|hello|hey|tenon|just|kindly|(?:can|could|would|will) you|i(?: want|'d like| would like| need) you to|let'?s|go(?: ahead)? and|try to)\b[\s,:]*`)
	verbs    = lazy.Compile(`(?i)^(?:list|ls|tree|show|read|open|print|display|cat|view|look|find|locate|search|grep|where|which|what|how|count|replace|change|rename|substitute|create|make|write|add|save|generate|overwrite|append|put|run|execute|exec|test|build|compile|describe|explain|summari[sz]e|outline|overview|tell|give|delete|remove|fix|implement|commit|help|in|lines?)\b`)
	// free begins a clause whose rest may be anything: content or a command.
	free   = lazy.Compile(`(?i)^(?:run|execute|exec|create|make|write|add|save|generate|overwrite|append|put)\b|^[$!]`)
	strong = lazy.Compile(`(?i)(?:[,;.]?\s+and\s+then|[,;.!?]?\s+then|[,;.]\s+after(?: that|wards)|[,;.]\s+(?:and\s+)?(?:finally|next|now))[,:]?\s+`)
	weak   = lazy.Compile(`(?i)[.;!?]\s+|,\s*(?:and\s+)?(?:also\s+)?|\s+and\s+(?:also\s+)?`)
	// opening is a clause that announces content in the lines after it.
	opening = lazy.Compile(`(?i)^(?:create|make|write|add|save|generate|overwrite|append|put)\b.*:\s*$`)
	// tail is a clause that lacks its content, such as: create a.txt with
	tail = lazy.Compile(`(?i)^(?:create|make|write|add|save|generate|overwrite|append)\b.*\b(?:with|containing|content|contents|following|following content)\s*$`)
	// told is a command with its mark, which is all of its line.
	told = lazy.Compile(`^\s*[$!]\s*\S`)
)

// clauses splits a masked text into what each rule is tried on.
func clauses(m *masked) []string {
	var out []string
	lines := strings.Split(m.text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.TrimSpace(line) == "" {
			continue
		}
		item := numbered.MatchString(line)
		body := bare(numbered.ReplaceAllString(line, ""))
		if opening.MatchString(body) || tail.MatchString(body) {
			n := contentLines(lines[i+1:], item && !strings.ContainsAny(strings.TrimSpace(line)[:1], "-*"))
			out = append(out, strings.TrimRight(body, " ")+"\n"+m.hide(strings.Join(lines[i+1:i+1+n], "\n")))
			i += n
			continue
		}
		onlySpan := mark.ReplaceAllString(body, "") == ""
		if n := len(out); n > 0 && !item && (onlySpan || !verbs.MatchString(body)) && !told.MatchString(line) {
			if len(out[n-1]) <= maxClause { // what is longer is no instruction
				out[n-1] += "\n" + body
			}
			continue
		}
		if told.MatchString(line) {
			out = append(out, strings.TrimSpace(line))
			continue
		}
		out = append(out, split(body)...)
	}
	return out
}

// contentLines says how many lines are content: up to the next number when the clause is one of a numbered list, else all.
func contentLines(lines []string, inList bool) int {
	if inList {
		for i, line := range lines {
			if numbered.MatchString(line) && !strings.ContainsAny(strings.TrimSpace(line)[:1], "-*•") {
				return i
			}
		}
	}
	return len(lines)
}

// bare removes the politeness before a clause.
func bare(s string) string {
	for {
		loc := filler.FindStringIndex(s)
		if loc == nil || loc[1] == 0 || loc[1] == len(s) {
			return strings.TrimSpace(s)
		}
		s = s[loc[1]:]
	}
}

// split cuts a line where a new instruction begins: after "then" and the like, and after a comma, "and" or the end of a
// sentence unless that may belong to a command or to the content of a file.
func split(s string) []string {
	if len(s) > maxClause {
		return []string{s}
	}
	var out []string
	for from := 0; ; {
		at, end := connector(s, from)
		if at < 0 {
			return append(out, strings.TrimSpace(s))
		}
		head, rest := s[:at], bare(s[end:])
		if !parts(head, s[at:end], rest) {
			from = end
			continue
		}
		out = append(out, strings.TrimSpace(head))
		s, from = rest, 0
	}
}

// parts reports whether a new instruction begins behind a connector. What no rule knows stands for itself between full
// stops, but never turns what follows into a command: it may be a story about one.
func parts(head, connector, rest string) bool {
	if openPlace.MatchString(head) {
		return false
	}
	if strings.ContainsAny(connector, ".;!?") && !free.MatchString(head) && !startsClause(head) {
		return startsClause(rest) && !free.MatchString(rest)
	}
	if strings.ContainsAny(connector, ".!?") && startsClause(head) && !free.MatchString(head) {
		return true
	}
	return startsClause(head) && startsClause(rest)
}

// openPlace is a place without its instruction, such as: in main.go
var openPlace = lazy.Compile(`(?i)^in\s+\S+$`)

func startsClause(s string) bool { return verbs.MatchString(s) || told.MatchString(s) }

// connector finds the first place at or after from where s may be split, or -1.
func connector(s string, from int) (at, end int) {
	at, end = -1, -1
	if loc := strong.FindStringIndex(s[from:]); loc != nil {
		at, end = from+loc[0], from+loc[1]
	}
	for pos := from; pos < len(s); {
		loc := weak.FindStringIndex(s[pos:])
		if loc == nil || at >= 0 && pos+loc[0] >= at {
			break
		}
		if !free.MatchString(s) || closed(s[:pos+loc[0]]) {
			return pos + loc[0], pos + loc[1]
		}
		pos += loc[1]
	}
	return at, end
}

// wholeJob matches the instructions that begin like a command and are none.
var wholeJob = lazy.Compile(`(?i)^(?:run|execute) (?:all )?(?:the |my |its )?(?:unit )?(?:tests?(?: suite)?|build)$`)

// closed reports whether nothing of the free text s can follow: it ends with a quote, or it is known as a whole.
func closed(s string) bool {
	return strings.HasSuffix(s, "\x00") || wholeJob.MatchString(s)
}
