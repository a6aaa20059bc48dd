package cli

import (
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// windowWords says what happens to the context window. It is empty for what another event tells.
func windowWords(b session.Body) string {
	switch b := b.(type) {
	case session.Compacting:
		switch {
		case b.Error != "":
			return "summing up failed: " + oneLine(b.Error)
		case !b.Done:
			return "the conversation is being summed up: " + digestReason(b.Reason)
		}
	case session.Digest:
		by := ""
		if b.By != "" {
			by = " by " + oneLine(b.By)
		}
		return fmt.Sprintf("the conversation is summed up%s: about %s tokens instead of %s", by, thousands(b.After), thousands(b.Before))
	case session.Reduced:
		return count(len(b.Messages), "old result") + " shortened in the context window"
	case session.Revert:
		return "the model goes back (" + oneLine(b.Category) + "): " + fit(oneLine(b.Lesson), 120)
	}
	return ""
}

// digestReason is why a conversation is summed up.
func digestReason(reason string) string {
	switch reason {
	case "full":
		return "the context window is nearly full"
	case "overflow":
		return "the request was too long for the model"
	case "asked":
		return "somebody asked for it"
	default:
		return oneLine(reason)
	}
}

// thousands is a number of tokens as people read it.
func thousands(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}
