// Package llmtest has a language model for tests: it answers from a script or from a function, with any delay or failure that
// a test needs. Package recording writes down what goes through a client, and plays it again.
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
// A script is a list of turns. A line "turn" or "---" begins a turn; the lines before the first one are the first turn. The
// nth request gets the nth turn, so a retried request gets the turn after the failure; see [ByHistory] for another order. A
// request beyond the last turn gets an error that says so.
//
// Each line is one directive. Indentation, empty lines and lines that begin with # are ignored.
//
//	turn [label]             begin the next turn; so does ---
//	text WORDS               one text delta; neighbouring ones are one part of the message
//	think WORDS              the same for reasoning
//	signature WORDS          the signature of the reasoning before it
//	opaque JSON              the opaque data of the part before it
//	call NAME [JSON]         a tool call, {} when it has no arguments
//	raw NAME [WORDS]         a complete tool call whose arguments may be malformed
//	truncated NAME [WORDS]   a tool call within which the answer was cut; it is never ready
//	pieces N                 split each following part of this turn into N deltas
//	repeat N text WORDS      the same delta N times; also with think
//	usage NAME=NUMBER...     input, cache_read, cache_write, output, reasoning (tokens) and cost (US dollars)
//	stop REASON              end, tool_calls, length, refused or aborted; the default follows from the content
//	reset [ERROR]            void everything before it in this turn
//	delay DURATION           wait
//
// An answer may break off with one of these, always the last directive of its turn:
//
//	error ERROR              fail with an [*llm.Error]
//	cut                      fail like a broken connection
//	end                      stop without an error and without the final event, which breaks the contract of a client
//	hang                     wait until the context ends
//	panic [WORDS]            panic
//
// WORDS extend to the end of the line, spaces included. If they begin with a double quote, they are a Go string, which may
// contain \n. <<END in place of WORDS or JSON means the lines up to the line END, without the indentation of that line. A call
// may name its ID, as in "call#c7 read {}"; the default ID has the turn and the position, as in call_2_1.
//
// ERROR is a kind of [llm.Kind], then any of status=NUMBER, retry_after=DURATION and request_id=WORD, then the message as a Go
// string: overloaded status=529 "try later".
package llmtest
