package permission_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// In random trees of links, the file that the kernel opens for a command is among the effects of the command.
func TestEffectsFollowTheKernel(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	round := 0
	name := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "a", "b", "..", ".."}), 1, 5)
		return strings.Join(parts.Draw(t, "parts"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		round++
		top := filepath.Join(base, fmt.Sprint(round))
		defer os.RemoveAll(top)
		dirs := []string{filepath.Join(top, "root"), filepath.Join(top, "other")}
		for _, dir := range dirs {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(3, 12).Draw(t, "entries") {
			at := filepath.Join(rapid.SampledFrom(dirs).Draw(t, "in"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "entry"))
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				if os.Mkdir(at, 0o755) == nil {
					dirs = append(dirs, at)
				}
			case 1:
				_ = os.WriteFile(at, nil, 0o600)
			default:
				_ = os.Symlink(name.Draw(t, "target"), at)
			}
		}
		for range 8 {
			read := name.Draw(t, "name")
			opened, err := filepath.EvalSymlinks(dirs[0] + "/" + read)
			if err != nil {
				continue
			}
			e := permission.Effects("cat "+read, command.Options{Dir: dirs[0], Roots: dirs[:1]}, paths.Scratch{})
			if !slices.ContainsFunc(e.Reads, func(p tool.Path) bool { return p.Name == opened }) {
				t.Fatalf("cat %s reads %s; the effects are %+v", read, opened, e.Reads)
			}
		}
	})
}
