package family

import "strings"

// ofAgent reports whether a call about a task in the background means a sub-agent, and there is a tool for it.
func (r *reader) ofAgent(tool string) bool {
	id, _ := r.args["task_id"].(string)
	_, known := r.dialect.known[tool]
	return known && id != "" && !strings.HasPrefix(id, "job")
}

// agentOutput converts TaskOutput of a sub-agent, and reports whether the call is one.
func (r *reader) agentOutput() bool {
	args := map[string]any{}
	switch {
	case !r.ofAgent("agent_wait"):
		return false
	case r.args["block"] == false:
		r.tool = "agent_list"
	default:
		r.tool, args["tasks"] = "agent_wait", []any{r.args["task_id"]}
		if timeout := r.args["timeout"]; timeout != nil {
			args["timeout"] = seconds(timeout)
		}
	}
	r.args = args
	return true
}

// task takes the label, the isolation and the roles that other programs have.
func (r *reader) task() error {
	if label, ok := r.args["description"]; ok {
		if delete(r.args, "description"); r.args["name"] == nil {
			r.args["name"] = label
		}
	}
	if r.args["isolation"] == "worktree" {
		delete(r.args, "isolation")
		r.args["worktree"] = true
	}
	role, _ := r.args["role"].(string)
	offered := func(name string) bool {
		return strings.Contains(r.dialect.known["agent"].Description, " "+name+": ")
	}
	own := strings.ToLower(role)
	if same := map[string]string{"explore": "explorer", "plan": "planner"}[own]; same != "" {
		own = same
	}
	switch {
	case offered(role):
	case own == "general-purpose":
		delete(r.args, "role")
	case offered(own):
		r.args["role"] = own
	}
	return nil
}
