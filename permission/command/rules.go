package command

// rule judges a program whose arguments are a language of their own. It may remove the operands that it has judged; the table has the
// kinds of the others.
type rule func(c *call, name string, g *arguments)

// rules returns the rules that the table of programs names with by=. To add one, add a function and a row.
func rules() map[string]rule {
	return map[string]rule{
		// wrapper.go: programs that run others
		"env": judgeEnv, "xargs": judgeXargs, "sudo": judgeSudo, "su": judgeSu, "joined": judgeJoined, "elsewhere": judgeElsewhere,
		"container": judgeContainer, "applet": judgeApplet, "flock": judgeFlock, "tracer": judgeTracer, "guess": judgeGuess,
		// shells.go: programs that run shell commands
		"shell": judgeShell, "stranger": judgeStranger, "eval": judgeEval, "source": judgeSource,
		// builtins.go: builtins of the shell
		"cd": judgeCd, "moves": judgeMoves, "command": judgeCommand, "exec": judgeExec, "trap": judgeTrap, "alias": judgeAlias,
		"variables": judgeVariables, "read": judgeRead, "printf": judgePrintf, "test": judgeTest, "set": judgeSet, "jobs": judgeJobs,
		"kill": judgeKill,
		// git.go: subcommands of git
		"git": judgeGit, "gitconfig": judgeGitConfig, "remote": judgeRemote, "checkout": judgeCheckout, "branch": judgeBranch,
		"foreach": judgeForeach, "discards": judgeDiscards, "filter": judgeFilter, "gitexec": judgeNothing, "archive": judgeArchive,
		// publish.go: tasks of the project, and programs that show or change something
		"task": judgeTask, "show": judgeShow, "wide": judgeWide, "forge": judgeForge,
		// languages.go: programs whose arguments are programs
		"find": judgeFind, "sed": judgeSed, "awk": judgeAwk, "query": judgeQuery, "script": judgeScript, "gotest": judgeGo,
		// network.go: programs that talk to other machines
		"ssh": judgeSSH, "copy": judgeCopy, "download": judgeDownload, "packages": judgePackages,
		// tools.go: programs that name files in ways of their own
		"tar": judgeTar, "dd": judgeDD, "date": judgeDate, "split": judgeSplit, "unzip": judgeUnzip, "link": judgeLink,
		"patch": judgePatch, "listed": judgeListed, "man": judgeMan,
	}
}

// judgeNothing is the rule of programs whose options have all effects.
func judgeNothing(*call, string, *arguments) {}
