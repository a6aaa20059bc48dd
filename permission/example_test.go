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
		fmt.Println(p.Judge(p.Command(line)).Verdict, line)
	}
	d := p.Judge(permission.Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/etc/hosts")}}})
	fmt.Println(d.Verdict, d.Reason)
	fmt.Println(d.Suggest[0].Words())
	// Output:
	// allow go test ./... | tail -3
	// ask go test && evil
	// deny cd sub; git -C .. push
	// ask writes /etc/hosts; mode edits asks about a call that changes a file outside the workspace
	// changing /etc/hosts and all below it, in this session
}

// What a person agrees to is a rule for the rest of the session.
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
	fmt.Println(p.Judge(p.Command("git push --tags")).Verdict, p.Judge(p.Command("git push $(evil)")).Verdict)
	// Output:
	// exactly `git push origin main`, in this session
	// `git push` with any further arguments, in this session
	// allow ask
}

// Where nobody can be asked, the reason says how the call can be allowed.
func ExampleDecision_Or() {
	p, err := permission.New(permission.Options{Root: "/project"})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Judge(p.Command("touch a")).Or(permission.Deny).Reason)
	// Output:
	// touch a: writes /project/a; mode ask asks about a call that changes a file in the workspace; nobody can be asked here, allow it with --allow 'shell(touch a)' or --mode edits
}
