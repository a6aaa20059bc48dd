package search_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

func Example() {
	pieces := search.Pieces(session.Note{Text: "NewBranch in session/path.go looks only where the branch ends."})
	for _, text := range []string{"branch", "path.go new", `"only where"`, "-branch path"} {
		q := search.Parse(text)
		fmt.Printf("%s: %v\n", text, q.Match(search.StreamsOf(pieces), false))
	}
	_, s := search.Parse("path.go").Snippet(pieces, false)
	fmt.Println(s.Text[s.Marks[0].Start:s.Marks[0].End])
	// Output:
	// branch: true
	// path.go new: true
	// "only where": true
	// -branch path: false
	// path.go
}
