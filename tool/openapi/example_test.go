package openapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-agent/tenon/tool/openapi"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"orders": [{"id": 1, "note": "long"}, {"id": 2, "note": "long"}], "status": %q}`, r.URL.Query().Get("status"))
	}))
	defer server.Close()

	api, err := openapi.New(openapi.Options{
		Name: "shop", Server: server.URL, Transport: &http.Transport{DisableKeepAlives: true},
		Document: []byte(`
openapi: 3.1.0
paths:
  /orders:
    get:
      operationId: listOrders
      parameters: [{name: status, in: query, schema: {type: string}}]
      responses: {"200": {description: The orders., content: {application/json: {}}}}
`),
	})
	if err != nil {
		panic(err)
	}
	list := api.Tools()[0]
	fmt.Println(list.Spec().Name)
	call, err := list.Prepare(context.Background(), `{"status": "open", "select": ["orders.id"]}`)
	if err != nil {
		panic(err)
	}
	result, err := call.Run(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Brief)
	fmt.Println(result.Content.Text()[:32])
	// Output:
	// openapi__shop__listOrders
	// 200, 84 bytes
	// {"orders":[{"id":1},{"id":2}]}
	// [
}
