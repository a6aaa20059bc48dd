// Package artifact is the tool by which a model keeps texts for later in a session, outside the project: notes, reports, drafts.
//
// They are files of one directory, which belongs to the session. Names are plain, so that none leads out of it, and the files
// are opened through os.Root.
package artifact
