// Package sandbox runs commands confined by the operating system: what they can write, read and reach is what a [Policy] says,
// whatever program they are and whatever they try.
//
// On Linux the same program, started again as a helper ([Main]), puts up the walls and then starts the command behind them:
// namespaces for users, mounts, processes, network, IPC and names, no privileges, Landlock, and a seccomp filter. The command
// runs only when every wall stands that the policy needs; otherwise nothing runs, and the error says what is missing. Where
// the machine refuses us namespaces and grants them to bubblewrap, that makes them and the mounts, and the helper inside looks
// whether they are as planned. Where neither may, Landlock and seccomp stand alone, if the policy lets them ([Policy.Partial]).
// On macOS a Seatbelt profile is made from the same policy. Elsewhere there is an [UnavailableError].
//
// A network of named hosts is a proxy in this process, on a socket that listens inside: nothing else leads out.
package sandbox
