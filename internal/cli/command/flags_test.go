package command

import (
	"testing"
	"time"

	"github.com/tenon-agent/tenon/transcript"
)

func TestLongDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "7d": 168 * time.Hour, "1.5d": 36 * time.Hour, "2w": 336 * time.Hour, "0d": 0,
		"": -1, "d": -1, "-1d": -1, "-1h": -1, "NaNd": -1, "1e300w": -1, "soon": -1,
	} {
		if got, err := longDuration(text); err == nil && got != want || err != nil && want >= 0 {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "10B": 10, "2k": 2048, "1.5MB": 1536 << 10,
		"1 GB": 1 << 30, "0": 0, "-1": 0, "much": 0, "NaN": 0, "1e300": 0,
	} {
		var got int64
		if err := ByteSize(&got).Set(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 10_239: "10239 B", 10_240: "10 kB", 50 << 20: "50 MB", 1 << 35: "32 GB"} {
		if got := transcript.Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
