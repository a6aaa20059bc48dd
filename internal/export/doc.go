// Package export writes a session for people and for other programs: [Lines] and [JSON] write the journal, [Markdown] a text to read and
// to paste, and [HTML] one page that loads nothing.
//
// Markdown and HTML show the items of package transcript. They read the journal twice, because the list of turns comes first, and hold one
// answer at a time, so that memory does not grow with a session.
//
// The content of a session is untrusted. On the page it is text, or Markdown whose HTML is shown as text. The policy of the page allows no
// request, and no script but its own.
package export
