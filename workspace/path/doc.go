// Package path decides where a path on disk leads, and what lies inside what. Permission, the workspace, the sandbox and undo all ask
// this package, so that they cannot disagree with each other or with the system.
//
// [Resolve] follows links exactly as the system does when it opens a file. [Inside] and [Rel] compare resolved paths by the case rule of
// the system. [Bounds] holds the lists of paths that work in a directory may and may not touch.
//
// All functions may be used concurrently. None of them opens a file.
package path
