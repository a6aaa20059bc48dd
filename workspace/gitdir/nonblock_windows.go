package gitdir

const nonblock = 0
