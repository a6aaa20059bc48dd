package workspace

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family is what a command has started: the group of its leader, the shell; and who left the group, but not the session, or
// whose parents belong to it, or who carries its mark.
type family struct {
	leader    int
	mark      []byte // NAME=value, as it stands in an environment
	contained bool   // all die with the leader
	started   time.Time
	asked     map[int]bool // those that terminate has asked to end
}

func newFamily(p *os.Process, mark string, contained bool) family {
	return family{leader: p.Pid, mark: []byte(mark), contained: contained, started: time.Now()}
}

func (f *family) close() {}

// terminate asks all to end.
func (f *family) terminate() { f.asked = f.signal(syscall.SIGTERM) }

// terminateRest asks those that have started since terminate to end: a shell may fork while the request is on its way.
func (f *family) terminateRest() {
	if f.contained {
		return
	}
	for _, m := range f.others(f.asked) {
		f.asked[m.Pid] = true
		_ = m.Signal(syscall.SIGTERM)
		_ = m.Release()
	}
}

// kill kills all, and reports whether there was a process besides the leader. Those that the system ends are not counted.
func (f *family) kill() bool { return len(f.signal(syscall.SIGKILL)) > 0 }

// signal reaches everybody once: first the group, at one stroke, then who is not in it. Who is killed may have started another
// just before; the others may need the processes that they start when they are asked to end.
func (f *family) signal(s syscall.Signal) (reached map[int]bool) {
	reached = map[int]bool{}
	if f.contained {
		_ = syscall.Kill(-f.leader, s)
		return reached
	}
	for pass := range 20 {
		fresh := f.others(reached)
		if pass == 0 {
			_ = syscall.Kill(-f.leader, s)
		} else if len(fresh) == 0 || s != syscall.SIGKILL {
			break
		}
		for _, m := range fresh {
			if reached[m.Pid] = true; pass > 0 || m.group != f.leader {
				_ = m.Signal(s)
			}
			_ = m.Release()
		}
	}
	return reached
}

// member is a process of the family. It is held by the system, so that no other with its number can be meant.
type member struct {
	*os.Process
	group int
}

// others returns the members that live, without the leader and those that are known already.
func (f *family) others(known map[int]bool) (found []member) {
	buf := make([]byte, 64<<10)
	kin := map[int]bool{f.leader: true}
	for _, pid := range f.candidates() {
		name := "/proc/" + strconv.Itoa(pid)
		was, lives := look(name, buf)
		switch {
		case !lives || pid == f.leader || pid == os.Getpid():
			continue
		case !kin[was.parent] && was.session != f.leader && !f.carries(name, buf):
			continue
		}
		kin[pid] = true
		if known[pid] {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if is, lives := look(name, buf); !lives || is.began != was.began {
			_ = p.Release()
			continue
		}
		found = append(found, member{p, was.group})
	}
	return found
}

// candidates returns the numbers of the processes that the command can have started, ascending: after a short time those above its
// own, unless the numbers started again. If these are few, there is no need to look through all processes of the machine.
func (f *family) candidates() []int {
	const few = 256
	var pids []int
	least := 0
	if last := newest(); time.Since(f.started) < time.Second && last >= f.leader {
		least = f.leader
		if last-least < few {
			for pid := least; pid <= last; pid++ {
				pids = append(pids, pid)
			}
			return pids
		}
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid >= least {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// newest is the number that was given last.
func newest() int {
	text, _ := os.ReadFile("/proc/loadavg") // without it all are candidates
	text = bytes.TrimSpace(text)
	pid, _ := strconv.Atoi(string(text[bytes.LastIndexByte(text, ' ')+1:]))
	return pid
}

// status is what the system says of a process.
type status struct {
	parent, group, session int
	began                  string // when
}

// exiting marks a process that is about to end: it runs no more, and has perhaps closed its files already.
const exiting = 4 // PF_EXITING

// look also reports whether the process lives: it exists and has not ended.
func look(name string, buf []byte) (s status, lives bool) {
	text := readFile(name+"/stat", buf)
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return s, false
	}
	if flags, _ := strconv.Atoi(string(fields[6])); flags&exiting != 0 {
		return s, false
	}
	s.parent, _ = strconv.Atoi(string(fields[1]))
	s.group, _ = strconv.Atoi(string(fields[2]))
	s.session, _ = strconv.Atoi(string(fields[3]))
	s.began = string(fields[19])
	return s, true
}

// carries reports whether the mark is in the environment with which the process was started. In the moment in which it leaves one
// program for another it has none, and is looked at again.
func (f *family) carries(name string, buf []byte) bool {
	settled := false
	for range 100 {
		text := readFile(name+"/environ", buf)
		if len(text) == len(buf) {
			text, _ = os.ReadFile(name + "/environ") // the system bounds it
		}
		if len(text) > 0 || text == nil || settled {
			return bytes.Contains(text, f.mark)
		}
		if settled = !between(name, buf); !settled { // otherwise it may have begun the other since
			time.Sleep(100 * time.Microsecond)
		}
	}
	return false
}

const kernelThread = 0x200000 // PF_KTHREAD

// between reports whether a process whose environment is empty may just be leaving one program for another: it does not do so asleep. See
// proc_pid_stat(5).
func between(name string, buf []byte) bool {
	text := readFile(name+"/stat", buf)
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 7 {
		return false
	}
	flags, _ := strconv.Atoi(string(fields[6]))
	return flags&(exiting|kernelThread) == 0 && (fields[0][0] == 'R' || fields[0][0] == 'D')
}

// readFile reads as much of a file as there is room for, with the fewest calls. It is nil when the file cannot be opened.
func readFile(name string, buf []byte) []byte {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	size := 0
	for size < len(buf) {
		n, err := unix.Read(fd, buf[size:])
		if n <= 0 || err != nil {
			break
		}
		size += n
	}
	return buf[:size]
}
