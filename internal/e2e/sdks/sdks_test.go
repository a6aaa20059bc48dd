package sdks

import (
	"context"
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const module = "../../sdkconformance"

// The vendors' SDKs still read and write what we do.
func TestSDKs(t *testing.T) {
	look(t, module, "../../modelserver", "../../../llm")
	if out, err := run(t, "list", "-deps", "-test", "./..."); err != nil {
		t.Fatalf("The modules of internal/sdkconformance are not all here, and could not be fetched (%v). They are needed once: "+
			"run go mod download in internal/sdkconformance where there is a network, or let GOPROXY name a proxy that can be reached.\n%s", err, out)
	}
	out, err := run(t, "test", "./...")
	t.Logf("go test ./... in internal/sdkconformance:\n%s", out)
	if err != nil {
		t.Errorf("go test ./... in internal/sdkconformance: %v", err)
	}
}

// run runs the go command that runs this test, which stands first in PATH, in the module. It ends in time to be reported.
func run(t *testing.T, args ...string) (out []byte, err error) {
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-20*time.Second))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = module
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second
	if out, err = cmd.CombinedOutput(); ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// look reads the directories below dirs, so that the cached result of this test ends when a file in them changes.
func look(t *testing.T, dirs ...string) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if d == nil { // there is no dir; what else vanishes meanwhile does not matter
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
