package config

import (
	"time"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/redact"
)

// Settings holds the settings of the files. If no layer sets a field, the field has its zero value, or nil if zero is a valid setting.
type Settings struct {
	Schema string `json:"$schema" doc:"The address of the schema of this file, for editors. Tenon ignores it."`

	// Model is the default model: a reference "provider/model[@variant]" or the name of a pool.
	Model string `json:"model" is:"model" doc:"The default model: provider/model, provider/model@variant, or the name of a pool."`
	// SmallModel always equals Roles["small"].
	SmallModel string `json:"small_model" is:"model" doc:"The model for small tasks such as titles. Short form of roles.small."`
	// Roles maps each role to a reference or the name of a pool, such as "small" or "planner".
	Roles map[string]string `json:"roles" is:"model" keys:"name" doc:"The model or pool of each role, such as small or planner."`
	// Pools holds lists of references to models, the preferred ones first.
	Pools map[string][]string `json:"pools" is:"ref" keys:"name" doc:"Named lists of models. If a model fails, Tenon uses the next one."`

	models.Request

	Limits Limits `json:"limits" doc:"Limits that end a run. A project can only make them narrower."`

	// Permissions has the user's rules before the project's rules.
	Permissions Permissions `json:"permissions" doc:"Rules and the mode that allow a call, ask for approval or deny the call."`
	Sandbox     Sandbox     `json:"sandbox" doc:"The files, hosts and resources that commands may use. The operating system enforces it."`
	// Roots are absolute paths, or paths relative to the home directory with ~/.
	Roots []string `json:"roots" is:"path" layer:"user" doc:"Further directories that are part of every workspace, such as ~/notes."`
	Web   Web      `json:"web" layer:"user" doc:"The web tools."`

	// Tools are names of tools among [RareTools] and [LateTools].
	Tools []string `json:"tools" is:"tool" layer:"user" doc:"Tools that the model gets from the start, in addition to the usual ones: multi_edit, delete, list, download; and artifact, cleanup, revert, which it otherwise gets when the context window fills up."`

	Window   Window   `json:"window" doc:"How Tenon keeps the context window of the model from filling up."`
	Context  Context  `json:"context" doc:"The context files, such as AGENTS.md, that Tenon sends to the model, and their maximum size."`
	Skills   Skills   `json:"skills" doc:"Instructions for kinds of tasks, which the model loads when it needs them."`
	Sessions Sessions `json:"sessions" doc:"When to continue a session."`
	// Titles is nil if no layer sets it. Then sessions get a title.
	Titles *bool `json:"titles" doc:"Whether the small model gives sessions a title. Default: true."`

	// Providers maps the names that references begin with to providers.
	Providers map[string]models.Provider `json:"providers" keys:"provider" layer:"user" doc:"Model servers by the name that references begin with. An entry changes the built-in provider of that name, or adds a provider."`
	// Models maps references without a variant to facts about single models.
	Models map[string]models.Facts `json:"models" keys:"plainref" layer:"user" doc:"Facts about models by provider/model, for providers that need no other configuration."`

	// Discover reports whether to look for local model servers. If it is nil, Tenon looks only when nothing else is configured.
	Discover   *bool        `json:"discover" layer:"user" doc:"Whether to look for model servers on this machine. Default: only when nothing else is configured."`
	CatalogURL redact.Value `json:"catalog_url" is:"url" layer:"user" doc:"The address from which tenon models update fetches the catalog of models."`
}

// RareTools returns the names of the tools that the model gets only if the configuration names them.
func RareTools() []string { return []string{"delete", "download", "list", "multi_edit"} }

// LateTools returns the names of the tools that the model gets when the context window fills up, or if the configuration names them.
func LateTools() []string { return []string{"artifact", "cleanup", "revert"} }

