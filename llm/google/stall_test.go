package google_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
)

// newStalled answers with a stream that says nothing more after its beginning, until the request ends.
func newStalled(beginning string) server {
	return func(r *http.Request) (*http.Response, error) {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		reader, writer := io.Pipe()
		go func() {
			_, _ = io.WriteString(writer, beginning)
			<-r.Context().Done()
			_ = writer.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: reader, Request: r}, nil
	}
}

const (
	someText = `data: {"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}` + "\n\n"
	theEnd   = `data: {"candidates":[{"content":{"parts":[{"text":"."}]},"finishReason":"STOP"}]}` + "\n\n"
)

func TestSilenceEndsAStream(t *testing.T) {
	for _, beginning := range []string{"", someText, ": ping\n\n" + someText} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := llm.Collect(t.Context(), google.New(flash(), on(newStalled(beginning))), hi())
			if e := llm.AsError(err); e == nil || e.Kind != llm.KindStalled || !e.Retryable() {
				t.Errorf("after %q: got %v", beginning, err)
			}
			want := time.Minute
			if beginning == "" {
				want = 2 * time.Minute
			}
			if took := time.Since(start); took != want {
				t.Errorf("after %q: it took %v", beginning, took)
			}
		})
	}
}

// An answer whose end has come is not lost when the server forgets to end the stream.
func TestAnEndIsAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m, err := llm.Collect(t.Context(), google.New(flash(), on(newStalled(someText+theEnd))), hi())
		if err != nil || m.Text() != "Hello." || m.Stop != llm.StopEnd {
			t.Errorf("got %+v, %v", m, err)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a slow consumer loses nothing of what follows
		c := google.New(flash(), on(sse(someText+theEnd+`data: {"usageMetadata":{"promptTokenCount":3}}`+"\n\n")))
		for e, err := range c.Stream(t.Context(), hi()) {
			time.Sleep(time.Hour)
			if done, ok := e.(llm.Done); err != nil || ok && done.Message.Usage.Input != 3 {
				t.Errorf("got %+v, %v", e, err)
			}
		}
	})
	m, err := llm.Collect(t.Context(), google.New(flash(), on(reply(200, "text/event-stream",
		io.MultiReader(strings.NewReader(someText+theEnd), broken{})))), hi())
	if err != nil || m.Text() != "Hello." {
		t.Errorf("got %+v, %v", m, err)
	}
}

// broken is a connection that was reset.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
