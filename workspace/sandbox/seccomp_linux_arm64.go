package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// Calls with a mode, flags or an owner that only this architecture has.
var modesHere, opensHere, ownersHere map[uint32]uint32

// refusedHere is what only this architecture has.
var refusedHere []uint32
