package permission

// kind is a kind of effect that a call has.
type kind int

const (
	nothing kind = iota
	readInside
	readOutside
	readSomewhere
	hidden
	writeInside
	writeAround
	writeProtected
	writeOutside
	writeSomewhere
	harmless
	runsCode
	destroysFiles
	destroys
	unknownCommand
	unreadable
	chained
	leaves
	usesNetwork
	listedHost
	otherHost
	unknownTool
	unconfined
	startsAgents
	asksPerson
	kinds
)

// row is what the modes say about one kind.
type row struct {
	words                                 string
	inspect, plan, ask, edits, auto, yolo Verdict
}

// table is what every mode says about every kind of effect where no rule says anything. The strictest verdict on all that a
// call does is the verdict on the call. docs/permissions.md prints it.
var table = [kinds]row{
	//                                                            inspect plan  ask    edits  auto   yolo
	nothing:        {"does nothing that matters", Allow, Allow, Allow, Allow, Allow, Allow},
	readInside:     {"reads in the workspace", Allow, Allow, Allow, Allow, Allow, Allow},
	readOutside:    {"reads outside the workspace", Deny, Ask, Ask, Ask, Allow, Allow},
	readSomewhere:  {"a command reads a place that is not known before", Deny, Ask, Ask, Ask, Allow, Allow},
	hidden:         {"reads or writes a secret place", Deny, Deny, Deny, Deny, Deny, Allow},
	writeInside:    {"changes a file in the workspace", Deny, Deny, Ask, Allow, Allow, Allow},
	writeAround:    {"a command changes a folder that holds protected files, such as .git", Deny, Deny, Ask, Ask, Allow, Allow},
	writeProtected: {"changes a protected file, such as .git/hooks", Deny, Deny, Ask, Ask, Ask, Allow},
	writeOutside:   {"changes a file outside the workspace", Deny, Deny, Ask, Ask, Ask, Allow},
	writeSomewhere: {"a command changes a place that is not known before", Deny, Deny, Ask, Ask, Allow, Allow},
	harmless:       {"a command only reads", Allow, Allow, Allow, Allow, Allow, Allow},
	runsCode:       {"a command runs code: tests, builds, scripts", Deny, Deny, Ask, Ask, Allow, Allow},
	destroysFiles:  {"a command removes files in the workspace that it names", Deny, Deny, Ask, Ask, Allow, Allow},
	destroys:       {"a command destroys what cannot be brought back: commits, processes, unnamed files", Deny, Deny, Ask, Ask, Ask, Allow},
	unknownCommand: {"a command is not known", Deny, Deny, Ask, Ask, Allow, Allow},
	unreadable:     {"a command line cannot be judged", Deny, Deny, Ask, Ask, Ask, Allow},
	chained:        {"joins commands by something else than pipe and or, or has substitutions", Deny, Allow, Allow, Allow, Allow, Allow},
	leaves:         {"a command acts as another user or through a service: sudo, crontab, docker", Deny, Deny, Ask, Ask, Ask, Allow},
	usesNetwork:    {"a command uses the network", Deny, Deny, Ask, Ask, Allow, Allow},
	listedHost:     {"reaches a host of the sandbox's list", Deny, Ask, Ask, Ask, Allow, Allow},
	otherHost:      {"reaches another host", Deny, Ask, Ask, Ask, Ask, Allow},
	unknownTool:    {"runs a tool of which nothing is known", Deny, Ask, Ask, Ask, Ask, Allow},
	unconfined:     {"a command runs outside the sandbox", Deny, Deny, Ask, Ask, Ask, Allow},
	startsAgents:   {"starts other agents", Deny, Ask, Ask, Ask, Allow, Allow},
	asksPerson:     {"asks the person", Allow, Allow, Allow, Allow, Allow, Allow},
}

// in returns what a mode says about the kind.
func (k kind) in(m Mode) Verdict {
	r := &table[k]
	switch m {
	case Inspect:
		return r.inspect
	case Plan:
		return r.plan
	case AskMode:
		return r.ask
	case Edits:
		return r.edits
	case Auto:
		return r.auto
	case Yolo:
		return r.yolo
	}
	return Deny
}

// Row is what the modes say about one kind of effect.
type Row struct {
	Effect   string // in words
	Verdicts map[Mode]Verdict
}

// Table returns what every mode says about every kind of effect where no rule says anything. It belongs to the caller.
func Table() []Row {
	rows := make([]Row, 0, kinds)
	for k := range kinds {
		r := Row{Effect: table[k].words, Verdicts: map[Mode]Verdict{}}
		for _, m := range Modes() {
			r.Verdicts[m] = k.in(m)
		}
		rows = append(rows, r)
	}
	return rows
}
