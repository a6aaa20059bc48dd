package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// escape is a way out. The script must not get what it wants, and the sandbox must tell that it was the reason.
type escape struct {
	name, script string
	what         string // the reported kind; empty if nothing fails and nothing is reported
	named        string // a part of the reported path or host
}

func escapes() []escape {
	const w, r, c, s = sandbox.Write, sandbox.Read, sandbox.Connect, sandbox.System
	try := func(name, target string) string { return fmt.Sprintf(`ATTEMPT=%q TARGET="%s" "$TRY"`, name, target) }
	return []escape{
		{"write by path", `echo x >"$OUT/victim"`, w, "out/victim"},
		{"write a new file", `echo x >"$OUT/new"`, w, "out/new"},
		{"write next to the project", `echo x >../new`, w, "/new"},
		{"write to the home", `echo x >~/.bashrc`, w, "home/.bashrc"},
		{"write to /etc", `echo x >/etc/cron.d/x`, w, "/etc/cron.d"},
		{"remove", `rm -f "$OUT/victim"`, w, "out/victim"},
		{"chmod", `chmod 777 "$OUT/victim"`, w, "out/victim"},
		{"truncate", `truncate -s 0 "$OUT/victim"`, w, "out/victim"},
		{"write by ..", `echo x >../work/../out/victim`, w, "out/victim"},
		{"write by a link", `ln -s "$OUT/victim" l; echo x >l`, w, "out/victim"},
		{"write by a link to a directory", `ln -s "$OUT" d; echo x >d/new; ls -l d/ >/dev/null; echo y >"$OUT/new"`, w, "out/new"},
		{"write by a hard link", `ln "$OUT/victim" l && echo x >l`, w, "out/victim"},
		{"rename out of its place", `mv "$OUT/victim" .`, w, "out/victim"},
		{"rename into a place", `echo x >n; mv n "$OUT/victim"`, w, "out/victim"},
		{"rename the project", `mv ../work ../work2`, w, "work"},
		{"write by /proc/self/root", `echo x >"/proc/self/root$OUT/victim"`, s, "/proc/self/root"},
		{"write by /proc/self/cwd", `echo x >/proc/self/cwd/../out/victim`, s, "/proc/self"},
		{"write by /proc/1/root", `echo x >"/proc/1/root$OUT/victim"`, s, "/proc/1/root"},
		{"bind mount", `mount --bind . "$OUT"`, s, ""},
		{"remount", `mount -o remount,rw /`, s, ""},
		{"remount a protected directory", `mount -o remount,bind,rw .git/hooks`, s, ""},
		{"mount of a file system", try("mount of tmpfs", "$OUT"), s, ""},
		{"open_tree", try("open_tree mount", ""), s, ""},
		{"fsopen", try("fsopen mount", ""), s, ""},
		{"umount of a cover", `umount ~/.ssh; cat ~/.ssh/id`, r, ".ssh"},
		{"umount2", try("umount", "/tmp"), s, ""},
		{"chroot", `mkdir -p r; PATH=$PATH:/usr/sbin chroot r true`, s, ""},
		{"chroot by itself", try("chroot", "/"), s, ""},
		{"pivot_root", try("pivot_root", "/"), s, ""},
		{"a user namespace", `unshare -Ur true`, s, ""},
		{"a user namespace by unshare", try("unshare of the user", ""), s, ""},
		{"a user namespace by clone", try("clone with a user", ""), s, ""},
		{"a user namespace by clone3", try("clone3", ""), s, ""},
		{"another namespace", try("setns", ""), s, ""},
		{"nsenter", `nsenter -t 1 -m true`, s, ""},
		{"open_by_handle_at", try("open_by_handle_at", "$OUT/victim"), "", ""},
		{"mknod", try("mknod", "disk"), s, ""},
		{"the keys of a terminal", try("ioctl with a key", ""), "", ""},
		{"io_uring", try("io_uring_setup", ""), s, ""},
		{"bpf", try("bpf", ""), s, ""},
		{"keyctl", try("keyctl", ""), s, ""},
		{"userfaultfd", try("userfaultfd", ""), s, ""},
		{"perf_event_open", try("perf_event_open", ""), s, ""},
		{"the name of the machine", try("sethostname", ""), s, ""},
		{"another user", try("setuid of another user", ""), "", ""},
		{"calls of x32", `exec env ` + try("x32", ""), s, ""},

		{"kill a process outside", `kill -9 "$VICTIM"`, s, ""},
		{"kill it by a call", try("kill", "$VICTIM"), s, ""},
		{"kill the helper", `kill -9 1`, "", ""},
		{"ptrace", try("ptrace attach", "$VICTIM"), s, ""},
		{"ptrace of the helper", try("ptrace of the parent", ""), s, ""},
		{"memory by process_vm_readv", try("process_vm_readv", "$VICTIM"), s, ""},
		{"memory of a process", `head -c1 "/proc/$VICTIM/mem"`, s, "/mem"},
		{"memory of the helper", `head -c1 /proc/1/mem`, s, "/proc/1/mem"},
		{"environment of the helper", `cat /proc/1/environ`, s, "/proc/1/environ"},
		{"files of the helper", `ls -l /proc/1/fd/`, s, "/proc/1/fd"},

		{"settings of the kernel", `echo x >/proc/sys/kernel/core_pattern`, s, "core_pattern"},
		{"sysrq", `echo h >/proc/sysrq-trigger`, s, "sysrq-trigger"},
		{"sysfs", `echo 1 >/sys/kernel/uevent_seqnum || echo 0 >/sys/kernel/profiling; touch /sys/x`, s, "/sys/"},
		{"a disk", `head -c1 /dev/vda || head -c1 /dev/sda`, s, "/dev/"},
		{"memory of the machine", `head -c1 /dev/mem`, s, "/dev/mem"},
		{"messages of the kernel", `head -c1 /dev/kmsg`, s, "/dev/kmsg"},
		{"a device made", `echo x >/dev/x`, s, "/dev/x"},

		{"a hook", `echo 'touch ran' >.git/hooks/pre-commit`, w, ".git/hooks/pre-commit"},
		{"a hook in a renamed repository", `mv .git g && mkdir -p .git/hooks && echo x >.git/hooks/pre-commit`, w, ".git"},
		{"a hook by a link", `ln -s .git/hooks h; cp file h/pre-commit; touch .git/hooks/pre-commit`, w, ".git/hooks"},
		{"hooks replaced", `rm -rf .git/hooks; mv .git/hooks h`, w, ".git/hooks"},
		{"settings of git", `git config core.hooksPath x`, w, ".git/config"},
		{"settings of git by path", `echo '[core]hooksPath = x' >>.git/config`, w, ".git/config"},
		{"another common directory", `mkdir -p c; echo ../c >.git/commondir; :`, w, ".git/commondir"},
		{"Tenon's files", `mkdir -p .tenon/x; echo x >.tenon/x/y`, w, ".tenon"},
		{"Tenon's configuration", `echo {} >tenon.json; :`, w, "tenon.json"},

		{"a secret by path", `cat ~/.ssh/id`, r, ".ssh"},
		{"a directory of secrets", `ls ~/.ssh`, r, ".ssh"},
		{"a secret by a link", `ln -s ~/.ssh s; cat s/id; cat ~/.ssh/id`, r, ".ssh"},
		{"a secret by ..", `cat ../home/.ssh/id`, r, ".ssh"},
		{"a secret by /proc/self/root", `cat "/proc/self/root$HOME/.ssh/id"`, s, "/proc/self/root"},
		{"a secret copied", `cp -r ~/.ssh k`, r, ".ssh"},
		{"a secret by a hard link", `ln ~/.aws/credentials k && cat k`, r, ".aws"},
		{"opening a secret's cover", `chmod 777 ~/.ssh; cat ~/.ssh/id`, r, ".ssh"},
		{"a secret in a file that reads as empty", `cat ~/.npmrc`, "", ""},
		{"a secret in the environment", `echo "$PLANTED_API_KEY"; cat /proc/*/environ 2>/dev/null | tr '\0' '\n'`, "", ""},

		{"TCP", try("dial tcp", "192.0.2.1:80"), c, "192.0.2.1"},
		{"TCP on IPv6", try("dial tcp", "[2001:db8::1]:80"), c, ""},
		{"TCP by the shell", `echo x >/dev/tcp/192.0.2.1/80`, c, ""},
		{"UDP", try("dial udp", "192.0.2.1:53"), c, ""},
		{"a name server", try("lookup", "secret.example.com"), c, "secret.example.com"},
		{"names by the C library", `getent hosts example.com || ` + try("lookup", "example.com"), c, ""},
		{"a raw socket", try("raw socket", ""), s, ""},
		{"a packet socket", try("packet socket", ""), s, ""},
		{"a socket to the host of a virtual machine", try("vsock socket", ""), s, ""},
		{"netfilter", try("netfilter socket", ""), s, ""},
	}
}

