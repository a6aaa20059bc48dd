// Package decoding measures how our clients and the vendors' SDKs read the same streamed answers:
//
//	go test -run '^$' -bench . ./decoding
//
// It has no code but benchmarks.
package decoding
