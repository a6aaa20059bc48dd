package theme_test

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/tenon-agent/tenon/internal/tui/theme"
)

func TestEveryNameIsATheme(t *testing.T) {
	parameters := regexp.MustCompile(`^[0-9;]*$`)
	for _, name := range theme.Names() {
		th := theme.New(name, true)
		if name != theme.Auto && th.Name != name {
			t.Errorf("%s is %s", name, th.Name)
		}
		v := reflect.ValueOf(*th)
		for i := range v.NumField() {
			if s, ok := v.Field(i).Interface().(theme.Style); ok && !parameters.MatchString(string(s)) {
				t.Errorf("%s.%s is %q", name, v.Type().Field(i).Name, s)
			}
		}
	}
	if theme.New(theme.Auto, false).Dark || !theme.New("unknown", true).Dark {
		t.Error("auto does not follow the background")
	}
}

func TestAStyleOverStyles(t *testing.T) {
	line := "a " + theme.Bold.Paint("b") + " c"
	if got := theme.Reverse.Bar(line, 7); got != "\x1b[7ma \x1b[1mb\x1b[0m\x1b[7m c  \x1b[0m" {
		t.Errorf("%q", got)
	}
	if theme.Style("").Paint("x") != "x" || theme.Style("").Over("x") != "x" {
		t.Error("an empty style paints")
	}
}
