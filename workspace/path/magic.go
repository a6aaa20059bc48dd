package path

import (
	"path/filepath"
	"slices"
	"strings"
)

// plain are files below /proc that are the same for all processes, and hold no secrets.
var plain = strings.Fields(`/proc/cpuinfo /proc/meminfo /proc/version /proc/uptime /proc/loadavg /proc/stat /proc/vmstat /proc/filesystems
	/proc/partitions /proc/diskstats /proc/devices /proc/swaps /proc/modules /proc/interrupts`)

// Magic reports whether an absolute path may lead elsewhere in each process: it lies in /proc, whose links are those of the process that
// follows them, or in /dev/fd.
func Magic(name string) bool {
	name = filepath.ToSlash(filepath.Clean(name))
	switch {
	case !strings.HasPrefix(name, "/proc") && !strings.HasPrefix(name, "/dev/"):
		return false
	case Inside("/dev/fd", name), name == "/dev/stdin", name == "/dev/stdout", name == "/dev/stderr":
		return true
	}
	return Inside("/proc", name) && !Inside("/proc/sys", name) && !slices.Contains(plain, name)
}
