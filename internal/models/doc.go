// Package models makes clients of the models that a person can reach. It knows the providers, where each one's key and address
// may come from (configuration, environment, kept keys), and what runs on this machine, and puts a client together from a name:
//
//	r := models.New(models.Options{Config: c, Keys: k, Getenv: os.Getenv})
//	choice, err := r.Choose("anthropic/claude-sonnet-4-6")
//
// Choosing is cheap: keys are fetched, commands of the configuration run, and credentials of clouds are looked up with the first
// request that needs them.
package models
