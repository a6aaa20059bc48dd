// Package catalog knows models: their limits, abilities and prices.
//
// [Embedded] is the catalog that comes with the program, [Open] adds one that [Update] downloaded before, and
// [Catalog.With] adds the models of a configuration. Looking up one model reads only that model's line, so that a program can do it
// while it starts:
//
//	c := catalog.Embedded()
//	m, ok := c.Model("anthropic", "claude-sonnet-4-5")
//
// An unknown model works too: [Catalog.Guess] looks for it under the names that other providers give it. Otherwise it
// returns a model with only a name, whose numbers are zero and mean "not known".
//
// # Prices
//
// Prices and limits change without notice. Those of the embedded catalog were collected in November 2026 from public price
// lists and documentation, some of them months old. They are prices of the standard tier in US dollars, without surcharges
// for long prompts and regions. If the lists disagree, the catalog has no price: none is better than a wrong one. The
// provider's bill decides, and a cost that a provider reports with its answer wins over a cost computed from the catalog.
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
// [Parse] accepts any white space and any order. It ignores unknown fields and thinking levels, so that a catalog may carry
// more for newer programs. The file on disk has one model per line, sorted by provider and ID.
package catalog
