package sandbox

import (
	"strings"
	"testing"
)

// The profile cannot be run on Linux; its text is what is promised here.
func TestAPolicyAsAProfileOfMacOS(t *testing.T) {
	got := seatbelt(profile{
		writes: []string{"/home/me/a \"b\"", "/private/tmp/t"}, keeps: []string{"/home/me/a \"b\"/.git/hooks"},
		pins: []string{"/home/me/a \"b\"/.git"}, hides: []string{"/home/me/.ssh", "/home/me/data", "/home/me/data/shown/not"}, shows: []string{"/home/me", "/home/me/data/shown"}, port: 4711,
	})
	const want = `(version 1)
(allow default)
(deny file-write*)
(allow file-write* (subpath "/home/me/a \"b\""))
(allow file-write* (subpath "/private/tmp/t"))
(allow file-write-data (literal "/dev/null"))
(allow file-write-data (literal "/dev/zero"))
(allow file-write-data (literal "/dev/tty"))
(allow file-write-data (literal "/dev/stdout"))
(allow file-write-data (literal "/dev/stderr"))
(allow file-write-data (literal "/dev/dtracehelper"))
(allow file-write* (subpath "/dev/fd"))
(deny file-write* (subpath "/home/me/a \"b\"/.git/hooks"))
(deny file-write-unlink (literal "/home/me/a \"b\"/.git"))
(deny file-read* file-write* (subpath "/home/me/.ssh"))
(deny file-read* file-write* (subpath "/home/me/data"))
(deny file-read* file-write* (subpath "/home/me/data/shown/not"))
(allow file-read* (subpath "/home/me/data/shown"))
(deny file-read* file-write* (subpath "/home/me/data/shown/not"))
(deny process-info* (target others))
(deny signal (target others))
(allow signal (target same-sandbox))
(deny mach-priv-task-port)
(deny appleevent-send)
(deny job-creation)
(deny system-socket)
(deny file-mknod)
(deny mach-lookup (global-name "com.apple.SecurityServer"))
(deny mach-lookup (global-name "com.apple.securityd.xpc"))
(deny mach-lookup (global-name "com.apple.secd"))
(deny mach-lookup (global-name "com.apple.pasteboard.1"))
(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd"))
(deny network*)
(allow network* (remote unix-socket (subpath "/home/me/a \"b\"")))
(allow network* (local unix-socket (subpath "/home/me/a \"b\"")))
(allow network* (remote unix-socket (subpath "/private/tmp/t")))
(allow network* (local unix-socket (subpath "/private/tmp/t")))
(allow network-outbound (remote ip "localhost:4711"))
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestAnOpenNetworkIsNotDeniedInTheProfile(t *testing.T) {
	if got := seatbelt(profile{open: true}); len(got) == 0 || strings.Contains(got, "network") {
		t.Errorf("got\n%s", got)
	}
}
