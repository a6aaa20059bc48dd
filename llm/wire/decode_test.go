package wire

import "testing"

// The error for malformed JSON names no type of this program. It is the same in every process.
func TestWhatIsWrongWithJSON(t *testing.T) {
	tests := map[string]string{
		`[1]`:           `the value at / is of the wrong kind`,
		`{"a":{"b":7}}`: `the value at /a/b is of the wrong kind`,
		`{"a":{"b"`:     `jsontext: unexpected EOF within "/a/b" after offset 9`,
	}
	for data, want := range tests {
		var v struct {
			A struct {
				B string `json:"b"`
			} `json:"a"`
		}
		if err := Unmarshal([]byte(data), &v); err == nil || inJSONWords(err) != want {
			t.Errorf("%s: got %s, want %s", data, inJSONWords(err), want)
		}
	}
}
