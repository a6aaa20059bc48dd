package bedrock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

func encoded(tb testing.TB, m eventstream.Message) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// everyHeader is a message with a header of each type.
func everyHeader() eventstream.Message {
	m := eventstream.Message{Payload: []byte(`{"a":1}`)}
	m.Headers.Set("yes", eventstream.BoolValue(true))
	m.Headers.Set("no", eventstream.BoolValue(false))
	m.Headers.Set("byte", eventstream.Int8Value(-1))
	m.Headers.Set("short", eventstream.Int16Value(-2))
	m.Headers.Set("int", eventstream.Int32Value(3))
	m.Headers.Set("long", eventstream.Int64Value(4))
	m.Headers.Set("bytes", eventstream.BytesValue("some"))
	m.Headers.Set("time", eventstream.TimestampValue(time.Unix(1, 0)))
	m.Headers.Set("uuid", eventstream.UUIDValue{1, 2, 3})
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue("metadata"))
	return m
}

func TestFrame(t *testing.T) {
	data := append(encoded(t, everyHeader()), encoded(t, eventstream.Message{})...)
	for name, r := range map[string]io.Reader{"at once": bytes.NewReader(data), "byte by byte": iotest.OneByteReader(bytes.NewReader(data))} {
		t.Run(name, func(t *testing.T) {
			frames := frameReader{r: r}
			f, err := frames.next()
			if err != nil || string(f.message) != "event" || string(f.event) != "metadata" || string(f.payload) != `{"a":1}` {
				t.Errorf("got %s, %v", f, err)
			}
			if f, err := frames.next(); err != nil || len(f.payload) != 0 || f.message != nil {
				t.Errorf("got %s, %v", f, err)
			}
			if _, err := frames.next(); err != io.EOF {
				t.Errorf("got %v", err)
			}
		})
	}
}

// prelude begins a message whose checksum is right, whatever it says of lengths.
func prelude(total, headers uint32) []byte {
	head := binary.BigEndian.AppendUint32(nil, total)
	head = binary.BigEndian.AppendUint32(head, headers)
	return binary.BigEndian.AppendUint32(head, crc32.ChecksumIEEE(head))
}

// sealed is a message with those bytes for headers, whose checksums are right.
func sealed(headers string) []byte {
	data := append(prelude(uint32(preludeSize+len(headers)+sumSize), uint32(len(headers))), headers...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
}

func TestBadFrames(t *testing.T) {
	good := encoded(t, everyHeader())
	damaged := bytes.Clone(good)
	damaged[len(damaged)-6] ^= 1
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, io.EOF},
		{"half a prelude", good[:5], errCut},
		{"only a prelude", good[:12], errCut},
		{"without its last byte", good[:len(good)-1], errCut},
		{"a damaged prelude", append([]byte{9}, good[1:]...), errSum},
		{"a damaged payload", damaged, errSum},
		{"of 4 GB", prelude(1<<32-1, 0), errLength},
		{"headers of 4 GB", prelude(1<<20, 1<<32-1), errLength},
		{"headers beyond the message", prelude(20, 8), errLength},
		{"shorter than its own frame", prelude(15, 0), errLength},
		{"text", []byte("data: {\"hello\":\"world\"}\n\n"), errSum},
		{"a header without a name", sealed("\x00\x00"), errHeader},
		{"a header without a type", sealed("\x01a"), errHeader},
		{"a header of an unknown type", sealed("\x01a\x0a"), errHeader},
		{"a header without the length of its value", sealed("\x01a\x07\x00"), errHeader},
		{"a header whose value is cut", sealed("\x01a\x07\x00\x05abc"), errHeader},
		{"a number that is cut", sealed("\x01a\x05abc"), errHeader},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frames := frameReader{r: bytes.NewReader(tt.data)}
			if _, err := frames.next(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// A message that says that it is long, and is not, costs no more than what came of it.
func TestLengthIsNotBelieved(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	frames := frameReader{r: io.MultiReader(bytes.NewReader(prelude(maxFrame, 0)), strings.NewReader("short"))}
	_, err := frames.next()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err != errCut || got > 1<<20 {
		t.Errorf("%d bytes for 5: %v", got, err)
	}
}

// Whatever the bytes are, what this reader takes that of AWS takes too, and reads the same in it. That of AWS takes more: it is
// content with headers that end behind the length of a name.
func FuzzFrame(f *testing.F) {
	f.Add(encoded(f, everyHeader()))
	f.Add(append(encoded(f, eventstream.Message{Payload: []byte("a")}), encoded(f, everyHeader())...))
	f.Add(sealed("\x01a\x07\x00\x01b"))
	f.Add(prelude(maxFrame, 0))
	f.Add([]byte("HTTP/1.1 502 Bad Gateway"))
	f.Fuzz(agree)
}

// The same behind checksums, which chance does not get past.
func FuzzHeaders(f *testing.F) {
	f.Add("\x01a\x07\x00\x01b")
	f.Add("\x01a\x0a")
	f.Add("\x0b:event-type\x07\x00\x08metadata\x01b\x01\x01c\x05\x00\x00\x00\x00\x00\x00\x00\x00")
	f.Fuzz(func(t *testing.T, headers string) {
		if len(headers) <= maxHeaders {
			agree(t, sealed(headers))
		}
	})
}

func agree(t *testing.T, data []byte) {
	ours, theirs := frameReader{r: bytes.NewReader(data)}, bytes.NewReader(data)
	decoder := eventstream.NewDecoder()
	for {
		f, err := ours.next()
		m, wrong := decoder.Decode(theirs, nil)
		if err != nil {
			return
		}
		if wrong != nil {
			t.Fatalf("%s is taken, but that of AWS says %v", f, wrong)
		}
		if !bytes.Equal(f.payload, m.Payload) {
			t.Fatalf("payload %q, that of AWS %q", f.payload, m.Payload)
		}
		for name, got := range map[string][]byte{":message-type": f.message, ":event-type": f.event, ":exception-type": f.exception} {
			if v, ok := m.Headers.Get(name).(eventstream.StringValue); ok && string(v) != string(got) && bytes.Count(data, []byte(name)) == 1 {
				t.Fatalf("%s is %q, that of AWS %q", name, got, v)
			}
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	m := eventstream.Message{Payload: []byte(`{"contentBlockIndex":0,"delta":{"text":"word "},"p":"abcdefghijkl"}`)}
	m.Headers.Set(":event-type", eventstream.StringValue("contentBlockDelta"))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	data := encoded(b, m)
	b.Run("own", func(b *testing.B) {
		r := bytes.NewReader(nil)
		frames := frameReader{r: r}
		b.ReportAllocs()
		for b.Loop() {
			r.Reset(data)
			if _, err := frames.next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("of AWS", func(b *testing.B) {
		r := bytes.NewReader(nil)
		decoder := eventstream.NewDecoder()
		payload := make([]byte, 0, 1024)
		b.ReportAllocs()
		for b.Loop() {
			r.Reset(data)
			if _, err := decoder.Decode(r, payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}
