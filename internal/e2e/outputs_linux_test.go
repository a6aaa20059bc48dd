package e2e_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

// rest finds the call that a result names for its missing part, and the file in it.
var rest = regexp.MustCompile(`Read them: read (\{"path":"([^"]+)","offset":\d+\})`)

// TestOutputOutlivesItsProcess prints 50 MB with a secret in it, names the output of a running job too, and kills Tenon. Another process continues
// the session and reads both outputs by each way that the model has. Another session cannot, and nothing is left when the session is deleted.
func TestOutputOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	p, w := newProject(t), wayOf(t, "anthropic")
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	ctx, kill := context.WithCancel(t.Context())
	var killed atomic.Bool
	var mu sync.Mutex
	var files []string // mu
	srv := w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		results := r.Results()
		switch len(results) {
		case 0:
			return modelserver.Call("shell", `{"command":"seq 1 3000000; key=$(cat key.txt); for i in $(seq 2000); do printf 'key: '; echo $key; done; seq 3000001 6400000","timeout":600}`)
		case 1:
			return modelserver.Call("shell", `{"command":"seq 1 30000; echo ready; sleep 1000","background":true}`)
		case 2, 3, 4: // the output may take three looks to be there
			if !strings.Contains(results[len(results)-1].Text(), "ready") {
				return modelserver.Call("job", `{"action":"wait","id":"job1","cursor":-1,"timeout":1}`)
			}
		}
		if killed.CompareAndSwap(false, true) {
			kill()
			return modelserver.Say("too late")
		}
		mu.Lock()
		defer mu.Unlock()
		if len(files) > 0 {
			return modelserver.Say("done")
		}
		step := modelserver.Step{}
		for _, result := range results {
			if found := rest.FindStringSubmatch(result.Text()); found != nil {
				files = append(files, found[2])
				step = step.Call("read", found[1]).Call("shell", `{"command":"grep -c 999 `+found[2]+`"}`).
					Call("shell", `{"command":"tail -n 1 `+found[2]+`"}`)
			}
		}
		return step
	}))
	p.secrets = append(p.secrets, w.key)
	p.write(filepath.Join(p.dir, "key.txt"), w.key+"\n")
	if err := p.command(ctx, "run", "--model", w.ref(), "--mode", "auto", "Print.").Run(); err == nil {
		t.Error("the first process was not killed")
	}
	if r := p.tenon("run", "--continue", "--model", w.ref(), "--mode", "auto", "Go on."); r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(files) != 2 || filepath.Dir(files[0]) != filepath.Dir(files[1]) {
		t.Fatalf("the results name %v", files)
	}
	results := srv.Requests()[len(srv.Requests())-1].Results()
	results = results[len(results)-6:]
	for i, want := range []string{"of 6402000; continue", "23320\n", "6400000\n", "of 30001; continue", "57\n", "ready\n"} {
		if text := results[i].Text(); !strings.Contains(text, want) || strings.Contains(text, "does not exist") {
			t.Errorf("result %d is %.300q, without %q", i, text, want)
		}
	}
	size := int64(0)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Fatalf("%v, %v", info, err)
		}
		size += info.Size()
	}
	if kept, err := os.ReadDir(filepath.Dir(files[0])); err != nil || len(kept) != 2 || size < 50_000_000 {
		t.Errorf("%d bytes in the files %v, %v", size, kept, err)
	}
	if r := srv.Requests()[1].Results()[0].Text(); strings.Count(r, "left out") != 1 || strings.Count(r, files[0]) != 1 {
		t.Errorf("not one notice: %s", r)
	}
	p.keepsSecretOnDisk()

	id := p.session()
	other := wayOf(t, "anthropic").serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		if len(r.Results()) == 0 {
			return modelserver.Call("read", `{"path":"`+files[0]+`"}`).Call("shell", `{"command":"head -n 3 `+files[0]+`"}`)
		}
		return modelserver.Say("done")
	}))
	p.must("run", "--model", w.ref(), "--mode", "auto", "Look into the other session.")
	for _, r := range other.Requests()[len(other.Requests())-1].Results() {
		if strings.Contains(r.Text(), "1\n2\n3\n") || strings.Contains(r.Text(), "1\t1\n") {
			t.Errorf("another session reads the output: %.200q", r.Text())
		}
	}
	p.must("sessions", "delete", "--forever", "--yes", id)
	if _, err := os.Stat(files[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the session is deleted, and its output is there: %v", err)
	}
}

// TestOutputOnAFullDisk says the truth about an output that does not fit.
func TestOutputOnAFullDisk(t *testing.T) {
	t.Parallel()
	p, w := newProject(t), wayOf(t, "anthropic")
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	srv := w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		if last := r.Messages[len(r.Messages)-1]; last.Role == llm.RoleUser && strings.Contains(last.Text(), "Print.") {
			return modelserver.Call("shell", `{"command":"seq 1 100000"}`)
		}
		return modelserver.Say("done")
	}))
	p.must("run", "--model", w.ref(), "--mode", "auto", "Hello.")
	dir := filepath.Join(p.data, "contents", p.session(), "outputs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("nothing can be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ask := func() string {
		t.Helper()
		p.must("run", "--continue", "--model", w.ref(), "--mode", "auto", "Print.")
		results := srv.Requests()[len(srv.Requests())-1].Results()
		return results[len(results)-1].Text()
	}
	if text := ask(); strings.Count(text, "left out") != 1 || !strings.Contains(text, `; the file has only the first 65536 of 588895 bytes: write `) ||
		!strings.Contains(text, "no space left on device ...]\n") || !strings.HasSuffix(text, "\n100000\n[exit code 0]") {
		t.Errorf("the result is %s", text)
	}
	if text := ask(); strings.Count(text, "left out") != 1 || !strings.Contains(text, " bytes left out. They are not kept: write ") {
		t.Errorf("the result is %s", text)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}
