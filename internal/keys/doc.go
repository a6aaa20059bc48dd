// Package keys keeps the API keys of providers, and keeps them out of everything that is shown.
//
// A [Store] looks in three places: environment variables, which the caller names; the keyring of the system; and a file that
// only its owner can read. The file keys.json in the configuration directory lists which keys there are, in the order in which
// they are to be tried. A key that is in the keyring is not in the file. So [Store.Names] answers without asking the keyring,
// which can be slow, can hang and can open a window; only [Store.Get] of a key that is known to be there asks it.
//
//	s := keys.Open(dir, keys.Options{Getenv: os.Getenv})
//	names, err := s.Names("anthropic", "ANTHROPIC_API_KEY")
//	for _, name := range names {
//		key, err := s.Get(ctx, "anthropic", name)
//		// key.Reveal() goes into a header, and nowhere else
//	}
//
// A [Key] never prints itself. What other programs and servers print is cleaned by a [Redactor].
package keys
