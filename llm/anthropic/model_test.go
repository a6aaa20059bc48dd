package anthropic

import "testing"

// An alias is answered with the name of a snapshot, which is the same model; a gateway may answer with another.
func TestSameModel(t *testing.T) {
	tests := []struct {
		asked, answered string
		same            bool
	}{
		{"claude-sonnet-4-5", "claude-sonnet-4-5-20250929", true},
		{"claude-sonnet-4-0", "claude-sonnet-4-20250514", true},
		{"claude-3-5-haiku-latest", "claude-3-5-haiku-20241022", true},
		{"claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929", true},
		{"claude-sonnet-4-5", "claude-haiku-4-5", false},
	}
	for _, tt := range tests {
		if got := sameModel(tt.asked, tt.answered); got != tt.same {
			t.Errorf("%s answered by %s: got %v", tt.asked, tt.answered, got)
		}
	}
}
