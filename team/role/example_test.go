package role_test

import (
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/team/role"
)

func ExampleParse() {
	r, err := role.Parse("docs", "---\ndescription: Writes documentation\ntools: Read, Edit\n---\nEvery command must work when it is pasted.\n")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Name, r.Tools)
	// Output: docs [read edit]
}
