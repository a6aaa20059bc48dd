package family_test

import (
	"testing"

	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/tool/family"
)

func BenchmarkNew(b *testing.B) {
	all := specs(builtin(b, true))
	for b.Loop() {
		family.New(models.FamilyClaude, all).Offer(all)
	}
}
