package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

// reporter reports the start of the output as it arrives, in whole runes.
type reporter struct {
	report tool.Report
	size   int    // bytes reported
	rest   []byte // an incomplete rune
}

func (r *reporter) write(data []byte) {
	if r.size >= maxCapture {
		return
	}
	data = append(r.rest, data[:min(len(data), maxCapture-r.size)]...)
	r.size += len(data) - len(r.rest)
	end := len(data) - begun(string(data[max(0, len(data)-utf8.UTFMax):]))
	r.rest = append([]byte(nil), data[end:]...)
	if end > 0 {
		r.report(strings.ToValidUTF8(string(data[:end]), "\ufffd"))
	}
	if r.size >= maxCapture {
		r.report("\n[the rest of the output is not shown live]\n")
	}
}

// begun returns the bytes of an incomplete rune at the end of a text.
func begun(text string) int {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRuneInString(b) {
				return i
			}
			break
		}
	}
	return 0
}