func TestNoWayOut(t *testing.T) {
	t.Parallel()
	for _, e := range escapes() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			got := g.run(e.script)
			g.whole()
			if strings.Contains(got.out, secretText) || strings.Contains(got.out, "got out") {
				t.Errorf("it got out: %v", got)
			}
			reported := e.what == ""
			for _, b := range got.blocked {
				reported = reported || b.What == e.what && strings.Contains(b.Path+b.Host+b.Why, e.named)
			}
			if !reported {
				t.Errorf("it is not reported: want %s of %q, got %v", e.what, e.named, got)
			}
		})
	}
}

// A process that continues in the background ends with the call. No process holds the pipe any more.
func TestNothingOutlivesTheCall(t *testing.T) {
	for name, script := range map[string]string{
		"setsid":      `setsid sleep 1000 >/dev/null 2>&1 &`,
		"nohup":       `nohup sleep 1000 >/dev/null 2>&1 &`,
		"double fork": `( ( setsid sh -c 'trap "" TERM HUP INT; sleep 1000; sleep 1000' >/dev/null 2>&1 & ) & )`,
		"disown":      `sleep 1000 >/dev/null 2>&1 & disown; kill -STOP $!`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			got := g.run(script, write)
			write.Close()
			if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if n, err := read.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
				t.Errorf("something lives on: %d, %v, %v", n, err, got)
			}
		})
	}
}

