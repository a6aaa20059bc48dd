package catalog_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/catalog"
)

func ExampleNew() {
	sky := catalog.Group{Name: "sky", Tools: []tool.Tool{weather("mcp__sky__alerts", "Lists warnings of storms.")}}
	c := catalog.New(0, sky) // no tokens: the model searches for all tools
	for _, t := range c.Tools() {
		fmt.Println(t.Spec().Name, c.Hides(t.Spec().Name))
	}
	// Output:
	// call_tool false
	// find_tools false
	// mcp__sky__alerts true
}
