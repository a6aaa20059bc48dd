package attach

import (
	"context"
	"encoding/json"
	"iter"
	"reflect"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
)

// operations returns the methods of a conversation by their names in the protocol. The arguments of a method cross as a list, without the
// context, and its results as a list, without the error. Events cross one by one.
func operations() map[string]any {
	type c = conversation.Conversation
	return map[string]any{
		"state": c.State, "follow": c.Follow, "prompt": c.Prompt, "run": c.Run, "edit": c.Edit, "move": c.Move, "remove": c.Remove,
		"answer": c.Answer, "abort": c.Abort, "set": c.Set, "rewind": c.Rewind, "compact": c.Compact, "trim": c.Trim, "command": c.Command,
		"pin": c.Pin, "rename": c.Rename, "window": c.Window, "rules": c.Rules, "revoke": c.Revoke, "end_job": c.EndJob, "fork": c.Fork,
	}
}

// perform calls a method of a conversation. It hands events to emit, and ends if emit fails.
func perform(ctx context.Context, c conversation.Conversation, method any, args json.RawMessage, emit func(session.Event) error) (results []any, err error) {
	in, err := decode(reflect.TypeOf(method), args)
	if err != nil {
		return nil, err
	}
	call := reflect.ValueOf(method).Call
	if reflect.TypeOf(method).IsVariadic() {
		call = reflect.ValueOf(method).CallSlice
	}
	out := call(append([]reflect.Value{reflect.ValueOf(c), reflect.ValueOf(ctx)}, in...))
	last := out[len(out)-1].Interface()
	if events, ok := last.(iter.Seq2[session.Event, error]); ok {
		for e, err := range events {
			if err == nil {
				err = emit(e)
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	for _, value := range out[:len(out)-1] {
		result := value.Interface()
		switch r := result.(type) {
		case *undo.Plan:
			if r != nil {
				shown := *r
				shown.Shared = nil // it belongs to this process
				result = &shown
			}
		case session.Event:
			if r.Body == nil { // there is none
				result = nil
			}
		}
		results = append(results, result)
	}
	err, _ = last.(error)
	return results, err
}

// decode returns the arguments of a method after the conversation and the context. Arguments that are not there are zero.
func decode(method reflect.Type, args json.RawMessage) (in []reflect.Value, err error) {
	var given []json.RawMessage
	if len(args) > 0 {
		err = json.Unmarshal(args, &given)
	}
	for i := 2; i < method.NumIn(); i++ {
		arg := reflect.New(method.In(i))
		if i-2 < len(given) && err == nil {
			err = json.Unmarshal(given[i-2], arg.Interface())
		}
		in = append(in, arg.Elem())
	}
	if err != nil {
		return nil, &coded{"attach.protocol", "cannot read the arguments: " + err.Error()}
	}
	return in, nil
}
