package offline

import (
	"fmt"
	"strings"
)

// perform executes the instructions in their order and returns the report. The report counts only if no call is pending.
func (p *play) perform(todo []instruction) string {
	switch len(todo) {
	case 0:
		return introduction
	case 1:
		return strings.TrimSpace(p.do(todo[0])) + "\n"
	}
	var all strings.Builder
	for i, in := range todo {
		report := "I did not understand this, and did nothing about it. Say `help` to see what I can do."
		if in.verb != unknown {
			report = p.do(in)
		}
		fmt.Fprintf(&all, "**%d. %s**\n\n%s\n\n", i+1, brief(in.text), strings.TrimSpace(report))
	}
	return strings.TrimSpace(all.String()) + "\n"
}

// do executes one instruction and returns the report about it.
func (p *play) do(in instruction) string {
	switch in.verb {
	case describe:
		return p.describe()
	case list:
		return p.list(in.path, 0)
	case tree:
		return p.list(in.path, treeDepth)
	case read:
		return p.read(in)
	case find:
		return p.find(in)
	case search:
		return p.search(in)
	case countLines:
		return p.countLines(in)
	case countFiles:
		return p.countFiles(in)
	case countMatches:
		return p.countMatches(in)
	case replace:
		return p.replace(in)
	case create, overwrite:
		return p.create(in)
	case appendTo:
		return p.appendTo(in)
	case run:
		return p.run(in.command)
	case runTests, runBuild:
		return p.runFor(in.verb)
	case gitLog:
		return p.run("git --no-pager log --oneline --decorate -n 20")
	case gitStatus:
		return p.run("git --no-pager status --short --branch")
	case delegate:
		return p.delegate(in)
	case callTool:
		return p.call(in)
	case help:
		return introduction
	default:
		return notUnderstood
	}
}

// mostShown bounds the bytes of one result that a report repeats.
const mostShown = 32 << 10

// fenced puts text into a code block that no part of the text can close.
func fenced(text string) string {
	text = strings.Trim(text, "\n")
	more := ""
	if short := cut(text, mostShown); short != text {
		text, more = short, "\n\nThis is the beginning; the rest was left out here."
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence + more
}

// code puts s into a code span, on one line.
func code(s string) string {
	s = strings.NewReplacer("\r", "␍", "\n", "␤").Replace(s)
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return "`` " + strings.ReplaceAll(s, "``", "`\u200b`") + " ``"
}

// brief returns s on one line, short enough for a sentence, without marks that could end a tag or a code span.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = strings.NewReplacer("<", "‹", ">", "›", "`", "'").Replace(s)
	if short := cut(s, 60); short != s {
		return short + "…"
	}
	return s
}

// refused matches the words of a denial. impossible matches errors of the system, which no permission prevents.
var (
	refused    = lazy(`(?i)\b(?:denied|not (?:allowed|permitted)|permission|forbidden|refused)\b|--yes`)
	impossible = lazy(`(?i)^\w+ .+: (?:permission denied|access is denied\.?|operation not permitted|read-only file system)$`)
)

func denied(r result) bool {
	return r.failed && !r.missing && refused().MatchString(r.text) && !impossible().MatchString(strings.TrimSpace(r.text))
}

// failure reports a failed call, with a remedy if there is one.
func failure(r result) string {
	text := cut(firstOf(strings.TrimSpace(r.text), "the tool failed without a reason"), 2<<10)
	report := "This did not work: " + text
	if !strings.ContainsAny(text[len(text)-1:], ".?!]") {
		report += "."
	}
	if strings.Contains(text, "\n") {
		report = "This did not work:\n\n" + fenced(text)
	}
	if denied(r) && !strings.Contains(text, "--") && !strings.Contains(text, " rule ") { // otherwise the text names the remedy, or there is none
		report += "\n\nIf the person did not forbid it, running again with `--yes` permits writes and commands."
	}
	return report
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func lineCount(s string) string {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return count(n, "line", "lines")
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
