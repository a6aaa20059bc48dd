package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// agoFlag is a flag with a time in the past: how long ago, or a date.
type agoFlag struct{ value *time.Time }

func agoTime(value *time.Time) pflag.Value { return agoFlag{value} }

func (f agoFlag) Type() string   { return "TIME" }
func (f agoFlag) String() string { return "" }

func (f agoFlag) Set(text string) error {
	if d, err := longDuration(text); err == nil {
		*f.value = time.Now().Add(-d)
		return nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			*f.value = t
			return nil
		}
	}
	return errors.New("must be a time ago such as 12h, 7d or 4w, or a date such as 2026-01-31")
}

// ageFlag is a flag with a time that may be long.
type ageFlag struct{ value *time.Duration }

func ageOf(value *time.Duration) pflag.Value { return ageFlag{value} }

func (f ageFlag) Type() string   { return "AGE" }
func (f ageFlag) String() string { return "" }

func (f ageFlag) Set(text string) error {
	d, err := longDuration(text)
	if err != nil || d <= 0 {
		return errors.New("must be a time such as 12h, 90d or 4w")
	}
	*f.value = d
	return nil
}

// longDuration reads what time.ParseDuration does, and days and weeks.
func longDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		number, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0) || n > math.MaxInt64/float64(length) {
			return 0, fmt.Errorf("%q is no time", text)
		}
		return time.Duration(n * float64(length)), nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is in the future", text)
	}
	return d, err
}

// bytesFlag is a flag with a number of bytes.
type bytesFlag struct{ value *int64 }

func byteSize(value *int64) pflag.Value { return bytesFlag{value} }

func (f bytesFlag) Type() string   { return "SIZE" }
func (f bytesFlag) String() string { return "" }

func (f bytesFlag) Set(text string) error {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	number = strings.TrimSuffix(number, "B")
	for i, letter := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(number, letter); ok {
			number, unit = rest, int64(1)<<(10*(i+1))
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0) || n > math.MaxInt64/float64(unit)/2 {
		return errors.New("must be a size such as 500MB or 1GB")
	}
	*f.value = int64(n * float64(unit))
	return nil
}

// bytesWords is a number of bytes for people.
func bytesWords(n int64) string {
	const k = 1024
	switch {
	case n < 10*k:
		return fmt.Sprintf("%d B", n)
	case n < 10*k*k:
		return fmt.Sprintf("%d kB", n/k)
	case n < 10*k*k*k:
		return fmt.Sprintf("%d MB", n/k/k)
	}
	return fmt.Sprintf("%d GB", n/k/k/k)
}
