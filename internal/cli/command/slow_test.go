package command

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTellWhenSlow(t *testing.T) {
	failed := errors.New("failed")
	for takes, want := range map[time.Duration]string{0: "", patience - 1: "", 2 * patience: "because\n"} {
		synctest.Test(t, func(t *testing.T) {
			var told strings.Builder
			err := TellWhenSlow(&told, "because", func() error {
				time.Sleep(takes)
				return failed
			})
			if !errors.Is(err, failed) || told.String() != want {
				t.Errorf("%v: prints %q (%v), want %q", takes, told.String(), err, want)
			}
		})
	}
}
