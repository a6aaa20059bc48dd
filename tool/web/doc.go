// Package web provides the tools that reach the network: fetch, download and web_search.
//
// The tools speak http and https, keep no cookies, send no credentials of a URL, and follow at most 10 redirects. They refuse addresses
// that are not public: this machine, the local network, the metadata of a cloud. They check the address that they dial when they dial
// it, so a name that changes its address does not get around the check. All content is untrusted: the package bounds it, makes it
// valid text and never executes it.
package web
