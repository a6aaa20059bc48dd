package app

import (
	"testing"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/window"
)

// Every strategy of the configuration is one of the window.
func TestStrategiesOfTheConfiguration(t *testing.T) {
	by := window.Extract{}
	for name, want := range map[config.Strategy]window.Strategy{
		"":                           nil,
		config.StrategyTidy:          nil,
		config.StrategyFull:          nil,
		config.StrategyRecent:        window.Recent{Turns: 7},
		config.StrategySummaryRecent: window.SummaryPlusRecent{Turns: 7, Summarizer: by},
		config.StrategyTiers:         window.Tiers{Recent: 7},
	} {
		if got := (Windowing{Strategy: name, Turns: 7}).strategy(by); got != want {
			t.Errorf("%q is %#v, want %#v", name, got, want)
		}
	}
}
