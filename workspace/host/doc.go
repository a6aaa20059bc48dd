// Package host matches hosts on a network with lists, as configurations, flags and rules write them: names, addresses, ranges, and groups such
// as @npm. Permission, the sandbox and the web tools all ask this package, so that they cannot disagree.
//
// All functions and methods may be used concurrently.
package host
