// Package recorded holds our clients against exchanges that were recorded with real servers: they must read each recorded
// answer as a second, simple reading of the same bytes does, and ask for the same conversation with a body of the same
// meaning. The recordings are not ours and stay outside; without them the test is skipped:
//
//	TENON_RECORDED=DIR go test ./recorded
//
// DIR has cassettes of go-vcr, one file for each conversation.
package recorded
