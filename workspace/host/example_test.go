package host_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/workspace/host"
)

func Example() {
	list, err := host.Parse("@npm", "*.example.com:443")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"registry.npmjs.org:443", "docs.example.com:443", "docs.example.com:80", "pypi.org:443"} {
		is, _ := list.Has(name)
		fmt.Println(name, is)
	}
	fmt.Println(host.Allow("pypi.org:443"))
	// Output:
	// registry.npmjs.org:443 true
	// docs.example.com:443 true
	// docs.example.com:80 false
	// pypi.org:443 false
	// use --network @pypi, or add @pypi to sandbox.network in tenon.json
}
