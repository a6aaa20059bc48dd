// Package config reads tenon.json, the configuration: JSON with comments and trailing commas.
//
// [Load] merges layers, the weakest first: the built-in defaults, the user's file, the project's file. The caller sets the
// values of environment variables and flags, and passes their origins to [Config.Record].
//
// The user's file may refer to values that it should not contain:
//
//	$NAME, ${NAME}     an environment variable, which must be set and not empty
//	${NAME:-fallback}  the same, or the fallback, which may contain references
//	$(command)         the output of a command of the system's shell
//	$$                 a dollar
//
// [Value.Get] resolves the references. So an unused provider needs no key, and a command runs only when its output is
// needed. A Value never shows its resolved text. It shows the text of the file without the parts that may be secret.
//
// The project's file is part of the workspace, and its author may be anyone. It is inert until the user trusts its folder
// (see [TrustStore]). Even then it chooses only among the things that the user has configured: it cannot add providers,
// keys, headers or hosts, and it can only narrow limits. Its hooks run programs.
//
// The decoder, the checks and the published [Schema] all read the structs below [Settings]. A new key is a new field with
// its tags:
//
//	json   its name in the file
//	doc    its description in the schema
//	is     the rule of its string: see the function rules
//	keys   the rule of the keys of its map, likewise
//	min, max  the bounds of its number
//	layer  "user": only in the user's file; "narrow": the project can only make it smaller
package config
