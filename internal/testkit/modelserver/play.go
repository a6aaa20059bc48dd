package modelserver

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// frames returns the answer of a step in the pieces in which a provider sends it.
func (o *output) frames(step Step) []frame {
	a := o.s.newAnswer(o.req, step.message)
	if o.req.Stream && o.s.config.Comments && strings.HasPrefix(o.wire.mime, "text/event-stream") {
		return append([]frame{{data: []byte(": PROCESSING\n\n")}}, o.wire.stream(a)...)
	}
	if o.req.Stream {
		return o.wire.stream(a)
	}
	data := encode(o.wire.whole(a))
	third := len(data) / 3
	return []frame{
		{kind: opening, data: data[:third]}, {kind: text, data: data[third : 2*third]}, {kind: closing, data: data[2*third:]},
	}
}

// body writes the answer and lets it go wrong where the step says so. The headers are out.
func (o *output) body(step Step) {
	if step.fault == LongLine && !o.req.Stream {
		step.message.Content = llm.Content{llm.Text{Text: marker}}
		data := encode(o.wire.whole(o.s.newAnswer(o.req, step.message)))
		o.send([]frame{stretch(data, step.size)})
		return
	}
	frames := o.frames(step)
	at := middle(frames, step.fault)
	switch step.fault {
	case ResetAfterHeaders:
		o.reset()
	case StallBeforeFirstByte:
		o.stall(step.pings)
	case EmptyBody:
	case ResetInText:
		o.send(frames[:at])
		o.reset()
	case CutInText, CutInCall:
		o.send(frames[:at])
		_ = o.write(frames[at].data[:len(frames[at].data)/2])
		o.cut()
	case StallInStream:
		o.send(frames[:at])
		o.stall(step.pings)
	case NoLastEvent:
		o.send(slices.DeleteFunc(frames, func(f frame) bool { return f.kind == closing }))
	default:
		o.inStream(step, frames, at)
	}
}

// inStream plays the faults that put something into the middle, and the answers without any.
func (o *output) inStream(step Step, frames []frame, at int) {
	a := o.s.newAnswer(o.req, step.message)
	switch step.fault {
	case ErrorEvent, FailedEvent:
		status, message := step.status, step.text
		if status == 0 {
			status = 529
		}
		if message == "" {
			message = reason(status)
		}
		if !o.req.Stream {
			body, _ := failure(o.req, status, message, 0)
			o.send([]frame{{data: encode(body)}})
			return
		}
		o.send(frames[:at])
		_ = o.write(o.wire.fail(status, message, step.fault == FailedEvent))
	case MalformedLine:
		o.send(slices.Insert(frames, at, frame{data: o.wire.half()}))
	case HalfRune:
		o.send(frames[:at])
		data := o.wire.delta(a, "½")
		_ = o.write(data[:bytes.Index(data, []byte("½"))+1])
	case Endless:
		o.send(frames[:at])
		for more := o.wire.delta(a, "and so on "); o.alive() && o.write(more) == nil; {
		}
		o.cut()
	case LongLine:
		o.send(slices.Insert(frames, at, o.long(a, step.size)))
	case Corrupt:
		frames[at].data = slices.Clone(frames[at].data)
		frames[at].data[len(frames[at].data)-6] ^= 1
		o.send(frames)
	default:
		o.send(frames)
	}
}

// long returns the frame that has one line of n bytes.
func (o *output) long(a *answer, n int64) frame {
	if o.req.Protocol == Bedrock {
		return frame{data: bedrockLong(n), fill: n}
	}
	return stretch(o.wire.delta(a, marker), n)
}

// alive reports whether the client and the server are there.
func (o *output) alive() bool {
	select {
	case <-o.r.Context().Done():
		return false
	case <-o.s.done:
		return false
	default:
		return true
	}
}

// send writes frames. When the client leaves or the server closes it does not return.
func (o *output) send(frames []frame) {
	for _, f := range frames {
		err := o.write(f.data)
		if f.fill > 0 {
			err = errors.Join(err, o.fill(f.fill), o.write(f.tail))
		}
		if err != nil {
			o.cut()
		}
	}
}

// middle returns the index of the frame at which a fault strikes: among the calls when it is about them, else among the texts,
// else among all that has content, else the first that ends the answer.
func middle(frames []frame, f Fault) int {
	wanted := [][]kind{{text}, {thinking, call}, {closing}}
	if f == CutInCall {
		wanted = [][]kind{{call}, {text, thinking}, {closing}}
	}
	for _, kinds := range wanted {
		var at []int
		for i, f := range frames {
			if slices.Contains(kinds, f.kind) {
				at = append(at, i)
			}
		}
		if len(at) > 0 {
			return at[len(at)/2]
		}
	}
	return 0
}
