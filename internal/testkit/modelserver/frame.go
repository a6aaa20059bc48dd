package modelserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind says what a frame carries, for the faults that look for a place.
type kind int

const (
	opening kind = iota
	thinking
	text
	call
	closing // without it the answer has no end
)

// frame is a piece of an answer that a provider would send at once, such as one event.
type frame struct {
	kind kind
	data []byte
	fill int64  // bytes of filler behind data
	tail []byte // what follows the filler
}

// object is a JSON object that is written.
type object = map[string]any

// encode returns v as JSON of one line, as the providers write it.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // only maps, lists, strings and numbers of our own making
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// sse returns a server-sent event. An empty name makes no event line.
func sse(name string, v any) []byte {
	if name == "" {
		return fmt.Appendf(nil, "data: %s\n\n", encode(v))
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, encode(v))
}

// pieces cuts s into parts of about n bytes, never within a character; n of 0 leaves it whole. There is none for nothing.
func pieces(s string, n int) []string {
	var out []string
	for s != "" {
		end := len(s)
		if n > 0 && n < len(s) {
			end = n
			for end < len(s) && !utf8.RuneStart(s[end]) {
				end++
			}
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// marker stands for the filler while a long line is encoded.
const marker = "@@filler@@"

// stretch makes a frame of data that holds the marker, with size bytes in its place.
func stretch(data []byte, size int64) frame {
	before, after, _ := bytes.Cut(data, []byte(marker))
	return frame{kind: text, data: before, fill: size, tail: after}
}

// signaturePrefix marks the signatures that this package makes.
const signaturePrefix = "modelserver:"

// sign returns the signature of reasoning by the maker of the models behind a protocol.
func sign(p Protocol, thought string) string {
	sum := sha256.Sum256([]byte(thought))
	return base64.StdEncoding.EncodeToString(append([]byte(signaturePrefix+maker(p)+":"), sum[:18]...))
}

// maker is who signs the reasoning of a protocol. Makers do not take each other's signatures, the clouds of one maker do.
func maker(p Protocol) string {
	switch p {
	case Anthropic, AnthropicVertex, Bedrock:
		return "anthropic"
	case Gemini, GeminiVertex:
		return "google"
	default:
		return string(p)
	}
}

// signatureFits reports whether a signature could be that of the reasoning: those that this package did not make are not known and
// pass.
func signatureFits(p Protocol, signature, thought string) bool {
	return !ours(signature, "") || signature == sign(p, thought)
}

// signatureKnown is signatureFits for unknown content.
func signatureKnown(p Protocol, signature string) bool {
	return !ours(signature, "") || ours(signature, maker(p)+":")
}

// ours reports whether this package made a signature, for a maker if one is given.
func ours(signature, of string) bool {
	data, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && strings.HasPrefix(string(data), signaturePrefix+of)
}

// seed is what the ids of an answer are made of: the same request gets the same ids, the next turn others.
func seed(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:12])
}
