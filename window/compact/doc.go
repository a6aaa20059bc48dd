// Package compact writes the digests of a window with a model.
//
// The wish for a summary is sent behind the request as it would go out anyway, so that the provider's prompt cache holds for all of it.
package compact
