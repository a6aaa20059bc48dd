package role

import (
	"embed"
	"fmt"
	"sync"
)

//go:embed builtin
var files embed.FS

// BuiltIn returns the built-in roles: builder, planner, explorer and reviewer. A role of a person or a project with the same name replaces one.
func BuiltIn() []Role { return builtIn() }

var builtIn = sync.OnceValue(func() []Role {
	entries, err := files.ReadDir("builtin")
	if err != nil {
		panic(err)
	}
	var all []Role
	for _, e := range entries {
		text, err := files.ReadFile("builtin/" + e.Name())
		if err != nil {
			panic(err)
		}
		r, err := Parse("", string(text))
		if err != nil {
			panic(fmt.Sprintf("%s: %v", e.Name(), err)) // a test parses all of them
		}
		all = append(all, r)
	}
	return all
})
