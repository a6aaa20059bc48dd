// Package ledger reckons, from the journal alone, what requests to models were made of, how much of each the provider could have read
// from its cache and did, and what all of it cost.
package ledger
