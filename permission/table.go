package permission

// kind is a kind of effect that a call has.
type kind int

const (
	nothing kind = iota
	readInside
	readOutside
	readSomewhere
	readKeys
	hidden
	writeInside
	writeLater
	writeAround
	writeProtected
	writeOutside
	writeSomewhere
	harmless
	runsCode
	queries
	publishes
	discards
	destroysFiles
	destroys
	unknownCommand
	unreadable
	chained
	leaves
	usesNetwork
	listedHost
	ownServer
	otherHost
	unknownTool
	unconfined
	startsAgents
	asksPerson
	kinds
)

// effects is a set of kinds.
type effects uint32

func (s effects) has(k kind) bool { return s&(1<<k) != 0 }

// table names every kind of effect: the code of a verdict that a mode gives because of it, and words for it that follow "lets the
// agent". The modes, which are the other table, say what they do about it; docs/permissions.md prints both.
var table = [kinds]struct{ code, words string }{
	nothing:        {"no_effects", "use a tool that touches nothing"},
	readInside:     {"read", "read in the workspace"},
	readOutside:    {"outside_read", "read outside the workspace"},
	readSomewhere:  {"undetermined_read", "run a command that reads a path that cannot be determined in advance"},
	readKeys:       {"keys", "read a file of the workspace that usually holds keys, such as .env"},
	hidden:         {"secret", "touch a secret path"},
	writeInside:    {"write", "change files in the workspace"},
	writeLater:     {"runs_later", "change a file that other programs run by themselves, such as .envrc or a workflow of CI"},
	writeAround:    {"around_protected", "run a command that changes a directory with protected files in it, such as .git"},
	writeProtected: {"protected_write", "change a protected file, such as .git/hooks"},
	writeOutside:   {"outside_write", "change files outside the workspace"},
	writeSomewhere: {"undetermined_write", "run a command that changes a path that cannot be determined in advance"},
	harmless:       {"reading_command", "run a command that only reads"},
	runsCode:       {"runs_code", "run a command that runs code: tests, builds, scripts"},
	queries:        {"queries_service", "run a command that only asks a service that you have set up: docker ps, gh pr list"},
	publishes:      {"publishes", "run a command that publishes or changes something elsewhere: git push, npm publish, an upload"},
	discards:       {"discards_work", "run a command that may discard changes that are not committed: git restore, git clean"},
	destroysFiles:  {"deletes_files", "run a command that deletes named directories in the workspace: rm -r"},
	destroys:       {"destroys", "run a command that destroys commits, processes or unnamed files"},
	unknownCommand: {"unknown_command", "run an unknown command"},
	unreadable:     {"cannot_judge", "run a command line that cannot be judged"},
	chained:        {"chained", "join commands other than with | and ||, or use substitutions"},
	leaves:         {"escapes", "run a command that acts as another user or through a service: sudo, crontab, docker"},
	usesNetwork:    {"network", "run a command that uses the network"},
	listedHost:     {"listed_host", "reach a host in `sandbox.network` or `--network`"},
	ownServer:      {"own_server", "reach a server that a command of the session runs"},
	otherHost:      {"other_host", "reach another host, or a group of hosts such as `@npm`"},
	unknownTool:    {"unknown_effects", "use a tool with unknown effects"},
	unconfined:     {"unconfined", "run a command outside the sandbox"},
	startsAgents:   {"starts_agents", "start other agents"},
	asksPerson:     {"asks_person", "ask the person"},
}

// Row is what the modes do about one kind of effect.
type Row struct {
	Code    string // of the verdict
	Effect  string // in words
	Actions map[Mode]Action
}

// Table returns what every mode does about every kind of effect where no rule decides. The strictest action on all effects of a call
// is the verdict on the call. The table belongs to the caller.
func Table() []Row {
	rows := make([]Row, kinds)
	for k := range kinds {
		rows[k] = Row{Code: prefix + table[k].code, Effect: table[k].words, Actions: map[Mode]Action{}}
		for i := range modes {
			rows[k].Actions[modes[i].mode] = modes[i].on(k)
		}
	}
	return rows
}
