// Package llmtest has a language model for tests: it answers from a script, or from a function, as fast or as badly as the
// test wants.
//
//	client := llmtest.New(t, `
//		text I will look.
//		call read {"path":"go.mod"}
//		usage input=120 output=9
//		---
//		error rate_limited retry_after=2s "slow down"
//		---
//		think It is a library.
//		text It is a library
//		text , written in Go.
//	`)
//
// # Scripts
//
// A script is a list of turns. A line "turn" or "---" begins a turn; what stands before the first such line is the first
// turn. The nth request is answered with the nth turn, so that a request that failed and is sent again gets the turn after
// the failure; see [ByHistory] for another order. A request beyond the last turn gets an error that says so.
//
// Each line is one directive. Indentation, empty lines and lines that begin with # do not count.
//
//	turn [label]             begin the next turn; so does ---
//	text WORDS               one text delta; neighbouring ones are one part of the message
//	think WORDS              the same for reasoning
//	signature WORDS          the signature of the reasoning before it
//	opaque JSON              the opaque data of the part before it
//	call NAME [JSON]         a tool call, {} when it has no arguments
//	raw NAME [WORDS]         a complete tool call whose arguments may be malformed
//	truncated NAME [WORDS]   a tool call within which the answer was cut; it is never ready
//	pieces N                 what follows in this turn comes in N deltas each
//	repeat N text WORDS      the same delta N times; also with think
//	usage NAME=NUMBER...     input, cache_read, cache_write, output, reasoning (tokens) and cost (US dollars)
//	stop REASON              end, tool_calls, length, refused or aborted; otherwise what the content tells
//	reset [ERROR]            what came before in this turn is void
//	delay DURATION           wait
//
// Instead of coming to its end an answer may break off with one of these, always the last of its turn:
//
//	error ERROR              fail with an [*llm.Error]
//	cut                      fail as a connection does that broke
//	end                      stop without an error and without the final event, as no client should
//	hang                     wait until the context ends
//	panic [WORDS]            panic
//
// WORDS go to the end of the line, spaces included; when they begin with a double quote they are a Go string, which may
// hold \n. Instead of them, and of JSON, may stand <<END: then it is the lines up to the line END, less the
// indentation of that line. A call may name its id, as in "call#c7 read {}"; otherwise the id tells turn and place, as in call_2_1.
//
// ERROR is a kind of [llm.Kind], then any of status=NUMBER, retry_after=DURATION and request_id=WORD, then the message as a Go
// string: overloaded status=529 "try later".
package llmtest
