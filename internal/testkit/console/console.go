//go:build unix

package console

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// deadline is how long a person would wait before they call something broken.
const deadline = 30 * time.Second

// maxRaw limits the bytes that Raw returns.
const maxRaw = 4 << 20

// T is the part of testing.TB that a console needs.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Console is a program in a terminal. Its methods are for one goroutine.
type Console struct {
	t       T
	cmd     *exec.Cmd
	outside *os.File
	drained chan struct{} // the program's output has ended
	ended   chan struct{} // the program has ended
	owned   sync.WaitGroup

	mu      sync.Mutex
	screen  *emulator
	size    Size
	written int64
	raw     []byte
	frames  []Frame
	noting  bool
	changed chan struct{} // closed after the next output
	queue   []string
	typed   *sync.Cond
	closed  bool
}

// Frame is one arrival of output.
type Frame struct {
	At    time.Time
	Bytes int
}

// Start runs cmd as the first process of a terminal of its own, and ends it with the test. cmd has no TERM of its own, unless its environment
// says so: it sees a terminal that knows 256 colors, or direct colors if COLORTERM says so.
func Start(t T, cmd *exec.Cmd, size Size, answers Answers) *Console {
	t.Helper()
	outside, inside, err := open(size)
	if err != nil {
		t.Fatalf("cannot open a pseudo-terminal: %v", err)
	}
	c := &Console{
		t: t, cmd: cmd, outside: outside, size: size,
		drained: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{}),
	}
	c.typed = sync.NewCond(&c.mu)
	c.screen = newEmulator(size, answers, c.enqueue)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	if !slices.ContainsFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "TERM=") }) {
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inside, inside, inside
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = inside.Close() // the program has it; otherwise its output would never end
	if err != nil {
		_ = outside.Close()
		t.Fatalf("%v", err)
	}
	c.owned.Go(c.read)
	c.owned.Go(c.write)
	c.owned.Go(func() {
		_ = cmd.Wait() // Exit returns the code
		close(c.ended)
	})
	t.Cleanup(c.close)
	return c
}

// close ends the program and its group, and everything that belongs to the console.
func (c *Console) close() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	_ = c.cmd.Process.Kill()
	_ = c.outside.Close()
	c.mu.Lock()
	c.closed = true
	c.typed.Broadcast()
	c.mu.Unlock()
	c.owned.Wait()
}

// read shows the output.
func (c *Console) read() {
	defer close(c.drained)
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.outside.Read(buffer)
		c.mu.Lock()
		if n > 0 {
			c.screen.write(buffer[:n])
			c.written += int64(n)
			c.raw = append(c.raw, buffer[:n]...)
			if over := len(c.raw) - maxRaw; over > maxRaw {
				c.raw = slices.Clone(c.raw[over:])
			}
			if c.noting {
				c.frames = append(c.frames, Frame{time.Now(), n})
			}
		}
		if n > 0 || err != nil {
			close(c.changed)
			c.changed = make(chan struct{})
		}
		c.mu.Unlock()
		if err != nil { // EIO: no process has the terminal open anymore
			return
		}
	}
}

// enqueue types a text; the caller holds the lock.
func (c *Console) enqueue(text string) {
	c.queue = append(c.queue, text)
	c.typed.Signal()
}

// write types what is queued: a program that does not read must not stop the terminal.
func (c *Console) write() {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.closed {
			c.typed.Wait()
		}
		text := strings.Join(c.queue, "")
		c.queue = nil
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return
		}
		if _, err := c.outside.WriteString(text); err != nil {
			return
		}
	}
}

// Send types a text as it is.
func (c *Console) Send(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueue(text)
}

// Press presses keys, such as "ctrl+c", "enter", "shift+tab" and "a". It sends what a terminal sends in the modes that the program has set.
func (c *Console) Press(keys ...string) {
	c.t.Helper()
	for _, k := range keys {
		c.mu.Lock()
		text, err := c.screen.key(k)
		if err == nil {
			c.enqueue(text)
		}
		c.mu.Unlock()
		if err != nil {
			c.t.Fatalf("%v", err)
		}
	}
}

// Paste pastes a text: between brackets if the program asked for them, with carriage returns for line ends.
func (c *Console) Paste(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text = strings.ReplaceAll(text, "\n", "\r")
	if c.screen.modes[modePaste] {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	c.enqueue(text)
}

// Scribble shows what another program writes to the terminal, such as a message of the system.
func (c *Console) Scribble(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.screen.write([]byte(text))
}

// Focus reports to a program that asked for it that its window has or has not the focus.
func (c *Console) Focus(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen.modes[modeFocus] {
		c.enqueue(map[bool]string{true: "\x1b[I", false: "\x1b[O"}[on])
	}
}

// Click presses and releases a mouse button (0 is the left one, 64 and 65 are the wheel) at a column and a line, if the program asked for it.
func (c *Console) Click(button, x, y int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.screen.modes[1000] && !c.screen.modes[1002] && !c.screen.modes[1003] {
		return
	}
	c.enqueue(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x+1, y+1))
	if button < 64 {
		c.enqueue(fmt.Sprintf("\x1b[<%d;%d;%dm", button, x+1, y+1))
	}
}

