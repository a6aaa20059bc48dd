package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// seatbelt writes a policy as a profile of macOS, for sandbox-exec. Of the rules that fit, the last one holds. Paths are
// resolved; port is where the proxy listens, or 0.
//
// Connections to this machine are refused too, the proxy apart: a profile cannot tell the command's own servers from others.
func seatbelt(s profile) string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n")
	b.WriteString("(deny file-write*)\n")
	rule := func(verb string, names []string) {
		for _, p := range names {
			fmt.Fprintf(&b, "(%s (subpath %s))\n", verb, quoteSBPL(p))
		}
	}
	rule("allow file-write*", s.writes)
	for _, name := range []string{"null", "zero", "tty", "stdout", "stderr", "dtracehelper"} {
		fmt.Fprintf(&b, "(allow file-write-data (literal %s))\n", quoteSBPL("/dev/"+name))
	}
	b.WriteString("(allow file-write* (subpath \"/dev/fd\"))\n")
	rule("deny file-write*", s.keeps)
	for _, p := range s.pins {
		fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", quoteSBPL(p)) // which renaming is too
	}
	rule("deny file-read* file-write*", s.hides)
	within := func(names, dirs []string) (out []string) {
		for _, name := range names {
			if _, ok := paths.In(dirs, name); ok {
				out = append(out, name)
			}
		}
		return out
	}
	shown := within(s.shows, s.hides)
	rule("allow file-read*", shown)
	rule("deny file-read* file-write*", within(s.hides, shown))
	rule("allow file-read* file-write*", s.temps)
	b.WriteString("(deny process-info* (target others))\n(deny signal (target others))\n(allow signal (target same-sandbox))\n")
	b.WriteString("(deny mach-priv-task-port)\n(deny appleevent-send)\n(deny job-creation)\n(deny system-socket)\n(deny file-mknod)\n")
	for _, name := range []string{"com.apple.SecurityServer", "com.apple.securityd.xpc", "com.apple.secd", "com.apple.pasteboard.1", "com.apple.coreservices.launchservicesd"} {
		fmt.Fprintf(&b, "(deny mach-lookup (global-name %s))\n", quoteSBPL(name))
	}
	if s.open {
		return b.String()
	}
	b.WriteString("(deny network*)\n")
	for _, p := range slices.Concat(s.writes, s.temps) {
		fmt.Fprintf(&b, "(allow network* (remote unix-socket (subpath %s)))\n(allow network* (local unix-socket (subpath %s)))\n", quoteSBPL(p), quoteSBPL(p))
	}
	if s.port > 0 {
		fmt.Fprintf(&b, "(allow network-outbound (remote ip \"localhost:%d\"))\n", s.port)
	}
	return b.String()
}

// profile is what a Seatbelt profile is made of.
type profile struct {
	writes, keeps, pins, hides, shows []string
	temps                             []string // that can be used also in hides
	open                              bool
	port                              int
}

// quoteSBPL writes a string of the profile's language, which has the escapes of Scheme.
func quoteSBPL(text string) string {
	if !slices.ContainsFunc([]byte(text), func(c byte) bool { return c == '"' || c == '\\' || c < ' ' }) {
		return `"` + text + `"`
	}
	return strconv.Quote(text)
}
