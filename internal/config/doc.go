// Package config reads tenon.json, the configuration: JSON with comments and trailing commas.
//
// [Load] merges layers, the weakest first: what is built in, the user's file, the project's file. What comes from
// environment variables and flags is set by the caller, who tells [Config.Record] where it is from.
//
// The user's file may refer to what it should not contain:
//
//	$NAME, ${NAME}     an environment variable, which must be set and not empty
//	${NAME:-fallback}  the same, or the fallback, which may hold references itself
//	$(command)         what a command of the system's shell prints
//	$$                 a dollar
//
// References are looked at when [Value.Get] asks for the value, so that a provider which is not used needs no key, and a
// command runs only when its output is needed. A Value never shows what it is, only what was written, and of that no
// part that may be secret.
//
// The project's file is part of what the user works on, and may come from anybody. It is inert until the user trusts its
// folder (see [TrustStore]), and even then it chooses only among what the user has set up: it cannot add providers, keys,
// headers, hosts or commands, and limits only become narrower.
//
// The structs below [Settings] are the table that the decoder, the checks and the published [Schema] all read. A new key
// is a new field with its tags:
//
//	json   its name in the file
//	doc    what the schema says about it
//	is     what its string must be: see the function rules
//	keys   what the keys of its map must be, likewise
//	min, max  the bounds of its number
//	layer  "user": only in the user's file; "narrow": the project can only make it smaller
package config
