package window

// Room is what is left of a model's window for the results of the next calls.
type Room struct {
	Level   Level
	Result  int    // bytes of text that one result may have; 0: as many as usual
	Blocked bool   // nothing more fits: calls are not run, the model is to conclude
	Note    string // a line for the model when the level has changed; empty: none
}

// Level says how full a window is.
type Level string

// The levels, by the share of the usable window that is taken.
const (
	Normal     Level = "normal"     // below 70 %
	Moderate   Level = "moderate"   // below 85 %
	Aggressive Level = "aggressive" // below 95 %
	Critical   Level = "critical"
)
