package wire_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tenon-agent/tenon/llm/wire"
)

func ExampleEventReader() {
	stream := ": keep-alive\n\nevent: greeting\ndata: {\"hello\":\ndata: \"world\"}\n\ndata: [DONE]\n\n"
	events := wire.NewEventReader(strings.NewReader(stream))
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		fmt.Printf("%q %q\n", e.Name, e.Data)
	}
	// Output:
	// "greeting" "{\"hello\":\n\"world\"}"
	// "" "[DONE]"
}
