// Package sqlite keeps sessions in one SQLite file: the [session.Store] that programs use. Any number of processes may have
// the same file open, write different sessions and watch each other's.
//
// # Durability
//
// What was appended survives the death of the process at any instruction, because the operating system has it. What must
// also survive the death of the machine is synced to the disk before Append returns: an append that holds a
// promise not to act twice (a CallStarted that is not idempotent) or the end of a run. A sync carries everything before it
// along, so what a power cut can take is at most what came after the last of these.
//
// # Leases
//
// A lease lives in the session's row, with a number that grows whenever it changes hands. Append checks the number in its
// own transaction, which is what fences a writer that was taken over. Whether the holder still lives is told by a lock of
// the operating system on a file beside the database, in the directory with its name and ".owners": the lock of a dead
// process is gone at once, whatever killed it.
//
// # Forks and the trash
//
// A fork's row names the place of the entry that it goes on from; what it inherited is read where it lies. A session that
// is purged while forks need it keeps a row that nobody finds, and the entries up to the last that one of them needs. What is purged
// is overwritten in the file, whose space [Store.Compact] gives back to the system.
//
// # Search
//
// The words of all sessions are in a second database, named after the first with "-search" before its ending. It can be
// removed at any time. An append does not touch it: whoever searches takes in what is new before. What was purged is not found from
// then on; its words leave the file with the next Index or Compact. No text is in it, but words are: it is to be kept as the journal is.
//
// # Watching
//
// Whoever writes rings a bell: it writes a byte to a file in the same directory, and the operating system wakes those who
// watch. Nothing polls. Where the operating system offers no such notification, or has none left to give, watching looks
// twice a second instead.
//
// # Files
//
// The database is in write-ahead mode, so two more files named after it, ending in "-wal" and "-shm", lie beside it while
// it is open. All files are for their owner alone (0600), and directories that are made too (0700). The file system must be
// a local one. A file that is damaged, newer than this package or another program's is refused and never changed. One that cannot be
// written, or lies on a full disk, can still be read: see [OpenToRead].
package sqlite