// Window configures the context window. A zero field is not set.
type Window struct {
	Threshold float64  `json:"threshold" min:"0.2" max:"0.95" doc:"Share of the context window at which Tenon trims old results and summarizes older turns. Default 0.8."`
	Manual    bool     `json:"manual" doc:"Whether Tenon trims and summarizes only when you ask for it, or when the model refuses a request as too long."`
	Strategy  Strategy `json:"strategy" doc:"The part of a long session that the model sees: tidy (trim old results, summarize older turns), full (everything, until the model refuses it), recent (the last turns), summary_recent (a summary and the last turns), tiers (older turns shortened). Default: tidy."`
	Turns     int      `json:"turns" min:"1" doc:"Turns that the strategies recent, summary_recent and tiers keep. Default: 10, and 4 for tiers."`
	// Model is a reference or the name of a pool.
	Model string `json:"model" is:"model" doc:"The model that writes summaries, if the session fits into its context window. Default: the small model, else the model of the session."`
}

// Strategy is a strategy that keeps the context window from filling up.
type Strategy string

// The strategies.
const (
	StrategyTidy          Strategy = "tidy"
	StrategyFull          Strategy = "full"
	StrategyRecent        Strategy = "recent"
	StrategySummaryRecent Strategy = "summary_recent"
	StrategyTiers         Strategy = "tiers"
)

// Context configures the context files. A zero field is not set. An empty list of files disables them.
type Context struct {
	Files   []string `json:"files" is:"filename" doc:"Names of context files. Default: AGENTS.md, CLAUDE.md and TENON.md, each with its local variant such as AGENTS.local.md. An empty list disables context files."`
	MaxFile int      `json:"max_file" min:"1024" max:"1048576" doc:"Maximum bytes of one file that the model sees. Default 32768."`
	MaxAll  int      `json:"max_all" min:"1024" max:"4194304" doc:"Maximum bytes of all files that the model sees. Default 102400, less in a small context window."`
}

// Sessions configures when a session continues. A zero field is not set.
type Sessions struct {
	RotateAfter time.Duration `json:"rotate_after" min:"1" doc:"Time without a change, such as 8h, after which --continue begins a new session instead of continuing the last one. Default: never."`
}

// Skills configures the skills. A zero field is not set.
type Skills struct {
	Disabled bool     `json:"disabled" doc:"Whether to disable skills."`
	Paths    []string `json:"paths" is:"path" layer:"user" doc:"Further directories of skills."`
	MaxSize  int      `json:"max_size" min:"512" max:"1048576" doc:"Maximum bytes of one skill that the model sees. Default 4096."`
}

// Limits has the fields of the agent's Limits, so that it converts to them. A zero field is not set.
type Limits struct {
	Turns       int           `json:"turns" min:"1" layer:"narrow" doc:"Maximum turns of one run. Default: unlimited."`
	Tokens      int64         `json:"tokens" min:"1" layer:"narrow" doc:"Maximum tokens of one run. Tokens read from the cache count a tenth. Default: unlimited."`
	Time        time.Duration `json:"duration" min:"1" layer:"narrow" doc:"Maximum wall-clock time of one run, such as 10m. Default: unlimited."`
	Cost        float64       `json:"cost" min:"0.000001" layer:"narrow" doc:"Maximum US dollars of one run. Default 20, which counts only models with a known price."`
	SessionCost float64       `json:"session_cost" min:"0.000001" layer:"narrow" doc:"Maximum US dollars of a session with all its branches. Default: unlimited."`
	DayCost     float64       `json:"day_cost" min:"0.000001" layer:"narrow" doc:"Maximum US dollars of all sessions since midnight. Default: unlimited."`

	Unpriced budget.Policy `json:"unpriced" layer:"user" doc:"How Tenon treats a request under a limit of money that you set if the price of the model is unknown: refuse, or notice (send it and report that it does not count). Default: refuse."`
}