// A command ends when the program that started it is killed.
func TestNothingOutlivesTheProgram(t *testing.T) {
	g := newGround(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(g.exe)
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), "ATTEMPT=be killed"), []*os.File{write}
	out, err := cmd.CombinedOutput()
	write.Close()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("%v: %s", err, out)
	}
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := read.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
		t.Errorf("the command lives on: %v", err)
	}
}

func TestFilesOfThisProcessAreNotInherited(t *testing.T) {
	g := newGround(t)
	fd, err := syscall.Open(filepath.Join(g.home, ".ssh/id"), syscall.O_RDONLY, 0) // without O_CLOEXEC, as a careless parent would
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	got := g.run(`for i in $(seq 3 30); do [ -f /proc/self/fd/$i ] && cat <&$i; done; ls -l /proc/self/fd`)
	if strings.Contains(got.out, secretText) {
		t.Error(got)
	}
}

// A socket of a daemon is reached by connecting, which no read-only file system forbids.
func TestDaemonsCannotBeReached(t *testing.T) {
	g := newGround(t)
	places := map[string]string{"next to the project": g.out + "/s", "in the project": g.work + "/s", "abstract": "@tenon-" + filepath.Base(filepath.Dir(g.dir))}
	tmp, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	places["in /tmp"] = tmp + "/s"
	if os.Geteuid() == 0 {
		run, err := os.MkdirTemp("/run", "s")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(run) })
		places["in /run"] = run + "/s"
	}
	for name, path := range places {
		t.Run(name, func(t *testing.T) {
			listen(t, "unix", path)
			got := g.run(fmt.Sprintf(`ATTEMPT="dial unix" TARGET=%q "$TRY"`, path))
			if strings.Contains(got.out, "got out") || len(got.blocked) == 0 || !strings.Contains(got.blocked[0].Path+got.blocked[0].Host, filepath.Base(path)) {
				t.Error(got)
			}
		})
	}
	t.Run("on 127.0.0.1", func(t *testing.T) {
		got := g.run(fmt.Sprintf(`ATTEMPT="dial tcp" TARGET=%q "$TRY"`, listen(t, "tcp", "127.0.0.1:0")))
		if strings.Contains(got.out, "got out") {
			t.Error(got)
		}
	})
}

