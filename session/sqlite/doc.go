// Package sqlite keeps sessions in one SQLite file. Any number of processes may have the same file open, write different sessions and watch
// all of them.
//
// # Durability
//
// Every appended entry survives the death of the process at any instruction, because the operating system has it. Append syncs two kinds of
// entries to the disk, so that they survive the death of the machine: a CallStarted that must not run twice, and the end of a run. A sync
// includes all earlier entries, so a power failure loses at most the entries after the last sync.
//
// Appends that wait at the same time share one transaction and one sync. Each of them succeeds or fails by itself. An append
// that needs no sync does not wait for one.
//
// # Leases
//
// The row of a session has its lease, with a number that grows with every holder. Append checks the number in its own transaction, so a
// writer that lost the lease cannot append. A living holder keeps a lock of the operating system on a file in the directory with the name of
// the database and ".owners". The system releases the lock of a dead process at once.
//
// # Forks and the trash
//
// The row of a fork has the place of the entry that it continues from; inherited entries stay where they are. If forks need a session that is
// purged, it keeps a hidden row and the entries up to the last one that a fork needs. Purge overwrites the removed data in the file, and
// [Store.Compact] returns the space to the system.
//
// # Search
//
// The words of all sessions are in a second database, named after the first with "-search" before its extension. It can be removed at any
// time. Appends do not change it: a search adds the new entries first. A search does not find purged entries; Index and Compact remove their
// words from the file. The file has words but no texts: protect it like the journal.
//
// # Watching
//
// Every writer rings a bell: it writes to a file in the same directory, and the operating system wakes the watchers. Without notifications
// of the operating system, watchers look twice a second.
//
// # Files
//
// The database is in write-ahead mode, so two more files, ending in "-wal" and "-shm", are next to it while it is open. Only their owner can
// read the files (0600) and the directories that Open makes (0700). The file system must be local. Open refuses a file that is damaged, newer
// than this package or of another program, and does not change it. A file that cannot be written, or is on a full disk, can still be read:
// see [OpenToRead].
package sqlite
