package sandbox

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/workspace/host"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// The kinds of blocked access.
const (
	Read    = "read"
	Write   = "write"
	Connect = "connect"
	System  = "system" // a system call, or a look at other processes
)

// Blocked is an access that the policy denied to a command.
type Blocked struct {
	What string // Read, Write, Connect or System
	Path string // the file to read or write, absolute
	Host string // the host to reach; empty if it is not known
	Why  string

	Undone   bool // it was not prevented, and reverted after the command
	Replaced bool // it was perhaps not prevented, because a program outside replaced the file
}

// String returns a sentence.
func (b Blocked) String() string {
	switch {
	case b.Replaced:
		return fmt.Sprintf("the sandbox could not protect %s to the end: %s", b.Path, b.Why)
	case b.Path != "":
		return fmt.Sprintf("the sandbox blocked: %s %s: %s", b.What, b.Path, b.Why)
	case b.Host != "":
		return fmt.Sprintf("the sandbox blocked: %s to %s: %s", b.What, b.Host, b.Why)
	}
	return "the sandbox blocked: " + b.Why
}

// Words of programs about a refusal of the system.
var (
	readOnly  = []string{"read-only file system", "erofs"}
	denied    = []string{"permission denied", "eacces", "permissionerror", "device or resource busy", "ebusy", "resource busy"}
	perhaps   = []string{"operation not permitted", "eperm", "invalid cross-device link", "exdev", "no such file or directory", "enoent", "connection refused", "econnrefused"}
	noNetwork = []string{
		"network is unreachable", "enetunreach", "network unreachable", "could not resolve host", "temporary failure in name resolution",
		"name or service not known", "no such host", "eai_again", "getaddrinfo", "address family not supported", "failed to lookup address",
		"couldn't connect to server", "dial udp", "unable to resolve host", "unknown host ", "no route to host",
	}
	// Words of package managers that lack a package and have no network, and the group of hosts that has it.
	lacking = [][2]string{
		{"reading file://", "@go"},
		{"module lookup disabled by goproxy", "@go"},
		{"but --offline was specified", "@crates"},
		{"using offline mode (--offline)", "@crates"},
		{"no matching distribution found for ", "@pypi"},
		{"network connectivity is disabled, but", "@pypi"},
		{"err_pnpm_no_offline", "@npm"},
		{"enotcached", "@npm"},
		{"yn0080", "@npm"},
	}
	forbidden = []string{
		"operation not permitted", "eperm", "bad system call", "function not implemented", "permission denied", "no such process",
		"must be superuser", "permissionerror",
	}
	// Words of programs that change the system, if they fail with one of these.
	systemWords = []string{
		"mount", "unshare", "chroot", "setns", "nsenter", "ptrace", "strace", "attach", "gdb", "io_uring", "mknod", "bpf", "keyctl",
		"pivot_root", "kill", "/proc/", "raw socket", "ping", "socket", "userfaultfd", "perf", "hostname", "clone", "process_vm",
	}
	// Programs that do nothing else.
	systemPrograms = []string{"mount", "umount", "chroot", "unshare", "nsenter", "mknod", "swapon", "insmod", "modprobe", "sysctl"}
)

// Explain recognizes the denied accesses of a command by its output, its exit code and the refusals of the proxy. It reads the first and the
// last 64 KiB of output. It can miss an access about which a program writes nothing. It includes an access that failed for another reason, if
// the policy would have denied it, too.
func (c *Confined) Explain(output []byte, exit int) []Blocked {
	var found []Blocked
	add := func(b Blocked) {
		same := func(o Blocked) bool { return o.What == b.What && o.Path == b.Path && o.Host == b.Host }
		if len(found) < 50 && !slices.ContainsFunc(found, same) {
			found = append(found, b)
		}
	}
	for _, b := range c.made {
		add(b)
	}
	if c.proxy != nil {
		for _, b := range c.proxy.refusals() {
			add(b)
		}
	}
	if exit == 0 && len(output) == 0 {
		return found
	}
	for line := range strings.Lines(ends(output)) {
		for _, b := range c.line(strings.TrimSpace(line)) {
			add(b)
		}
	}
	if exit == 128+31 { // SIGSYS
		add(Blocked{What: System, Why: "a system call of another architecture ended the command"})
	}
	return found
}

func ends(output []byte) string {
	const most = 64 << 10
	if len(output) > 2*most {
		return string(output[:most]) + "\n" + string(output[len(output)-most:])
	}
	return string(output)
}

