package app

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// reachName is the test binary as a program that tries to reach the socket that is its argument.
const reachName = "reach"

// reach sends a request to a socket, and prints the outcome.
func reach(path string) int {
	conn, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println("no connection:", err)
		return 0
	}
	_, _ = io.WriteString(conn, `{"protocol":1,"op":"hello"}`+"\n")
	answer, err := io.ReadAll(conn)
	fmt.Printf("connected: %s %v\n", answer, err)
	return 0
}

// A command in the sandbox cannot reach the socket of its own session, with which it could answer the question about itself: not where the
// socket is in the data directory, and not where it is in /tmp because the data directory has a long path. A command without the sandbox can,
// as any program of the account.
func TestACommandInTheSandboxReachesNoSocket(t *testing.T) {
	if sandbox.Look().Level() == "" {
		t.Skip("no sandbox here")
	}
	for name, deep := range map[string]string{"short": "", "long": strings.Repeat("deep/", 25)} {
		t.Run(name, func(t *testing.T) {
			top, err := os.MkdirTemp("/tmp", "at")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(top) })
			dir := filepath.Join(top, deep)
			o := openedAt(t, dir, "", Opening{Share: true, Permissions: Permissions{Mode: permission.Auto}})
			path := o.server.Session().Path
			if inside := strings.HasPrefix(path, dir); inside != (deep == "") {
				t.Fatalf("the socket is %s", path)
			}
			self, err := os.ReadFile("/proc/self/exe")
			if err == nil {
				err = os.WriteFile(filepath.Join(o.Dir, reachName), self, 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			try := func() string {
				t.Helper()
				e, err := o.Conversation.Command(t.Context(), "./"+reachName+" "+path)
				if err != nil {
					t.Fatal(err)
				}
				return e.Body.(session.Message).Text()
			}
			if got := try(); !strings.Contains(got, "no connection:") {
				t.Errorf("in the sandbox: %s", got)
			}
			if err := o.Conversation.Set(t.Context(), session.Change{Mode: string(permission.Yolo)}); err != nil {
				t.Fatal(err)
			}
			if got := try(); !strings.Contains(got, "connected: ") || !strings.Contains(got, string(o.Conversation.Session())) {
				t.Errorf("without the sandbox: %s", got)
			}
			if live, err := attach.Find(t.Context(), o.app.Dir, o.Conversation.Session()); err != nil || live.Owner != "a test" {
				t.Errorf("got %+v, %v", live, err)
			}
		})
	}
}
