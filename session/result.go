package session

// FileDiff is the change of one file by a call, as the tool reported it.
type FileDiff struct {
	Path    string `json:"path"`          // from the root of the workspace
	From    string `json:"from,omitzero"` // the path before the call moved it
	Created bool   `json:"created,omitzero"`
	Deleted bool   `json:"deleted,omitzero"`
	Added   int    `json:"added,omitzero"` // lines
	Removed int    `json:"removed,omitzero"`
	Text    string `json:"text,omitzero"` // a unified diff; empty for a binary or large file
	Cut     bool   `json:"cut,omitzero"`  // Text is not complete
}

// Outcome is the outcome of a call. Every call has exactly one result, also if it never ran.
type Outcome string

// The outcomes.
const (
	OutcomeOK          Outcome = ""            // it ran and succeeded
	OutcomeFailed      Outcome = "failed"      // it ran, or could not run, and failed
	OutcomeInvalid     Outcome = "invalid"     // its arguments are invalid; it did not run
	OutcomeDenied      Outcome = "denied"      // it was denied; it did not run
	OutcomeSkipped     Outcome = "skipped"     // another event came first; it did not run
	OutcomeCancelled   Outcome = "cancelled"   // it was cancelled while it ran, or before
	OutcomeNotStarted  Outcome = "not_started" // the process ended before it began
	OutcomeInterrupted Outcome = "interrupted" // the process ended while it ran; it may run again
	OutcomeUnknown     Outcome = "unknown"     // the process ended while it ran; its effects are unknown
)
