// Package recording writes down what goes through a client, and plays it again: for a report of a fault, and for tests without a model.
package recording
