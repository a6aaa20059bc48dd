package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// The positions of the mode, the flags and the owner in the arguments of calls that only this architecture has.
var (
	modesHere  = map[uint32]uint32{unix.SYS_CHMOD: 1, unix.SYS_MKNOD: 1, unix.SYS_CREAT: 1}
	opensHere  = map[uint32]uint32{unix.SYS_OPEN: 1}
	ownersHere = map[uint32]uint32{unix.SYS_CHOWN: 1, unix.SYS_LCHOWN: 1}
)

// refusedHere is what only this architecture has.
var refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_CREATE_MODULE, unix.SYS__SYSCTL, unix.SYS_USTAT, unix.SYS_SYSFS}
