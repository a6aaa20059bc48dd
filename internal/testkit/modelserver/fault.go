package modelserver

// Fault is a way in which an answer goes wrong after its request was accepted. The values are stable: scripts write them.
type Fault string

// The faults. The middle is that of the answer's texts, or of its calls where the name says so; an answer that is not
// streamed has one as well, but its error event is a body of the error alone. A stall lasts until the client leaves or the server closes.
const (
	ResetBeforeHeaders   Fault = "reset_before_headers"    // the connection is reset, nothing was answered
	ResetAfterHeaders    Fault = "reset_after_headers"     // the same after the headers
	ResetInText          Fault = "reset_in_text"           // the same in the middle
	CutInText            Fault = "cut_in_text"             // the connection ends in the middle of a line, without the end of its body
	CutInCall            Fault = "cut_in_call"             // the same within a tool call's arguments
	ErrorEvent           Fault = "error_event"             // an error in the stream, in the protocol's own shape; then the stream ends
	FailedEvent          Fault = "failed_event"            // Responses: response.failed; for others the same as error_event
	MalformedLine        Fault = "malformed_line"          // half a JSON on a line of its own; the answer goes on behind it
	HalfRune             Fault = "half_rune"               // the body ends well, within a character
	NoLastEvent          Fault = "no_last_event"           // the body ends well, but the event is missing that ends an answer
	StallBeforeHeaders   Fault = "stall_before_headers"    // nothing is answered
	StallBeforeFirstByte Fault = "stall_before_first_byte" // only the headers are
	StallInStream        Fault = "stall_in_stream"         // only the first half is
	Endless              Fault = "endless"                 // more and more text until the client leaves
	LongLine             Fault = "long_line"               // see [Step.LongLine]
	Empty                Fault = "empty"                   // a successful answer without content
	EmptyBody            Fault = "empty_body"              // status and content type of an answer, and no byte of it
	HTML                 Fault = "html"                    // status 200 and the page of a proxy
	WrongType            Fault = "wrong_type"              // the right answer as application/octet-stream
	Corrupt              Fault = "corrupt"                 // Bedrock: one byte in the middle is wrong, and so is the checksum
)

// Faults returns every fault in a fixed order.
func Faults() []Fault {
	return []Fault{
		ResetBeforeHeaders, ResetAfterHeaders, ResetInText, CutInText, CutInCall, ErrorEvent, FailedEvent, MalformedLine, HalfRune,
		NoLastEvent, StallBeforeHeaders, StallBeforeFirstByte, StallInStream, Endless, LongLine, Empty, EmptyBody, HTML, WrongType, Corrupt,
	}
}

// page is what a proxy answers.
const page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Please sign in to the network</h1></body></html>\n"

// overflow stands for the provider's own words for a request that is too long.
const overflow = "\x00overflow"
