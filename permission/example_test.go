package permission_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool"
)

// A policy judges calls by its mode and its rules.
func Example() {
	p, err := permission.New(
		permission.Options{Root: "/project", Home: "/home/me", Protected: []string{".git/hooks"}},
		permission.Layer{Scope: permission.User, Config: permission.Config{
			Mode:  permission.Edits,
			Allow: []string{"shell(go test *)"},
			Deny:  []string{"shell(git push *)"},
		}},
	)
	if err != nil {
		panic(err)
	}
	for _, line := range []string{"go test ./... | tail -3", "go test && evil", "cd sub; git -C .. push"} {
		fmt.Println(p.Judge(p.Command(line)).Action, line)
	}
	d := p.Judge(permission.Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/etc/hosts")}}})
	fmt.Println(d.Action, d.Reason)
	fmt.Println(d.Suggest[0].Words())
	// Output:
	// allow go test ./... | tail -3
	// ask go test && evil
	// deny cd sub; git -C .. push
	// ask writes /etc/hosts; mode edits needs approval to change files outside the workspace
	// changing /etc/hosts and everything below it, in this session
}

// A grant is a rule for the rest of the session.
func ExamplePolicy_With() {
	p, err := permission.New(permission.Options{Root: "/project"})
	if err != nil {
		panic(err)
	}
	d := p.Judge(p.Command("git push origin main"))
	for _, s := range d.Suggest {
		fmt.Println(s.Words())
	}
	p = p.With(d.Suggest[1].Rules...)
	fmt.Println(p.Judge(p.Command("git push --tags")).Action, p.Judge(p.Command("git push $(evil)")).Action)
	// Output:
	// exactly `git push origin main`, in this session
	// `git push` with any further arguments, in this session
	// allow ask
}

// In a run in which no person answers, the reason says how to allow the call.
func ExampleVerdict_Unattended() {
	p, err := permission.New(permission.Options{Root: "/project"})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Judge(p.Command("touch a")).Unattended().Reason)
	// Output:
	// touch a: writes /project/a; mode ask needs approval to change files in the workspace; this run is not interactive: use --allow 'shell(touch a)' or --mode edits
}

// A sub-agent is judged by the meet of its own policy and of its parent's.
func ExampleMeet() {
	parent, err := permission.New(permission.Options{Root: "/project", Mode: permission.Auto, Sandboxed: true})
	if err != nil {
		panic(err)
	}
	child := parent.InMode(permission.Edits)
	judge := permission.Meet(child, permission.Live(func() *permission.Policy { return parent }))
	call := permission.Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/project/a")}}}
	fmt.Println(judge.Judge(call).Action)
	parent = parent.InMode(permission.Plan)
	v := judge.Judge(call)
	fmt.Println(v.Action, v.Code)
	// Output:
	// allow
	// deny permission.write
}
