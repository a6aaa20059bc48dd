package cli

import (
	"bytes"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// What a model wrote cannot colour a terminal; what the program says about it can.
func TestTranscriptOfAnAnswerThatWasCutOff(t *testing.T) {
	path := session.Entries{
		{Seq: 1, Body: session.Message{Message: llm.UserText("go")}},
		{Seq: 2, Body: session.Message{Message: llm.Message{
			Role: llm.RoleAssistant, Model: "m\x1b[5m", Content: llm.Content{llm.Text{Text: "One."}},
		}}},
		{Seq: 3, Body: session.Partial{Content: llm.Content{llm.Text{Text: "I be\x1b[31mgan"}}}},
	}
	var out bytes.Buffer
	tr := transcript{out: &out, shown: harmless, palette: palette{on: true}}
	messages, err := session.Messages(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	tr.write(session.Summary{}, session.State{}, messages)
	for _, want := range []string{
		"\n\x1b[1mm␛[5m\x1b[0m\nOne.\n",
		"\n\x1b[1mModel\x1b[0m\nI be␛[31mgan\n\x1b[33m(broken off)\x1b[0m\n",
	} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("%q is missing in\n%q", want, out.String())
		}
	}
}
