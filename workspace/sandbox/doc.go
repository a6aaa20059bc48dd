// Package sandbox runs commands confined by the operating system: a [Policy] lists the paths that they can write and read, and the hosts that
// they can reach, for every program.
//
// On Linux the same program, started again as a helper ([Main]), builds the walls and then starts the command inside them: namespaces for
// users, mounts, processes, network, IPC and names, no privileges, Landlock, and a seccomp filter. The command runs only if every wall that the
// policy needs is there; otherwise it does not run, and the error names the missing wall. If the machine refuses namespaces to this program and
// grants them to bubblewrap, bubblewrap makes them and the mounts, and the helper inside verifies them. If neither may, Landlock and seccomp
// are the only walls, if the policy allows it ([Policy.Partial]). On macOS the package makes a Seatbelt profile from the same policy. On other
// systems there is an [UnavailableError].
//
// A network of named hosts is a proxy in this process, on a socket that listens inside: there is no other way out.
package sandbox
