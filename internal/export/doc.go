// Package export writes a session for people and for other programs: [Lines] and [JSON] as the journal has it, [Markdown] to read and
// to paste, and [HTML] as one page that needs nothing else.
//
// Each is written as the journal is read, so that memory does not grow with a session. Markdown and HTML read it twice: what stands
// at the top, such as the list of turns, is known at the end.
//
// All that is in a session is taken for hostile. In the page it is text or Markdown whose HTML is shown and not followed, and the
// page's policy lets no request out and no script in but its own.
package export
