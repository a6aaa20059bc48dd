package goal

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/session"
)

// claim is the claim at the end of an answer, and the answer.
type claim struct {
	done, blocked, text string
}

// tags finds the claims of an answer.
var tags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<(done|blocked)>(.*?)</(?:done|blocked)>`)
})

// claimed reads the last claim of an answer.
func claimed(text string) (c claim) {
	c.text = text
	all := tags().FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return c
	}
	last := all[len(all)-1]
	reason := strings.Join(strings.Fields(last[2]), " ")
	if reason == "" {
		reason = "no reason given"
	}
	if last[1] == "done" {
		c.done = reason
	} else {
		c.blocked = reason
	}
	return c
}

// rules is the first text for the model.
func rules(g session.Goal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You pursue a goal until it is reached: %s\n", g.Goal)
	if len(g.Checks) > 0 {
		b.WriteString("When you stop, Tenon runs these commands. The goal is reached only if all of them exit with 0:\n")
		for _, c := range g.Checks {
			b.WriteString("- " + c + "\n")
		}
	}
	b.WriteString("When the goal is reached and you have verified it, end your answer with <done>the evidence in one sentence</done>.\n" +
		"If you cannot continue without the person, end your answer with <blocked>the reason</blocked>.")
	return b.String()
}

func unclaimed() fault {
	return fault{"the model did not say that it is reached", "You stopped, but you did not say that the goal is reached."}
}

// next is the text with which the model continues.
func next(g session.Goal, fault string) string {
	text := fault + "\n\nContinue to pursue the goal: " + g.Goal
	if g.Stalls > 0 {
		text += "\nYour last steps repeated earlier ones and changed no files. Try a different approach, or end with <blocked>the reason</blocked>."
	}
	return text + "\nWhen it is reached, end your answer with <done>the evidence in one sentence</done>."
}

func unfinished(open []string) fault {
	return fault{"open work: " + strings.Join(open, "; "), "The goal is not reached, because this work is open:\n- " + strings.Join(open, "\n- ")}
}

// maxOutput is how many bytes of the output of a check the model gets. The end matters: test runners summarize there.
const maxOutput = 4 << 10

// failed is the text about a check that failed.
func failed(command, output string) fault {
	output = strings.TrimSpace(strings.ToValidUTF8(output, "\uFFFD"))
	if cut := len(output) - maxOutput; cut > 0 {
		for !utf8.RuneStart(output[cut]) {
			cut++
		}
		output = "[…]" + output[cut:]
	}
	text := "The goal is not reached: this command failed: " + command
	if output != "" {
		text += "\n<output>\n" + strings.ReplaceAll(output, "</output>", "< /output>") + "\n</output>"
	}
	return fault{firstLine(command) + " failed", text}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
