package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/agent"
)

// CompleteWith completes the values of a flag.
func CompleteWith(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist: a mistake in this package
	}
}

// Directories completes directories.
func Directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// DirFlag adds the flag --dir with its completion.
func DirFlag(c *cobra.Command, dir *string, about string) {
	c.Flags().StringVarP(dir, "dir", "C", "", about)
	CompleteWith(c, "dir", Directories)
}

// ChoiceFlag adds a flag that takes one of the choices, with its completion. The help calls the value what.
func ChoiceFlag(c *cobra.Command, value *string, name string, choices []string, what, about string) {
	c.Flags().Var(Choice(value, choices, what), name, about)
	CompleteWith(c, name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// flag is the value of a flag. The help of the flag says its default, if shown does not.
type flag[T any] struct {
	value *T
	what  string // the name of the value in the help
	read  func(string) (T, error)
	shown func(T) string
}

// Type implements [pflag.Value].
func (f flag[T]) Type() string { return f.what }

// String implements [pflag.Value].
func (f flag[T]) String() string {
	if f.shown == nil || f.value == nil {
		return ""
	}
	return f.shown(*f.value)
}

// Set implements [pflag.Value].
func (f flag[T]) Set(text string) error {
	v, err := f.read(text)
	if err == nil {
		*f.value = v
	}
	return err
}

// Choice returns the value of a flag that takes one of the choices. The help calls the value what.
func Choice(value *string, choices []string, what string) pflag.Value {
	return flag[string]{value, what, func(text string) (string, error) {
		if slices.Contains(choices, text) {
			return text, nil
		}
		hint := ""
		if near := Nearest(text, choices); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return "", fmt.Errorf("must be %s%s", OrList(choices), hint)
	}, func(text string) string { return text }}
}

// limit returns the value of a flag with a number above zero, or "none".
func limit[N int | int64 | float64 | time.Duration](value *N, what, kind string, read func(string) (N, error)) pflag.Value {
	return flag[N]{value, what, func(text string) (N, error) {
		if text == "none" {
			return agent.Unlimited, nil
		}
		n, err := read(text)
		if err != nil || !(n > 0) || math.IsInf(float64(n), 0) {
			return 0, fmt.Errorf(`must be %s above zero, or "none"`, kind)
		}
		return n, nil
	}, nil}
}

// IntLimit returns the value of a flag with a limit.
func IntLimit(value *int) pflag.Value { return limit(value, "N", "a whole number", strconv.Atoi) }

// Int64Limit returns the value of a flag with a limit.
func Int64Limit(value *int64) pflag.Value {
	return limit(value, "N", "a whole number", func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

// CostLimit returns the value of a flag with a limit in US dollars.
func CostLimit(value *float64) pflag.Value {
	return limit(value, "USD", "a number of US dollars", func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}

// TimeLimit returns the value of a flag with a time limit.
func TimeLimit(value *time.Duration) pflag.Value {
	return limit(value, "DURATION", "a time such as 90s or 10m", time.ParseDuration)
}

// AgoTime returns the value of a flag with a time in the past: an age, or a date.
func AgoTime(value *time.Time) pflag.Value {
	return flag[time.Time]{value, "TIME", func(text string) (time.Time, error) {
		if d, err := longDuration(text); err == nil {
			return time.Now().Add(-d), nil
		}
		for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
			if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
				return t, nil
			}
		}
		return time.Time{}, errors.New("must be a time ago such as 12h, 7d or 4w, or a date such as 2026-01-31")
	}, nil}
}

// AgeOf returns the value of a flag with an age.
func AgeOf(value *time.Duration) pflag.Value {
	return flag[time.Duration]{value, "AGE", func(text string) (time.Duration, error) {
		d, err := longDuration(text)
		if err != nil || d <= 0 {
			return 0, errors.New("must be a time such as 12h, 90d or 4w")
		}
		return d, nil
	}, nil}
}

// longDuration parses the durations of [time.ParseDuration], and days and weeks.
func longDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		number, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0) || n > math.MaxInt64/float64(length) {
			return 0, fmt.Errorf("%q is not a duration", text)
		}
		return time.Duration(n * float64(length)), nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is in the future", text)
	}
	return d, err
}

// ByteSize returns the value of a flag with a number of bytes.
func ByteSize(value *int64) pflag.Value {
	return flag[int64]{value, "SIZE", func(text string) (int64, error) {
		number, unit := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B"), int64(1)
		for i, letter := range []string{"K", "M", "G", "T"} {
			if rest, ok := strings.CutSuffix(number, letter); ok {
				number, unit = rest, int64(1)<<(10*(i+1))
				break
			}
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n > 0) || n > math.MaxInt64/float64(unit)/2 {
			return 0, errors.New("must be a size such as 500MB or 1GB")
		}
		return int64(n * float64(unit)), nil
	}, nil}
}
