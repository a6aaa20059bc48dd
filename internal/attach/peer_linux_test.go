package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// dialVar has the data directory for a process of this test that dials; dialID has the session.
const dialVar, dialID = "ATTACH_DIAL", "ATTACH_SESSION"

// dialMain dials and prints the outcome.
func dialMain() int {
	_, err := Dial(context.Background(), os.Getenv(dialVar), session.SessionID(os.Getenv(dialID)), "child")
	switch {
	case err == nil:
		fmt.Print("connected")
	case errors.Is(err, ErrRefused):
		fmt.Print("refused")
	default:
		fmt.Print(err)
	}
	return 0
}

// A process with other mounts, as all in a sandbox have them, is refused even if it reaches the socket. Another process of the account is not.
func TestAProcessWithOtherMountsIsRefused(t *testing.T) {
	c, dir := local(t, says("")), dataDir(t)
	serve(t, c, dir, c.Session())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for want, attr := range map[string]*syscall.SysProcAttr{
		"connected": {},
		"refused": {
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		},
	} {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), dialVar+"="+dir, dialID+"="+string(c.Session()))
		cmd.SysProcAttr = attr
		out, err := cmd.Output()
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
			t.Log("this machine makes no namespaces: ", err)
			continue
		}
		if err != nil || string(out) != want {
			t.Errorf("got %q, %v, want %s", out, err, want)
		}
	}
}