// A protected directory that is a link: neither the link nor what it leads to can be changed.
func TestProtectedLinks(t *testing.T) {
	g := newGround(t)
	g.write("work/scripts/pre-push", "old")
	if err := os.RemoveAll(g.work + "/.git/hooks"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../scripts", g.work+"/.git/hooks"); err != nil {
		t.Fatal(err)
	}
	got := g.run(`cat .git/hooks/pre-push; echo x >.git/hooks/pre-commit; echo x >scripts/pre-push; rm .git/hooks; ln -sfn /tmp .git/hooks; mv scripts s; mv .git/hooks h`)
	if text, err := os.ReadFile(g.work + "/.git/hooks/pre-push"); string(text) != "old" || err != nil || !strings.HasPrefix(got.out, "old") {
		t.Errorf("%q, %v, %v", text, err, got)
	}
	g.whole()
}

// A command has no privileges, for root as for anyone, and cannot get one from a program that gives some.
func TestNoPrivileges(t *testing.T) {
	g := newGround(t)
	got := g.works(`grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status`)
	for line := range strings.Lines(got.out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		want := map[string]string{"NoNewPrivs": "1", "Seccomp": "2"}[name]
		if strings.HasPrefix(name, "Cap") {
			want = "0000000000000000"
		}
		if value != want {
			t.Errorf("%s is %s", name, value)
		}
	}
}

// If the network is open, a kernel that cannot distinguish the peers of a connection would let a command reach listeners on abstract names,
// such as the desktop. Therefore no command gets such a socket there.
func TestSocketsOfThisMachine(t *testing.T) {
	for _, tt := range []struct {
		level        sandbox.Level
		open, scoped bool
		family       uint32
		allowed      bool
	}{
		{sandbox.Namespaces, false, false, unix.AF_UNIX, true},
		{sandbox.Namespaces, true, true, unix.AF_UNIX, true},
		{sandbox.Namespaces, true, false, unix.AF_UNIX, false},
		{sandbox.Namespaces, true, false, unix.AF_INET, true},
		{sandbox.Partly, true, true, unix.AF_UNIX, false},
		{sandbox.Partly, false, true, unix.AF_INET, false},
	} {
		answer, err := sandbox.Judged(tt.level, tt.open, tt.scoped, tt.family)
		if err != nil || (answer == unix.SECCOMP_RET_ALLOW) != tt.allowed {
			t.Errorf("%+v: %#x, %v", tt, answer, err)
		}
	}
}

// The same by trying, with the network open.
func TestAbstractSocketsOfAnOpenNetwork(t *testing.T) {
	g := newGround(t)
	g.policy.Network.Open = true
	path := "@tenon-open-" + filepath.Base(filepath.Dir(g.dir))
	listen(t, "unix", path)
	if got := g.run(fmt.Sprintf(`ATTEMPT="dial unix" TARGET=%q "$TRY"`, path)); strings.Contains(got.out, "got out") {
		t.Error(got)
	}
}
