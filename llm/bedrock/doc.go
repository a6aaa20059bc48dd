// Package bedrock is a client of Amazon Bedrock's Converse API.
//
// A client needs a region and credentials: a Bedrock API key in Endpoint.Key, or AWS credentials from the places where all
// AWS tools look: environment, profiles, single sign-on, roles, metadata services. The client touches none of them before
// the first request.
//
// Bedrock serves models of many providers through one protocol. They differ in where images may appear, how to request
// thinking, and where cache points go. The ID of a model names its provider; one table has the rules.
package bedrock
