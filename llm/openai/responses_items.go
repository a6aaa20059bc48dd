package openai

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm/wire"
)

// respItem is one item of the output while it grows.
type respItem struct {
	key   string // its number among the items
	kind  string // message, reasoning, function_call, custom_tool_call or an unknown kind
	id    string
	index int // place in the output by the server's count, -1 when it does not say
	part  int // number of its part of the answer, -1 when it has none yet
	at    respAt
	begun bool // text or reasoning has come
	done  bool // it was said to be done
	ended bool // the text of a call of a free-form tool is complete
}

// respAt is a position within an item. The deltas of one position are contiguous.
type respAt struct{ content, summary int }

// respOutputItem is an item of the output as the server writes it, begun or whole.
type respOutputItem struct {
	ID        string            `json:"id"`
	Type      string            `json:"type"`
	Status    string            `json:"status"`
	Phase     string            `json:"phase"`
	Content   []respContentPart `json:"content"`
	Summary   []respContentPart `json:"summary"`
	CallID    string            `json:"call_id"`
	Name      string            `json:"name"`
	Arguments jsontext.Value    `json:"arguments"`
	Input     string            `json:"input"` // of a free-form tool
}

type respContentPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// maxRespItems bounds the items of one answer.
const maxRespItems = 1000

// begin adds an item. The error is that there are too many.
func (d *respDecoder) begin(kind, id string, index int) (*respItem, error) {
	if len(d.items) >= maxRespItems {
		return nil, d.resp.Protocol("the answer has more than " + strconv.Itoa(maxRespItems) + " items")
	}
	it := &respItem{key: strconv.Itoa(len(d.items)), kind: kind, id: id, index: index, part: -1}
	if kind == "reasoning" { // reserve its position: the data to send back may come at the very end
		d.answer.Break()
		d.answer.OpaqueThinking(nil)
		it.part = d.answer.Part()
		d.current = it
	}
	d.items = append(d.items, it)
	return it, nil
}

// find returns the item of an event: by its ID, else by its place because some gateways give another ID each time, else the last of
// its kind that is not done when nothing names it. An item that was not announced begins.
func (d *respDecoder) find(kind, id string, index int) (*respItem, error) {
	if it := d.current; it != nil && it.kind == kind && it.id == id && it.index == index {
		return it, nil
	}
	var byPlace *respItem
	for i := len(d.items) - 1; i >= 0; i-- {
		it := d.items[i]
		if it.kind != kind {
			continue
		}
		if id != "" && it.id == id {
			return it, nil
		}
		if byPlace == nil && (index >= 0 && it.index == index || index < 0 && !it.done && (id == "" || it.id == "")) {
			byPlace = it
		}
	}
	if byPlace != nil {
		return byPlace, nil
	}
	return d.begin(kind, id, index)
}

// enter makes an item the current one. It reports whether the position is new.
func (d *respDecoder) enter(it *respItem, at respAt) (fresh bool) {
	if d.current != it {
		d.answer.Break()
		d.current = it
	}
	fresh = !it.begun || it.at != at
	it.at = at
	return fresh
}

// text is more text of a message, or of a refusal in its place.
func (d *respDecoder) text(e *respEvent, s string) error {
	it, err := d.find("message", e.ItemID, e.OutputIndex)
	if err != nil || s == "" {
		return err
	}
	d.enter(it, respAt{content: e.ContentIndex})
	it.begun = true
	d.answer.Text(s)
	it.part = d.answer.Part()
	return nil
}

// textDone repeats a text, for servers that send no deltas of it.
func (d *respDecoder) textDone(e *respEvent) error {
	d.refused = d.refused || e.Refusal != ""
	it, err := d.find("message", e.ItemID, e.OutputIndex)
	if err != nil || it.begun && it.at == (respAt{content: e.ContentIndex}) {
		return err
	}
	return d.text(e, cmp.Or(e.Text, e.Refusal))
}

// reasoning is more of a summary, or of the reasoning itself where a model shows it. Its parts are paragraphs.
func (d *respDecoder) reasoning(e *respEvent, s string) error {
	it, err := d.find("reasoning", e.ItemID, e.OutputIndex)
	if err != nil || s == "" {
		return err
	}
	if d.enter(it, respAt{e.ContentIndex, e.SummaryIndex}) && it.begun {
		s = "\n\n" + s
	}
	it.begun = true
	d.answer.Thinking(s)
	return nil
}

func (d *respDecoder) reasoningDone(e *respEvent) error {
	it, err := d.find("reasoning", e.ItemID, e.OutputIndex)
	if err != nil || it.begun && it.at == (respAt{e.ContentIndex, e.SummaryIndex}) {
		return err
	}
	return d.reasoning(e, e.Text)
}

// arguments is more of the arguments of a call, or all of them when they are done.
func (d *respDecoder) arguments(e *respEvent, done bool) error {
	it, err := d.find("function_call", e.ItemID, e.OutputIndex)
	if err != nil {
		return err
	}
	d.current = nil
	if !done {
		d.answer.Arguments(it.key, e.Delta)
		return nil
	}
	d.answer.WholeArguments(it.key, respArguments(e.Arguments))
	d.answer.EndCall(it.key)
	return nil
}

// input is more of the text of a call of a free-form tool, or all of it when it is done.
func (d *respDecoder) input(e *respEvent, done bool) error {
	it, err := d.find("custom_tool_call", e.ItemID, e.OutputIndex)
	if err != nil {
		return err
	}
	d.current = nil
	if done {
		d.endInput(it, e.Input)
		d.answer.EndCall(it.key)
		return nil
	}
	text := strings.TrimSuffix(freeArguments(e.Delta), freeEnd)
	if it.begun {
		text = strings.TrimPrefix(text, freeBegin)
	}
	it.begun = true
	d.answer.Arguments(it.key, text)
	return nil
}

