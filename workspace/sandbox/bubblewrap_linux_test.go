package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tenon-agent/tenon/internal/testkit/program"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

const bwrap = "/usr/bin/bwrap"

// hasBubblewrap skips a test where it is missing.
func hasBubblewrap(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(bwrap); err != nil {
		t.Skip("bubblewrap is not installed; apt-get install bubblewrap, or what your system calls it")
	}
}

// elsewhere is where and as whom the tests run once more: this program is started there by inElsewhere.
type elsewhere struct {
	user    int
	refused bool   // no user namespace can be made, by anyone: the limit of their number is zero
	setuid  bool   // bubblewrap is
	liar    string // these are its arguments, instead of "$list", the list that it is given
	edit    string // this program of sed changes the list
}

// again runs tests of this program there and returns what they said.
func (e elsewhere) again(t *testing.T, run, skip string) string {
	t.Helper()
	hasBubblewrap(t)
	if slow {
		t.Skip("it takes minutes under the race detector, which has nothing to see in other processes")
	}
	dir, err := os.MkdirTemp("", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{self: dir + "/test", bwrap: dir + "/bwrap", "/dev/null": dir + "/over"} {
		if err := program.Copy(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(dir+"/tmp", 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir+"/tmp", e.user, e.user); err != nil {
			t.Fatal(err)
		}
	}
	over := ""
	switch {
	case e.setuid:
		over = dir + "/bwrap"
		if err := os.Chmod(over, 0o755|os.ModeSetuid); err != nil {
			t.Fatal(err)
		}
	case e.liar != "":
		over = dir + "/over"
		script := "#!/bin/sh\nlist=\"--args $2\"\n"
		if e.edit != "" {
			script += "new=$(mktemp -p " + dir + "/tmp); sed -z '" + e.edit + "' /proc/self/fd/$2 >$new; cat $new >/proc/self/fd/$2\n"
		}
		script += "shift 2; exec " + dir + "/bwrap " + e.liar + " \"$@\"\n"
		if err := program.Write(over, []byte(script)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.Background(), dir+"/test", "-test.run="+run, "-test.skip="+skip, "-test.v", "-test.timeout=5m")
	cmd.Dir, cmd.Env = dir, []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir + "/tmp", "TMPDIR=" + dir + "/tmp",
		"ELSEWHERE=" + strconv.Itoa(e.user), "OVER=" + over, "REFUSED=" + strconv.FormatBool(e.refused), "WAY=bubblewrap",
	}
	if e.refused || over != "" {
		all := []syscall.SysProcIDMap{{Size: 1 << 16}}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true,
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// inElsewhere makes the place that again wants, in a process that has namespaces of its own, and starts the tests there.
func inElsewhere(user string) error {
	var errs []error
	if over := os.Getenv("OVER"); over != "" {
		errs = append(errs, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount(over, bwrap, "", unix.MS_BIND, ""))
	}
	if os.Getenv("REFUSED") == "true" {
		errs = append(errs, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
	}
	if id, err := strconv.Atoi(user); err != nil || id != os.Geteuid() {
		errs = append(errs, err, syscall.Setgroups(nil), syscall.Setgid(id), syscall.Setuid(id))
	}
	if err := errors.Join(append(errs, os.Unsetenv("ELSEWHERE"))...); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

// Everything that holds for namespaces of our own holds for those that bubblewrap makes: the same tests again. A sample runs all of them in
// one place, and in the others those of the walls.
func TestThroughBubblewrap(t *testing.T) {
	const (
		walls = "^Test(BubblewrapIsTried|NoWayOut|NoPrivileges)"
		all   = "^Test(BubblewrapIsTried|NoWayOut|Nothing|Files|Daemons|NoPrivileges|ToolsWork|ACommit|Kept|ExitCodes|Covers|WithoutAWall|Signals|Killed|Listed|AnOpenNetwork|Secrets|Sockets|Toolchains|Projects|AView|Attributes|Temporary|ProtectedFiles)"
		skip  = "TestToolsWork/(python|node|npm)"
	)
	t.Parallel()
	const nobody = 65534
	for name, e := range map[string]elsewhere{
		"as nobody": {user: nobody}, "as root, refused": {refused: true}, "as nobody, refused, setuid": {user: nobody, refused: true, setuid: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Geteuid() != 0 {
				if e.refused || e.setuid {
					t.Skip("only root can make such a place")
				}
				e.user = os.Geteuid()
			}
			run := all
			if e.refused && !sample.All() {
				run = walls
			}
			text := e.again(t, run, skip)
			if !strings.Contains(text, "--- PASS: TestNoWayOut/write_by_path") || strings.Contains(text, "has no namespaces for us") {
				t.Errorf("they did not run:\n%s", text)
			}
		})
	}
}

// Before a command runs, the sandbox checks the namespaces that bubblewrap made. A bubblewrap that does less than requested does not count.
func TestAnotherBubblewrap(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can put another one in its place")
	}
	for args, want := range map[string]string{
		`$list`: "",
		`--bind / / --proc /proc --dev /dev --unshare-pid --as-pid-1 --unshare-ipc --unshare-uts --unshare-net`: "the mount on /: it is not ro",
		`$list --bind /etc /etc`:                     "the mount on /etc: it is not ro",
		`$list --dev-bind /dev/null /usr/bin/python`: "gave up",
		`--ro-bind / / --proc /proc --dev /dev --unshare-pid --as-pid-1 --unshare-ipc --unshare-uts`: `no namespace of the kind "net"`,
		`--ro-bind / / --proc /proc --dev /dev --unshare-net --unshare-ipc --unshare-uts`:            "no process namespace",
		`--ro-bind / / --dev-bind /dev /dev --proc /proc --unshare-all --as-pid-1`:                   "the mount on /dev: it is not ro",
		`--ro-bind / / --dev /dev --proc /proc --unshare-all --as-pid-1`:                             "it is not ro",
		`--version`: "gave up",
	} {
		e := elsewhere{refused: true, liar: args}
		text := e.again(t, "^TestBubblewrapIsTried$", "")
		_, text, _ = strings.Cut(text, "found: ")
		if (want == "") != strings.HasPrefix(text, "true") || !strings.Contains(text, want) {
			t.Errorf("%s: %s", args, text)
		}
	}
}

// The same with one argument that is another than it should be, for a command in a project.
func TestABubblewrapThatLeavesGaps(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can put another one in its place")
	}
	for edit, want := range map[string]string{
		``:                                    "exit 0",
		`s/^0000$/0755/`:                      "it can be read",
		`s|^/dev/null$|/dev/zero|`:            "it is not hidden",
		`12,$s/^--ro-bind$/--bind/`:           "it is not ro",
		`12,$s/^--bind$/--dev-bind/`:          "it is not nodev",
		`s|^/tmp/.*/work$|/etc|`:              "nothing is mounted there",
		`/^--bind$/{n;s|^.*/work$|/etc|}`:     "another file than before",
		`/^--ro-bind$/{n;s|^.*/hooks$|/usr|}`: "another file than before",
	} {
		e := elsewhere{refused: true, liar: "$list", edit: edit}
		text := e.again(t, "^TestBubblewrapRuns$", "")
		_, text, _ = strings.Cut(text, "it ran: ")
		if (edit == "") != strings.HasPrefix(text, "exit 0, <nil>") || !strings.Contains(text, want) || edit != "" && strings.Contains(text, "command ran") {
			t.Errorf("%s: %s", edit, text)
		}
	}
}

// TestBubblewrapRuns says what becomes of a command there.
func TestBubblewrapRuns(t *testing.T) {
	if os.Getenv("WAY") == "" {
		return
	}
	hasBubblewrap(t)
	g := newGround(t)
	g.policy.Hidden = append(g.policy.Hidden, g.home+"/secret")
	g.write("home/secret", secretText)
	t.Logf("it ran: %v", g.run("echo command ran"))
}

// TestBubblewrapIsTried says what the look finds.
func TestBubblewrapIsTried(t *testing.T) {
	hasBubblewrap(t)
	look := sandbox.LookBorrowed()
	if !strings.HasPrefix(look.Bubblewrap, bwrap) || look.Trouble == "" {
		t.Errorf("%+v", look)
	}
	if (look.Level() == sandbox.Namespaces) != look.Borrowed {
		t.Errorf("%+v", look)
	}
	t.Logf("found: %v %s", look.Borrowed, look.Bubblewrap)
}

// A protected link cannot be kept by bubblewrap, which follows it: nothing runs then.
func TestBubblewrapAndProtectedLinks(t *testing.T) {
	hasBubblewrap(t)
	g := newGround(t)
	g.policy = &sandbox.Policy{Writable: g.policy.Writable, Protected: g.policy.Protected, Hidden: g.policy.Hidden, Readable: g.policy.Readable}
	g.policy.Pretend(sandbox.LookBorrowed())
	if err := errors.Join(os.RemoveAll(g.work+"/.git/hooks"), os.Symlink("../file", g.work+"/.git/hooks")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("true")
	cmd.Dir = g.work
	_, err := g.policy.Wrap(cmd)
	if unavailable := (*sandbox.UnavailableError)(nil); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), ".git/hooks is protected and a link") {
		t.Error(err)
	}
}

// A program that others could have put there is not started.
func TestOnlyRootsBubblewrapIsUsed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has files of root")
	}
	dir, err := os.MkdirTemp("/usr/local", "bubblewrap")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"good", "mine", "shared", "open/dir/b", "strange/b"} {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.Chmod(dir, 0o755), os.Chown(dir+"/mine", 1, 0), os.Chmod(dir+"/shared", 0o775), os.Chmod(dir+"/open", 0o777), os.Chown(dir+"/strange", 1, 0),
		os.Symlink(dir+"/good", dir+"/strange/link"), os.Symlink(dir+"/mine", dir+"/link"), os.Symlink("good", dir+"/fine"),
	); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{
		"good": true, "fine": true, "mine": false, "shared": false, "open/dir/b": false, "strange/b": false, "strange/link": false, "link": false, "missing": false,
	} {
		path, err := sandbox.FindBubblewrap([]string{filepath.Join(dir, name)})
		if (err == nil) != ok || ok && path != dir+"/good" {
			t.Errorf("%s: %q, %v", name, path, err)
		}
	}
}

func FuzzParseMounts(f *testing.F) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`1 2 0:1 / /a\040b\134 ro,nosuid - tmpfs x rw`)
	f.Fuzz(func(t *testing.T, text string) {
		if mounts, err := sandbox.ParseMounts(text); err == nil && len(mounts) > strings.Count(text, "\n")+1 {
			t.Error(mounts)
		}
	})
}
