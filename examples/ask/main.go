// Command ask answers a question about the directory it is started in. It only looks: no gate was chosen, and the default
// lets nothing else pass. The model is the offline one; any other llm.Client takes its place.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/workspace"
)

func main() {
	ctx := context.Background()
	ws, err := workspace.Open(".", workspace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	a, err := agent.New(ctx, memory.New(), agent.Options{
		Client: chain.Retry(offline.New(), chain.RetryPolicy{}),
		Tools:  append(files.New(ws), search.New(ws)...),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	outcome, err := agent.Wait(a.Run(ctx, llm.UserText(strings.Join(os.Args[1:], " "))))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Text)
}
