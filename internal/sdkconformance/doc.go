// Package sdkconformance holds what we believe about the protocols of models against the vendors' own code: their SDKs
// talk to our test server, read our fixtures, and know every field of our requests. It is a module of its own, so that no
// program of ours depends on an SDK, and has no code but tests. Run it with:
//
//	go -C internal/sdkconformance test ./...
package sdkconformance
