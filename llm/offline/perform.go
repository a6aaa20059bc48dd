package offline

import (
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// perform carries out the instructions in their order and returns the report about them. It returns false when an answer
// with calls has to come first.
func (p *play) perform(todo []instruction) (string, bool) {
	switch {
	case len(todo) == 0:
		return introduction, true
	case len(todo) == 1:
		report, ok := p.do(todo[0])
		return strings.TrimSpace(report) + "\n", ok
	}
	var all strings.Builder
	for i, in := range todo {
		report, ok := p.do(in)
		if !ok {
			return "", false
		}
		if in.verb == unknown {
			report = "I did not understand this, and did nothing about it. Say `help` to see what I can do."
		}
		fmt.Fprintf(&all, "**%d. %s**\n\n%s\n\n", i+1, brief(in.text), strings.TrimSpace(report))
	}
	return strings.TrimSpace(all.String()) + "\n", true
}

// do carries out one instruction.
func (p *play) do(in instruction) (report string, ok bool) {
	switch in.verb {
	case describe:
		return p.describe()
	case list:
		return p.show("There is nothing here.", listCall(in.path, in.depth))
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
	case create:
		return p.create(in)
	case overwrite:
		return p.overwrite(in)
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
	case help:
		return introduction, true
	case unsupported:
		return unsupportedText, true
	default:
		return notUnderstood, true
	}
}

// show makes one call and reports its result as it is.
func (p *play) show(empty string, c call) (string, bool) {
	r, ok := p.one(c)
	if !ok {
		return "", false
	}
	if r.failed {
		return failure(r), true
	}
	if strings.TrimSpace(r.text) == "" {
		return empty, true
	}
	return fenced("", r.text), true
}

// mostShown bounds how much of one result is repeated in a report, in bytes.
const mostShown = 32 << 10

// fenced puts text into a code fence that nothing in it can close.
func fenced(info, text string) string {
	text = strings.Trim(text, "\n")
	more := ""
	if short := cut(text, mostShown); short != text {
		text, more = short, "\n\nThis is the beginning; the rest was left out here."
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + info + "\n" + text + "\n" + fence + more
}

// code puts s into a code span, on one line.
func code(s string) string {
	s = strings.NewReplacer("\r", "␍", "\n", "␤").Replace(s)
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return "`` " + strings.ReplaceAll(s, "``", "`\u200b`") + " ``"
}

// refused matches the words of a call that was not permitted; impossible those of the system about what no permission helps with.
var (
	refused    = lazy.Compile(`(?i)\b(?:denied|not (?:allowed|permitted)|permission|forbidden|refused)\b|--yes`)
	impossible = lazy.Compile(`(?i)^\w+ .+: (?:permission denied|access is denied\.?|operation not permitted|read-only file system)$`)
)

func denied(r result) bool {
	return r.failed && !r.missing && refused.MatchString(r.text) && !impossible.MatchString(strings.TrimSpace(r.text))
}

// failure reports a call that failed, and what would help.
func failure(r result) string {
	text := strings.TrimSpace(r.text)
	if text == "" {
		text = "the tool failed without saying why"
	}
	short := cut(text, 2<<10)
	said := "This did not work: " + short
	if !strings.ContainsAny(short[len(short)-1:], ".?!]") {
		said += "."
	}
	if strings.Contains(short, "\n") {
		said = "This did not work:\n\n" + fenced("", short)
	}
	if denied(r) && !strings.Contains(short, "--") && !strings.Contains(short, " rule ") { // else it says itself what would help, or nothing does
		said += "\n\nIf the person did not forbid it, running again with `--yes` permits writes and commands."
	}
	return said
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
