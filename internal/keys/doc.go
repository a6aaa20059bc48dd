// Package keys stores the API keys of providers.
//
// A [Store] reads environment variables, which the caller names, the keyring of the system, and a file that only its owner
// can read. The file keys.json in the configuration directory lists the keys in the order of their use. It does not contain
// the secret of a key that is in the keyring. So [Store.Names] does not need the keyring, which can be slow, can hang and can
// open a window. Only [Store.Get] of a key that is listed there reads the keyring.
//
//	s := keys.Open(dir, keys.Options{Getenv: os.Getenv})
//	names, err := s.Names("anthropic", "ANTHROPIC_API_KEY")
//	for _, name := range names {
//		key, err := s.Get(ctx, "anthropic", name)
//		// pass key.Reveal() only to a header
//	}
//
// A [Key] never prints itself.
package keys
