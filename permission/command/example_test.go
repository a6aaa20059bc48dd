package command_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/permission/command"
)

func Example() {
	a := command.Analyze(`cd sub && env LANG=C sort -o out in | sh -c 'r\m -rf "$HOME/x"'`, command.Options{
		Dir: "/home/me/project", Home: "/home/me",
	})
	for _, c := range a.Commands {
		fmt.Printf("%q %v\n  %v: %s\n", c.Words, c.Via, c.Does, c.Why)
	}
	fmt.Println("harmless:", a.Harmless())
	// Output:
	// ["cd" "sub"] []
	//   nothing: changes the directory
	// ["sort" "-o" "out" "in"] [env]
	//   reads, writes: writes /home/me/project/sub/out; reads /home/me/project/sub/in
	// ["rm" "-rf" "/home/me/x"] [sh -c]
	//   writes, destroys: rm -r cannot be undone; writes /home/me/x
	// harmless: false
}

func ExampleAnalysis_Inspect() {
	for _, line := range []string{
		"git log --oneline | head -5",
		"ls && cat a",
		"echo $(date) > a",
	} {
		fmt.Printf("%s\n", line)
		for _, p := range command.Analyze(line, command.Options{Dir: "/home/me"}).Inspect() {
			fmt.Printf("  %v\n", p)
		}
	}
	// Output:
	// git log --oneline | head -5
	// ls && cat a
	//   1:7: && is not allowed in mode inspect
	// echo $(date) > a
	//   1:6: a substitution is not allowed in mode inspect
	//   1:1: writes a
}