// line recognizes the denied accesses in one line of output.
func (c *Confined) line(line string) []Blocked {
	if len(line) > 4<<10 {
		line = line[:4<<10]
	}
	low := strings.ToLower(line)
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	if b, ok := c.bounded(low); ok {
		return []Blocked{b}
	}
	program, _, _ := strings.Cut(low, ":")
	if slices.Contains(systemPrograms, program) && has(forbidden) {
		return []Blocked{{What: System, Why: why(line)}}
	}
	isRO, isDenied, isPerhaps := has(readOnly), has(denied), has(perhaps)
	isDenied = isDenied || c.Level == Seatbelt && isPerhaps
	if isRO || isDenied || isPerhaps {
		var found []Blocked
		for _, path := range c.named(line) {
			if b, ok := c.judge(path, isRO, isDenied, strings.Contains(low, "cross-device") || strings.Contains(low, "exdev")); ok {
				// Of two paths, as in "cannot copy 'a' to 'b'", the last is the one that was to be written.
				found = slices.DeleteFunc(found, func(o Blocked) bool { return o.Why == outside })
				found = append(found, b)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	group := slices.IndexFunc(lacking, func(l [2]string) bool { return strings.Contains(low, l[0]) })
	socket := abstract().FindString(line)
	switch {
	case isPerhaps && socket != "" && listening(socket): // in this order: the list of sockets is long, and so can the output be
		return []Blocked{{What: Connect, Host: socket, Why: "a socket of a program outside cannot be reached"}}
	case group >= 0 && !c.policy.Network.Open && len(c.policy.Network.Hosts) == 0:
		name := lacking[group][1]
		return []Blocked{{What: Connect, Host: name, Why: "commands have no network, and the caches here lack the package; " + host.Allow(name)}}
	case !c.policy.Network.Open && has(noNetwork) && !loopback(hostIn(line)):
		return []Blocked{{What: Connect, Host: hostIn(line), Why: c.noNetwork(hostIn(line))}}
	case has(forbidden) && has(systemWords):
		return []Blocked{{What: System, Why: why(line)}}
	case isRO:
		return []Blocked{{What: Write, Why: "only the writable places can be written: " + line}}
	}
	return nil
}

func why(line string) string {
	return "commands may not change the system or look at other processes: " + line
}

// noNetwork is the reason why a command cannot reach a host, "" for an unknown one.
func (c *Confined) noNetwork(name string) string {
	why := "commands have no network"
	if list, err := host.Parse(c.policy.Network.Hosts...); err == nil && len(list) > 0 {
		why = "commands reach only the listed hosts, and those through the proxy that HTTP_PROXY and ALL_PROXY name"
		if _, listed := list.Has(name); listed {
			return why + "; this program does not use it"
		}
	}
	return why + "; " + host.Allow(cmp.Or(name, "HOST"))
}

// listening reports whether an abstract socket outside of the sandbox has a name.
func listening(name string) bool {
	sockets, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.Lines(string(sockets)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[len(fields)-1] == name {
			return true
		}
	}
	return false
}

// loopback reports whether a host is inside the sandbox, where it may be reached.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

const outside = "it lies outside of the places that may be written"

// judge says whether the policy blocks what a program could not do with a path.
func (c *Confined) judge(path string, isRO, isDenied, isCross bool) (Blocked, bool) {
	inside := func(dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return paths.Inside(filepath.Clean(dir), path) })
	}
	writable := c.rules(path) == Write
	switch {
	case c.rules(path) == hidden && !writable && !isRO && c.inHome(path) && exists(path):
		return Blocked{What: Read, Path: path, Why: "the home directory is empty for commands; list the path in sandbox.readable to show it"}, true
	case c.rules(path) == hidden && c.inHome(path) && !isRO:
		return Blocked{}, false
	case c.rules(path) == hidden && !c.inHome(path):
		return Blocked{What: Read, Path: path, Why: "it is hidden from commands, as secrets are"}, true
	case inside(c.policy.Protected), inside(c.policy.Absent), isRO && inside(c.fixed()):
		return Blocked{What: Write, Path: path, Why: "it is protected: it could run code later, outside"}, true
	case isDenied && writable && slices.ContainsFunc(c.policy.Protected, func(p string) bool { return paths.Inside(path, filepath.Clean(p)) }):
		return Blocked{What: Write, Path: path, Why: "it holds what is protected, and must stay where it is"}, true
	case slices.Contains(c.sockets, path):
		return Blocked{What: Connect, Path: path, Why: "a program outside listens there"}, true
	case inside([]string{"/run", "/var/run"}):
		return Blocked{What: Connect, Path: path, Why: "sockets of the machine's daemons are covered"}, true
	case c.Level == Namespaces && inside([]string{"/tmp", "/var/tmp"}) && !inside(c.policy.Writable) && !inside(c.policy.Readable) && exists(path):
		return Blocked{What: Read, Path: path, Why: "temporary files of others are covered; commands have their own"}, true
	case inside([]string{"/proc", "/sys", "/dev"}) && !inside([]string{"/dev/shm"}):
		return Blocked{What: System, Path: path, Why: "devices, other processes and settings of the machine are covered or read only"}, true
	case isRO && !writable:
		return Blocked{What: Write, Path: path, Why: outside}, true
	case !writable && (isDenied || isCross) && c.wouldWrite(path):
		return Blocked{What: Write, Path: path, Why: outside}, true
	}
	return Blocked{}, false
}

// fixed returns the read-only parts of views.
func (c *Confined) fixed() (all []string) {
	for _, v := range c.policy.Views {
		for _, name := range v.Fixed {
			all = append(all, filepath.Join(v.Path, name))
		}
	}
	return all
}

// inHome reports whether a path lies in a home that shows as an empty one, and is not a secret that is hidden by its name alone.
func (c *Confined) inHome(path string) bool {
	_, ok := paths.In(c.homes, path)
	return ok
}

// hidden is the third access of a path in a policy, next to Read and Write.
const hidden = "hidden"

// rules returns what the policy says of a path: its nearest place decides.
func (c *Confined) rules(path string) string {
	p, verdict, depth := c.policy, Read, -1
	places := map[string][]string{Write: {p.Temp, p.Caches}, Read: p.Readable, hidden: slices.Concat(p.Hidden, c.homes)}
	places[Write] = append(places[Write], p.Writable...)
	if c.Level == Namespaces {
		places[Write] = append(places[Write], "/tmp", "/var/tmp", "/dev/shm")
	}
	for _, kind := range []string{Read, Write, hidden} {
		for _, dir := range places[kind] {
			if dir = filepath.Clean(dir); dir != "." && len(dir) >= depth && paths.Inside(dir, path) {
				verdict, depth = kind, len(dir)
			}
		}
	}
	return verdict
}

// named returns the paths that a line may mean, absolute.
func (c *Confined) named(line string) []string {
	var paths []string
	take := func(text string) {
		text = strings.Trim(text, " \t'\"`‘’“”()[]<>,;:")
		if text == "" || len(text) > 4096 || strings.Contains(text, "://") {
			return
		}
		if home, ok := strings.CutPrefix(text, "~/"); ok {
			dir, _ := os.UserHomeDir()
			text = filepath.Join(dir, home)
		}
		relative := !filepath.IsAbs(text)
		if relative && !strings.ContainsAny(text, "/.") && !exists(filepath.Join(c.dir, text)) {
			return
		}
		if relative {
			text = filepath.Join(c.dir, text)
		}
		if text = filepath.Clean(text); !slices.Contains(paths, text) {
			paths = append(paths, text)
		}
		if real := followed(text); relative && !slices.Contains(paths, real) {
			paths = append(paths, real)
		}
	}
	for _, m := range quoted().FindAllString(line, 8) {
		take(m)
	}
	for part := range strings.SplitSeq(line, ": ") {
		if !quoted().MatchString(part) {
			take(part)
		}
	}
	for _, word := range strings.Fields(line) {
		take(word)
	}
	return paths
}

// followed follows the links in as much of a path as exists.
func followed(path string) string { return (&paths.Resolver{}).Guess(path).Path }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// The first output that needs an explanation compiles these.
var (
	abstract = lazily(`@[A-Za-z0-9/_.\-]+`)
	quoted   = lazily(`'[^']+'|"[^"]+"|‘[^’]+’`)
	hostName = lazily(`(?i)(?:resolve host(?:name)?(?: address)?|lookup|getaddrinfo (?:enotfound|eai_again)|connect to|dial (?:tcp|udp)[46]?|host=|unknown host)[ :'"()]*` +
		`([a-z0-9_.\-]+\.[a-z0-9.\-]+|[0-9a-f:]*:[0-9a-f:]+|localhost)`)
)

func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// hostIn finds the host that a message about the network names.
func hostIn(line string) string {
	m := hostName().FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return strings.TrimRight(m[1], ".:")
}