// endInput completes the arguments of a call of a free-form tool, once.
func (d *respDecoder) endInput(it *respItem, whole string) {
	if it.ended {
		return
	}
	it.ended = true
	if it.begun {
		d.answer.Arguments(it.key, freeEnd)
	} else {
		d.answer.Arguments(it.key, freeArguments(whole))
	}
}

// item begins an item, or completes it.
func (d *respDecoder) item(e *respEvent, done bool) error {
	var item respOutputItem
	if err := d.readItem(e.Item, &item); err != nil || !item.known() {
		return err
	}
	if done {
		it, err := d.find(item.Type, item.ID, e.OutputIndex)
		if err != nil {
			return err
		}
		it.done, it.id = true, cmp.Or(it.id, item.ID)
		d.settle(it, &item, e.Item)
		return nil
	}
	it, err := d.begin(item.Type, item.ID, e.OutputIndex)
	if err != nil || it.kind != "function_call" && it.kind != "custom_tool_call" {
		return err
	}
	d.current = nil
	d.answer.Call(it.key, cmp.Or(item.CallID, item.ID), item.Name)
	if it.kind == "custom_tool_call" {
		d.answer.OpaqueCall(it.key, []byte(freeOpaque))
	}
	return nil
}

// known reports whether the item is of a kind that can be part of an answer.
func (i *respOutputItem) known() bool {
	return i.Type == "message" || i.Type == "reasoning" || i.Type == "function_call" || i.Type == "custom_tool_call"
}

// readItem reads an item. It reads only the kind of an item of an unknown kind.
func (d *respDecoder) readItem(raw jsontext.Value, item *respOutputItem) error {
	if len(raw) == 0 {
		return nil
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := d.resp.Decode(raw, &head); err != nil {
		return err
	}
	item.Type = head.Type
	if !item.known() {
		return nil
	}
	*item = respOutputItem{}
	return d.resp.Decode(raw, item)
}

// settle completes an item with its whole form: it adds the parts that no delta brought. It may be called again with more.
func (d *respDecoder) settle(it *respItem, item *respOutputItem, raw jsontext.Value) {
	goesOn := !it.begun || d.current == it
	switch it.kind {
	case "message":
		if text := d.messageText(item); text != "" && goesOn {
			d.enter(it, it.at)
			it.begun = true
			d.answer.WholeText(text)
			it.part = d.answer.Part()
		}
		if item.Phase != "" {
			data, _ := wire.Marshal(respPhased{item.Phase}) // a string can always be written
			d.answer.Opaque(it.part, data)
		}
	case "reasoning":
		if text := respReasoningText(item); text != "" && goesOn {
			d.enter(it, it.at)
			it.begun = true
			d.answer.WholeThinking(text)
		}
		d.answer.Opaque(it.part, respOpaque(raw))
	case "function_call", "custom_tool_call":
		d.current = nil
		d.answer.Call(it.key, cmp.Or(item.CallID, item.ID), item.Name)
		if it.kind == "function_call" {
			d.answer.WholeArguments(it.key, respArguments(item.Arguments))
		} else {
			d.answer.OpaqueCall(it.key, []byte(freeOpaque))
			if item.Status != "incomplete" {
				d.endInput(it, item.Input)
			}
		}
		if item.Status != "incomplete" {
			d.answer.EndCall(it.key)
		}
	}
}

// complete settles the items of the whole output. Each belongs to the streamed item with its ID, else to the next remaining item of
// its kind, else it is new.
func (d *respDecoder) complete(output []jsontext.Value) error {
	items := make([]respOutputItem, len(output))
	belongs := make([]*respItem, len(output))
	taken := make(map[*respItem]bool)
	byID := make(map[string]*respItem)
	for _, it := range d.items {
		byID[it.kind+" "+it.id] = it
	}
	for i, raw := range output {
		if err := d.readItem(raw, &items[i]); err != nil {
			return err
		}
		if it := byID[items[i].Type+" "+items[i].ID]; items[i].ID != "" && it != nil && !taken[it] {
			belongs[i], taken[it] = it, true
		}
	}
	left := make(map[string][]*respItem)
	for _, it := range d.items {
		if !taken[it] {
			left[it.kind] = append(left[it.kind], it)
		}
	}
	for i := range items {
		if !items[i].known() {
			continue
		}
		it := belongs[i]
		if rest := left[items[i].Type]; it == nil && len(rest) > 0 {
			it, left[items[i].Type] = rest[0], rest[1:]
		}
		if it == nil {
			var err error
			if it, err = d.begin(items[i].Type, items[i].ID, -1); err != nil {
				return err
			}
		}
		d.settle(it, &items[i], output[i])
	}
	return nil
}

// messageText returns the text of a message, and notes a refusal in it.
func (d *respDecoder) messageText(item *respOutputItem) string {
	var b strings.Builder
	for _, p := range item.Content {
		d.refused = d.refused || p.Refusal != ""
		b.WriteString(p.Text)
		b.WriteString(p.Refusal)
	}
	return b.String()
}

// respReasoningText returns the summary of an item of reasoning, or the reasoning itself when it has no summary.
func respReasoningText(item *respOutputItem) string {
	for _, parts := range [][]respContentPart{item.Summary, item.Content} {
		var texts []string
		for _, p := range parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "\n\n")
		}
	}
	return ""
}

// respArguments returns arguments as JSON text. They are a string; some servers send the object itself.
func respArguments(v jsontext.Value) string {
	if s := string(v); len(v) > 0 && v[0] != '"' && s != "null" {
		return s
	}
	return respString(v)
}
