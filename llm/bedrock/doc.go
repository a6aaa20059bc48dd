// Package bedrock asks models of Amazon Bedrock through its Converse API.
//
// A client needs a region, and proof of identity: an API key of Bedrock in Endpoint.Key, or else the credentials of AWS, which
// are looked for where all of its tools look: environment, profiles, single sign-on, roles, metadata services. Nothing of that
// is touched before the first request.
//
// Bedrock has models of many makers behind one protocol, and they differ in what they take: what images may stand in, how
// thinking is asked for, where cache points go. The ID of a model tells its maker; the rules are in one table.
package bedrock
