package plan_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool/plan"
)

// receiver notes what a handoff does.
type receiver struct {
	did []string
	err error
}

func (r *receiver) Keep(_ context.Context, p plan.Plan) (string, error) {
	return "plans/" + p.Title + ".md", r.err
}

func (r *receiver) Roles(context.Context) ([]string, error) { return []string{"builder", "docs"}, nil }

func (r *receiver) Execute(_ context.Context, file, role string, fresh bool) (string, error) {
	r.did = append(r.did, file, role)
	if fresh {
		return "s1", nil
	}
	return "", nil
}

func TestHandoff(t *testing.T) {
	const file = "plans/keys.md"
	for name, test := range map[string]struct {
		answer plan.Answer
		nobody bool
		text   string
		did    []string
		want   plan.HandedOver
	}{
		"in this session":     {plan.Answer{"docs, in this session"}, false, "The user chose: docs, in this session. The plan is in " + file + ".", []string{file, "docs"}, plan.HandedOver{Role: "docs"}},
		"in a new session":    {plan.Answer{"builder, in a new session"}, false, "The user chose: builder, in a new session. The plan is in " + file + ".", []string{file, "builder"}, plan.HandedOver{Role: "builder", Session: "s1"}},
		"keep planning":       {plan.Answer{"keep planning"}, false, "Ask them what to change.", nil, plan.HandedOver{Again: true}},
		"words":               {plan.Answer{"without the database"}, false, "says:\nwithout the database", nil, plan.HandedOver{Again: true}},
		"words about a role":  {plan.Answer{"builder"}, false, "says:\nbuilder", nil, plan.HandedOver{Again: true}},
		"a role and words":    {plan.Answer{"builder, in this session", "but later"}, false, "but later", nil, plan.HandedOver{Again: true}},
		"no answer":           {nil, false, "Ask them what to change.", nil, plan.HandedOver{Again: true}},
		"a role that is none": {plan.Answer{"planner, in this session"}, false, "planner, in this session", nil, plan.HandedOver{Again: true}},
		"nobody":              {nil, true, "No one can choose who executes the plan. It is in " + file + ".", []string{file, ""}, plan.HandedOver{}},
	} {
		t.Run(name, func(t *testing.T) {
			r, p := &receiver{}, &person{answers: []plan.Answer{test.answer}}
			o := plan.Options{Receiver: r, Asker: p}
			if test.nobody {
				p.err = plan.ErrNobody
			}
			result, err := run(t, plan.New(o)[0], plan.Plan{Title: "keys", Text: "1. Count the keys", Role: "docs"})
			if test.want.File = file; err != nil || !strings.HasSuffix(result.Content.Text(), test.text) || !reflect.DeepEqual(result.Details, test.want) {
				t.Errorf("%v, text %q, details %+v", err, result.Content.Text(), result.Details)
			}
			if !reflect.DeepEqual(r.did, test.did) {
				t.Errorf("it did %q, want %q", r.did, test.did)
			}
			q := p.asked[0]
			if !strings.Contains(q.Text, "1. Count the keys") || !strings.Contains(q.Text, "suggests the role docs") || len(q.Options) != 5 || q.Default != "" {
				t.Errorf("asked %+v", q)
			}
		})
	}
}

func TestHandoffsThatFail(t *testing.T) {
	r := &receiver{}
	one := plan.New(plan.Options{Receiver: r})[0]
	for want, p := range map[string]plan.Plan{"title is empty": {Text: "a"}, "plan is empty": {Title: "a"}, "more than 102400": {Title: "a", Text: strings.Repeat("a", 200<<10)}} {
		if _, err := run(t, one, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	r.err = errors.New("the disk is full")
	if _, err := run(t, one, plan.Plan{Title: "a", Text: "b"}); !errors.Is(err, r.err) || len(r.did) > 0 {
		t.Errorf("%v, it did %q", err, r.did)
	}
}
