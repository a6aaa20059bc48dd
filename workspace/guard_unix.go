//go:build unix

package workspace

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guard is a small shell that waits for the end of this process, however it comes, and then kills what its commands have left:
// the groups that it knows and, where there is /proc, their sessions and all processes with a mark. The methods of nil do nothing.
type guard struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

const guardScript = `trap '' HUP INT QUIT TERM
groups=' '
while read -r line; do
	number=${line#?}
	case $line in
	+*) groups="$groups$number " ;;
	-*) groups="${groups%%" $number "*} ${groups#*" $number "}" ;;
	*) exit ;;
	esac
done
for number in $groups; do kill -9 "-$number"; done
test -d /proc/self || exit
mark=$1
for again in 1 2 3; do
	for name in $(grep -ls "$mark" /proc/[0-9]*/environ); do
		name=${name#/proc/}
		kill -9 "${name%/environ}"
	done
	for name in /proc/[0-9]*; do
		read -r line <"$name/stat" || continue
		set -- ${line##*) }
		case $groups in
		*" $4 "*) kill -9 "${name#/proc/}" ;;
		esac
	done
done`

// newGuard returns nil when there is no shell. The variable PATH does not count, because a command could have made a program in it.
func newGuard(token string) *guard {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "tenon-guard", markName+"="+token)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin:/run/current-system/sw/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	return &guard{cmd, in}
}

// watch adds a process group.
func (g *guard) watch(group int) { g.tell(fmt.Sprintf("+%d\n", group)) }

// forget removes a group that has ended, before its number can be that of another.
func (g *guard) forget(group int) { g.tell(fmt.Sprintf("-%d\n", group)) }

// tell writes a whole line at once. Commands run also without a guard.
func (g *guard) tell(line string) {
	if g != nil {
		_, _ = io.WriteString(g.in, line)
	}
}

// dismiss ends it and waits for that.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	g.tell(".\n")
	g.in.Close()
	_ = g.cmd.Wait()
}
