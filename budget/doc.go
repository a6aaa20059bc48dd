// Package budget shares limits of money, tokens, turns and time between everything that asks models.
//
// A budget is a node of a tree, such as day, session, run, child. Every request draws from its node and from all parents of it: it reserves
// an estimate before it is sent and settles with the real usage after. A request that a limit does not allow is not sent; its error
// holds an [*Error]. Near a limit, requests wait for each other, so that all of them together exceed a limit by at most one request.
//
// Retries and other keys or models of a pool count too: [Budget.Client] wraps a chain, and settles and reserves again
// whenever the wrapped client reports that it sends another request.
package budget
