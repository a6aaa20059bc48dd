// Package compact writes the summaries of a window with a model.
//
// It appends the instruction to the request that would go out anyway, so that the provider reads all of it from its prompt cache.
package compact