// Permissions are rules and a mode. Deny beats ask, and ask beats allow. The mode decides about calls that match no rule.
type Permissions struct {
	// Mode in a project's file cannot be wider than the user's mode.
	Mode     permission.Mode `json:"mode" layer:"narrow" doc:"The mode, which decides about calls that match no rule; see docs/permissions.md. Default: ask."`
	Allow    []Rule          `json:"allow" layer:"user" doc:"Rules for calls to allow, such as shell(go test *), fetch(*.example.com) or edit(docs/**)."`
	Ask      []Rule          `json:"ask" layer:"adds" doc:"Rules for calls that need approval."`
	Deny     []Rule          `json:"deny" layer:"adds" doc:"Rules for calls to deny in every mode."`
	Examples []Sample        `json:"examples" layer:"adds" doc:"Tests of the rules. If one fails, the configuration is invalid."`
}

// Rule is a permission rule with its origin.
type Rule struct {
	Text    string // such as "shell(git push *)"
	Project bool   // whether it comes from a project's file
	Where   string // file:line
}

// Sample is a test of the rules: a command or another call with its expected verdict, or a rule with calls that it must and must not match.
type Sample struct {
	Command string          `json:"command" is:"command" doc:"A command line."`
	Call    string          `json:"call" is:"command" doc:"Another call, such as write(docs/a.md), fetch(example.com) or mcp(server/tool)."`
	Mode    permission.Mode `json:"mode" doc:"The mode of the example. Default: the configured mode."`
	Want    string          `json:"want" is:"verdict" doc:"The expected verdict: allow, ask or deny."`
	Rule    string          `json:"rule" is:"command" doc:"One of the rules."`
	Match   []string        `json:"match" is:"command" doc:"Calls that the rule must match."`
	Not     []string        `json:"not_match" is:"command" doc:"Calls that the rule must not match."`
}

// Sandbox configures the access of commands beyond the workspace and their own temporary files.
type Sandbox struct {
	Enabled   *bool    `json:"enabled" layer:"user" doc:"Whether commands are confined in every mode but yolo. Default: true."`
	Network   []string `json:"network" is:"host" layer:"user" doc:"Hosts that commands may reach, and fetch and download without a question: proxy.example.com, *.example.com:443, 10.0.0.0/8, or a group such as @npm, @pypi, @go, @crates or @github; * means all. Private addresses need an entry with the address or its range. Default: none."`
	Writable  []string `json:"writable" is:"path" layer:"user" doc:"Further directories that commands may write, such as ~/.cache/go-build."`
	Readable  []string `json:"readable" is:"path" layer:"user" doc:"Further files and directories of the home directory that commands may read, such as ~/opt/toolchain."`
	Env       []string `json:"env" is:"variable" layer:"user" doc:"Further environment variables that commands get, such as DATABASE_URL. Variables to which the configuration or a provider refers never pass."`
	Hidden    []string `json:"hidden" is:"path" layer:"adds" doc:"Further files and directories that neither commands nor tools may read."`
	Protected []string `json:"protected" is:"path" layer:"adds" doc:"Further read-only files and directories of the workspace."`
	Processes int      `json:"processes" min:"1" layer:"narrow" doc:"Maximum processes of one command. Default 4096."`
	Memory    int64    `json:"memory" min:"1048576" layer:"narrow" doc:"Maximum bytes of memory of one command. Default: no limit."`
}

// Web configures the tools that use the network.
type Web struct {
	Search Search `json:"search" doc:"The search engine of web_search. Without one, Tenon does not offer this tool."`
}

// Search is a search engine.
type Search struct {
	Backend SearchBackend `json:"backend" doc:"The API of the search engine."`
	URL     redact.Value  `json:"url" is:"url" doc:"The address of the search engine. Required for searxng; the others have a default."`
	APIKey  redact.Value  `json:"api_key" is:"secret" doc:"The key, preferably as a reference: $NAME or $(command)."`
}

// SearchBackend is the API of a search engine.
type SearchBackend string

// The search backends.
const (
	SearXNG SearchBackend = "searxng"
	Brave   SearchBackend = "brave"
	Exa     SearchBackend = "exa"
	Tavily  SearchBackend = "tavily"
)
