// Package openapi makes tools of the operations of an HTTP API that an OpenAPI document describes, version 3.0 or later.
//
//	api, err := openapi.New(openapi.Options{Name: "shop", Document: data, Server: "https://shop.example.com", Transport: transport})
//	tools := api.Tools() // openapi__shop__listOrders, ...
//
// Each operation is one tool. Its arguments are the parameters of the operation and, as "body", its body. GET and HEAD only declare their host;
// the effects of other methods are unknown in addition, so that permission asks about them. Operations that the package cannot call are
// [Problem]s, and the others work.
//
// The document is data of someone else: its size, its nesting and its references are bounded, it never leads to other files or hosts, and
// credentials go only to the server of the operation that demands them.
package openapi
