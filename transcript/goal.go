package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// goal returns the note for a goal; false for a state in between.
func goal(g session.Goal) (Note, bool) {
	n := Note{Kind: NoteInfo}
	switch {
	case g.State == session.GoalCompleted:
		n.Title = "goal completed in " + Count(g.Used.Rounds, "round")
		if g.Reason != "" {
			n.Title += ": " + line(g.Reason)
		}
	case g.State == session.GoalBlocked:
		n.Kind, n.Title = NoteWarning, "goal blocked: "+line(g.Reason)
	case g.State == session.GoalExhausted:
		n.Kind, n.Title = NoteWarning, "goal not completed: "+line(g.Reason)
	case g.State == session.GoalDropped:
		n.Title = "goal dropped"
	case g.State == session.GoalExecuting && g.Reason != "":
		n.Title = fmt.Sprintf("round %d: %s", g.Used.Rounds, line(g.Reason))
	case g.State == session.GoalExecuting && g.Used.Rounds == 0:
		n.Title = "goal: " + line(g.Goal)
	}
	return n, n.Title != ""
}

// Rounds returns the rounds of a goal and their limit, such as "3/50".
func Rounds(g session.Goal) string {
	if g.Limits.Rounds <= 0 {
		return fmt.Sprint(g.Used.Rounds)
	}
	return fmt.Sprintf("%d/%d", g.Used.Rounds, g.Limits.Rounds)
}

// Goal returns a goal with its state, its checks and its limits in plain text.
func Goal(g session.Goal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nstate   %s", strings.TrimSpace(g.Goal), strings.ReplaceAll(string(g.State), "_", " "))
	if g.Reason != "" {
		b.WriteString(": " + line(g.Reason))
	}
	fmt.Fprintf(&b, "\nrounds  %s\ntime    %s\nmoney   %s\n", Rounds(g),
		used(g.Limits.Time > 0, Duration(time.Duration(g.Used.Time)), Duration(time.Duration(g.Limits.Time))),
		used(g.Limits.Money > 0, Dollars(g.Used.Money), Dollars(g.Limits.Money)))
	for _, c := range g.Checks {
		b.WriteString("check   " + line(c) + "\n")
	}
	return b.String()
}

func used(limited bool, used, limit string) string {
	if limited {
		return used + " of " + limit
	}
	return used
}