// Resize changes the size of the terminal.
func (c *Console) Resize(width, height int) {
	c.t.Helper()
	c.mu.Lock()
	c.size = Size{width, height}
	c.screen.resize(c.size)
	err := setSize(c.outside, c.size)
	c.mu.Unlock()
	if err != nil {
		c.t.Fatalf("cannot resize the terminal: %v", err)
	}
}

// Screen returns what the terminal shows now.
func (c *Console) Screen() Screen {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.screen()
}

// Wait waits until the screen is as wanted, and returns it. It looks after each output, but not within a synchronized frame. The test fails
// after the deadline, or when the program ends before.
func (c *Console) Wait(wanted func(Screen) bool, what string) Screen {
	c.t.Helper()
	late := time.NewTimer(deadline)
	defer late.Stop()
	for {
		c.mu.Lock()
		screen, within, changed := c.screen.screen(), c.screen.modes[modeFrame], c.changed
		c.mu.Unlock()
		if !within && wanted(screen) {
			return screen
		}
		var why string
		select {
		case <-changed:
			continue
		case <-late.C:
			why = fmt.Sprintf("not within %s", deadline)
		case <-c.drained:
			if now := c.Screen(); wanted(now) {
				return now
			}
			why = "the program has closed the terminal"
		}
		c.t.Fatalf("waiting for %s: %s. The screen:\n%s", what, why, c.Screen().Framed())
	}
}

// Until waits until the screen shows all the texts.
func (c *Console) Until(texts ...string) Screen {
	c.t.Helper()
	return c.Wait(func(s Screen) bool {
		return !slices.ContainsFunc(texts, func(t string) bool { return !s.Has(t) })
	}, fmt.Sprintf("%q", texts))
}

// Gone waits until the screen shows none of the texts.
func (c *Console) Gone(texts ...string) Screen {
	c.t.Helper()
	return c.Wait(func(s Screen) bool { return !slices.ContainsFunc(texts, s.Has) }, fmt.Sprintf("%q to go away", texts))
}

// Written returns how many bytes the program wrote.
func (c *Console) Written() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// Raw returns the last bytes that the program wrote: 4 MB or more, if there are so many.
func (c *Console) Raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// Unknown returns the sequences that no modern terminal knows, or none.
func (c *Console) Unknown() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.screen.unknown)
}

// Frames begins to note when output arrives, and returns the arrivals since the last call.
func (c *Console) Frames() []Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.frames
	c.frames, c.noting = nil, true
	return seen
}

// Pid returns the process ID of the program.
func (c *Console) Pid() int { return c.cmd.Process.Pid }

// Usage returns the processor time of the program, which has ended.
func (c *Console) Usage() time.Duration {
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

// Signal sends a signal to the program.
func (c *Console) Signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatalf("cannot signal the program: %v", err)
	}
}

// Kill ends the program with SIGKILL and waits for its end.
func (c *Console) Kill() {
	c.t.Helper()
	c.Signal(syscall.SIGKILL)
	c.Exit()
}

// Hangup closes the terminal, as a lost connection or a closed window does, and waits for the end of the program.
func (c *Console) Hangup() int {
	c.t.Helper()
	if err := c.outside.Close(); err != nil {
		c.t.Fatalf("cannot close the terminal: %v", err)
	}
	return c.Exit()
}

// Exit waits for the end of the program and its output, and returns its exit code: 128 and the number of the signal if one ended it.
func (c *Console) Exit() int {
	c.t.Helper()
	late := time.NewTimer(deadline)
	defer late.Stop()
	for _, end := range []chan struct{}{c.ended, c.drained} {
		select {
		case <-end:
		case <-late.C:
			c.t.Fatalf("the program has not ended, or left a process in the terminal. The screen:\n%s", c.Screen().Framed())
		}
	}
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return c.cmd.ProcessState.ExitCode()
}

// open opens a pseudo-terminal: the side of the terminal, and the side of the program.
func open(size Size) (outside, inside *os.File, err error) {
	outside, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var name string
	err = control(outside, func(fd int) (err error) {
		name, err = unlock(fd)
		return err
	})
	if err == nil {
		inside, err = os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err == nil {
		err = setSize(outside, size)
	}
	if err != nil {
		if inside != nil {
			_ = inside.Close()
		}
		return nil, nil, cmp.Or(err, errors.Join(outside.Close()))
	}
	return outside, inside, nil
}
