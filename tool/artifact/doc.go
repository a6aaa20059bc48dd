// Package artifact is the tool with which a model stores texts for later in a session, outside the project: notes, reports, drafts. A
// store of contents keeps the texts. The journal has their names, in the details of the calls.
package artifact
