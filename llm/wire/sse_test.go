package wire_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read describes the events of a stream in short.
func read(r io.Reader) string {
	var got []string
	events := wire.NewEventReader(r)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(got, " ")
		}
		if err != nil {
			return strings.Join(append(got, "error"), " ")
		}
		got = append(got, fmt.Sprintf("%s%q", e.Name, e.Data))
	}
}

var streams = []struct{ name, stream, want string }{
	{"nothing", "", ``},
	{"one", "data: a\n\n", `"a"`},
	{"with a name", "event: x\ndata: a\n\n", `x"a"`},
	{"name after data", "data: a\nevent: x\n\n", `x"a"`},
	{"without a space", "data:a\n\n", `"a"`},
	{"one space is taken", "data:  a \n\n", `" a "`},
	{"two lines of data", "data: a\ndata: b\n\n", `"a\nb"`},
	{"an empty line of data", "data\n\n", `""`},
	{"carriage returns", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", `x"a" "b"`},
	{"comments", ": ping\n\n:\ndata: a\n: more\n\n", `"a"`},
	{"a name without data", "event: x\n\ndata: a\n\n", `"a"`},
	{"fields of no meaning", "id: 1\nretry: 5\nfoo: bar\nnothing\ndata: a\n\n", `"a"`},
	{"a byte order mark", "\ufeffdata: a\n\n", `"a"`},
	{"no empty line at the end", "data: a\n\ndata: b\n", `"a" "b"`},
	{"no line end at the end", "data: a\n\ndata: b", `"a" "b"`},
	{"many empty lines", "\n\n\ndata: a\n\n\n\ndata: b\n\n", `"a" "b"`},
	{"an error as it is", "{\"error\":\"x\"}\n", `"{\"error\":\"x\"}"`},
	{
		"an error as it is, in lines", "data: a\n\n{\n  \"error\": {\n    \"code\": 503\n  }\n}\ndata: b\n\ndata: c\n\n  x\n",
		`"a" "{\n  \"error\": {\n    \"code\": 503\n  }\n}\nb" "c"`,
	},
	{"a page", "<html>\n<body>\n\n</html>", ``},
	{"a long line", "data: " + strings.Repeat("x", 100_000) + "\n\n", fmt.Sprintf("%q", strings.Repeat("x", 100_000))},
	{"a colon in the data", "data: a: b\n\n", `"a: b"`},
	{"upper case is another field", "DATA: a\n\n", ``},
}

func TestEvents(t *testing.T) {
	for _, test := range streams {
		t.Run(test.name, func(t *testing.T) {
			if got := read(strings.NewReader(test.stream)); got != test.want {
				t.Errorf("got %.200s, want %.200s", got, test.want)
			}
			if got := read(iotest.OneByteReader(strings.NewReader(test.stream))); got != test.want {
				t.Errorf("byte by byte: got %.200s, want %.200s", got, test.want)
			}
		})
	}
}

func TestEventsAreBounded(t *testing.T) {
	for name, line := range map[string]string{
		"a line without end": "data: ",
		"lines without end":  "data: " + strings.Repeat("x", 1000) + "\n",
		"a name":             "event: ",
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(&endless{line: line}); got != "error" {
				t.Errorf("got %.100s", got)
			}
		})
	}
	if got := read(iotest.ErrReader(errors.New("broken"))); got != "error" {
		t.Errorf("a broken reader: %s", got)
	}
}

// endless repeats a line, up to a gibibyte.
type endless struct {
	line string
	n    int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n > 1<<30 {
		return 0, io.EOF
	}
	for done := 0; done < len(p); {
		from := e.line
		if e.n >= len(e.line) && !strings.HasSuffix(e.line, "\n") {
			from = strings.Repeat("x", 16<<10)
		}
		n := copy(p[done:], from[e.n%len(from):])
		done, e.n = done+n, e.n+n
	}
	return len(p), nil
}

// However the bytes are cut into reads, the events are the same, and all bytes of data are in the stream.
func FuzzEvents(f *testing.F) {
	for _, s := range streams {
		if len(s.stream) < 1000 {
			f.Add(s.stream)
		}
	}
	f.Fuzz(func(t *testing.T, stream string) {
		whole := read(strings.NewReader(stream))
		if got := read(iotest.OneByteReader(strings.NewReader(stream))); got != whole {
			t.Errorf("byte by byte %s, whole %s", got, whole)
		}
		events := wire.NewEventReader(strings.NewReader(stream))
		for {
			e, err := events.Next()
			if err != nil {
				break
			}
			for line := range strings.SplitSeq(string(e.Data), "\n") {
				if !strings.Contains(stream, line) {
					t.Errorf("the stream has no %q", line)
				}
			}
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	stream := strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"hello\"}}\n\n", 1000)
	b.ReportAllocs()
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		events := wire.NewEventReader(strings.NewReader(stream))
		for {
			if _, err := events.Next(); err != nil {
				break
			}
		}
	}
}
