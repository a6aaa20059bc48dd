package redact_test

import (
	"fmt"
	"net/url"

	"github.com/tenon-agent/tenon/redact"
)

// A redactor finds a secret also where it is escaped.
func Example() {
	r := redact.New("sk+0123456789")
	fmt.Println(r.Redact("Authorization: Bearer sk+0123456789"))
	fmt.Println(r.Redact("GET /?key=" + url.QueryEscape("sk+0123456789")))
	// Output:
	// Authorization: Bearer [hidden]
	// GET /?key=[hidden]
}
