package permission

// Action is what happens to a call, or what a rule does. Any other value, the zero value included, denies.
type Action string

// The actions.
const (
	Allow Action = "allow" // the call runs
	Ask   Action = "ask"   // a person decides
	Deny  Action = "deny"  // the call does not run
)

// rank orders actions by how strict they are.
func (a Action) rank() int {
	switch a {
	case Allow:
		return 0
	case Ask:
		return 1
	}
	return 2
}

// toIt says what a rule with the action does to a call: "denies it".
func (a Action) toIt() string {
	switch a {
	case Allow:
		return "allows it"
	case Ask:
		return "asks about it"
	}
	return "denies it"
}

// toDo says what a mode with the action does about an effect of the table: "needs approval to", "does not let the agent".
func (a Action) toDo() string {
	switch a {
	case Allow:
		return "lets the agent"
	case Ask:
		return "needs approval to"
	}
	return "does not let the agent"
}
