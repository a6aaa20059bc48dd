// Package pdf takes the text out of PDF files, page by page.
package pdf

// Open is to come.
func Open() {}
