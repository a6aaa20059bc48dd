package openai

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm/wire"
)

// keptDetail is an element of reasoning_details that goes back to the server. Its texts grow while its pieces come.
type keptDetail struct {
	chatDetail
	text, summary strings.Builder
}

// detail takes in a piece of reasoning_details, and returns its text for people.
func (d *chatDecoder) detail(piece *chatDetail) string {
	if d.chat.o.Profile.ReasoningBack == ReasoningDetails {
		d.keepDetail(piece)
	}
	return string(firstOf(piece.Text, piece.Summary))
}

func (d *chatDecoder) keepDetail(piece *chatDetail) {
	var last *keptDetail
	if n := len(d.details); n > 0 {
		last = d.details[n-1]
	}
	if last == nil || !last.goesOn(piece) {
		if d.pieces++; d.pieces > maxPieces {
			d.failed = d.resp.Protocol("the answer has more than " + strconv.Itoa(maxPieces) + " pieces of reasoning")
			return
		}
		last = &keptDetail{chatDetail: *piece}
		last.Index = bytes.Clone(piece.Index)
		d.details = append(d.details, last)
	} else {
		last.add(piece)
	}
	last.text.WriteString(string(piece.Text))
	last.summary.WriteString(string(piece.Summary))
}

// goesOn reports whether a piece belongs to the element: it is of the same kind and place, and the element is not signed yet.
func (k *keptDetail) goesOn(piece *chatDetail) bool {
	return k.Type == piece.Type && bytes.Equal(k.Index, piece.Index) && k.Data == "" && piece.Data == "" && k.Signature == "" &&
		(k.ID == "" || piece.ID == "" || k.ID == piece.ID)
}

// add takes from a piece the fields that the element lacks.
func (k *keptDetail) add(piece *chatDetail) {
	k.Signature = firstOf(k.Signature, piece.Signature)
	k.ID = firstOf(k.ID, piece.ID)
	k.Format = firstOf(k.Format, piece.Format)
	for name, v := range piece.Rest {
		if k.Rest == nil {
			k.Rest = piece.Rest
			return
		}
		k.Rest[name] = v
	}
}

// keepDetails attaches the collected reasoning_details to the current thinking before another part begins.
func (d *chatDecoder) keepDetails() {
	if len(d.details) == 0 {
		return
	}
	list := make([]*chatDetail, len(d.details))
	for i, k := range d.details {
		k.Text, k.Summary = looseString(k.text.String()), looseString(k.summary.String())
		list[i] = &k.chatDetail
	}
	d.details = nil
	if data, err := wire.Marshal(list); err == nil {
		d.answer.OpaqueThinking(data)
	}
}
