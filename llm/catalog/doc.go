// Package catalog knows models: how much they read and write, what they can do, what they cost.
//
// [Embedded] is the catalog that comes with the program, [Open] adds one that [Update] downloaded before, and
// [Catalog.With] what a configuration says. Looking up one model reads only that model's line, so that a program can do it
// while it starts:
//
//	c := catalog.Embedded()
//	m, ok := c.Model("anthropic", "claude-sonnet-4-5")
//
// A model that nobody has heard of works too: [Catalog.Guess] looks for it under the names that other providers give it,
// and otherwise returns a model of which only the name is known, for which every number is zero and means "not known".
//
// # Prices
//
// Prices and limits change without notice. Those of the embedded catalog were collected in November 2026 from public price
// lists and documentation, some of them months old. They are those of the standard tier in US dollars, without surcharges for
// long prompts and regions. Where the lists disagree, the price is left out: none is better than a wrong one. The provider's
// bill is what counts, and a cost that a provider reports beside its answer wins over one that is computed from here.
//
// # Format
//
// A catalog is a JSON document with a version, a date and an array of models:
//
//	{"version":1,"updated":"2026-11-01","models":[
//	{"provider":"anthropic","id":"claude-sonnet-4-5","context":200000, ...},
//	...
//	]}
//
// [Parse] takes it with any white space and in any order, and ignores fields and thinking levels that it does not know, so
// that a catalog may tell newer programs more. What is kept on disk has one model on a line, sorted by provider and ID.
package catalog
