package offline

const (
	introduction = `I am Tenon's built-in offline model. I am not a language model: I follow simple rules, without a key and without network.

` + abilities + "\n\n" + realModel + "\n"

	notUnderstood = `I did not understand that. I am Tenon's built-in offline model: I follow simple rules and cannot reason about code.

` + abilities + "\n\n" + realModel

	noModel = "no model is configured, and the built-in offline model follows only simple instructions: set the key of a provider, such as " +
		"ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or run `tenon auth login PROVIDER`; `tenon models --all` lists the models, " +
		"and `tenon run help` what the offline model can do"

	abilities = "What I can do:\n\n" +
		"- `describe this project`\n" +
		"- `list files in src`, `find files named *.go`\n" +
		"- `read main.go lines 1-20`\n" +
		"- `search for \"TODO\" in *.go`, `which files contain main`\n" +
		"- `count lines in main.go`, `how many go files are there`, `count occurrences of foo in src`\n" +
		"- `replace \"old\" with \"new\" in main.go` (or `in all go files`)\n" +
		"- `create notes.txt with \"hello\"`, `append \"more\" to notes.txt`, `overwrite notes.txt with \"new\"`\n" +
		"- `run go vet ./...`, `run the tests`, `build the project`\n" +
		"- `show the git log`, `what changed`\n" +
		"- `give a sub-agent the task: list the files`; also `… the task in the background: …` and `… in a worktree: …`\n" +
		"- `call mcp__hello__greet with {\"name\": \"Ada\"}`: any tool, by its name\n\n" +
		"Several instructions may be joined with \"then\" or be written as a numbered list. Quotes and backticks around names keep them whole."

	realModel = "For work that needs understanding, choose a real model: set the key of a provider, such as `ANTHROPIC_API_KEY`, or run " +
		"`tenon auth login PROVIDER`. `tenon models` shows what there is, and `--model provider/model` or the environment variable `TENON_MODEL` chooses one."
)
