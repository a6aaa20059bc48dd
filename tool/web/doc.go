// Package web is the tools that reach the network: fetch, download and web_search.
//
// They speak http and https, keep no cookies, send no credentials of a URL, and follow at most 10 redirects, each judged as
// the first address was. Addresses that are not public (this machine, the local network, a cloud's metadata) are refused at
// the moment of dialling, on the address that is dialled, so that a name which changes its address gains nothing. Whatever
// comes back is foreign: it is bounded, made valid text, and never run.
package web
