// Package transcript shows a session as people see it: prompts, answers with their calls, and the notes between them.
//
// A [Transcript] folds the events of a session one by one, stored entries as well as a live stream, and returns the [Item] that each event
// began or changed. A frontend draws items; it reads neither the arguments nor the details of calls. The functions of this package write
// numbers, durations, usage and outcomes, so that every frontend uses the same words.
//
// Texts come from models, tools and files. A frontend escapes them for its medium.
package transcript
