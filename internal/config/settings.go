package config

import (
	"encoding/json"
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

	LSP LSP `json:"lsp" layer:"user" doc:"Language servers, such as gopls."`
	// OpenAPI maps the names of APIs to their documents.
	OpenAPI map[string]OpenAPI `json:"openapi" keys:"name" layer:"user" doc:"HTTP APIs whose operations are tools, by the name that their tools have: openapi__NAME__OPERATION."`

	// Tools are names of tools among [RareTools] and [LateTools].
	Tools []string `json:"tools" is:"tool" layer:"user" doc:"Tools that the model gets from the start, in addition to the usual ones: multi_edit, delete, list, download; and artifact, cleanup, revert, which it otherwise gets when the context window fills up."`

	// MCP maps names to servers: those of the user, and after Load those of the project's .mcp.json, too.
	MCP map[string]MCPServer `json:"mcp" keys:"name" layer:"user" doc:"The MCP servers by name. An entry without command and url changes the server of that name in a project's .mcp.json."`

	Window   Window   `json:"window" doc:"How Tenon keeps the context window of the model from filling up."`
	Context  Context  `json:"context" doc:"The context files, such as AGENTS.md, that Tenon sends to the model, and their maximum size."`
	Skills   Skills   `json:"skills" doc:"Instructions for kinds of tasks, which the model loads when it needs them."`
	Agents   Agents   `json:"agents" doc:"The agents to which an agent can give tasks."`
	Hooks    Hooks    `json:"hooks" doc:"Programs and HTTP servers that receive the events of a session and can narrow it, in the format of Claude Code. Those of a project add to those of the user."`
	Sessions Sessions `json:"sessions" doc:"When to continue a session."`
	Terminal Terminal `json:"terminal" layer:"user" doc:"The looks and keys of the terminal, which 'tenon' without arguments opens."`
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
	Tools     float64  `json:"tools" min:"0" max:"1" doc:"Share of the context window that the descriptions of external tools may take. Beyond it, the model finds them with find_tools and calls them with call_tool. Default 0.05."`
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

// Agents configures sub-agents. A zero field is not set.
type Agents struct {
	Off     bool `json:"off" doc:"Whether to disable sub-agents."`
	Depth   int  `json:"depth" min:"1" max:"8" layer:"narrow" doc:"Maximum levels of sub-agents below the session. Default 2."`
	Open    int  `json:"open" min:"1" max:"100" layer:"narrow" doc:"Maximum open tasks of an agent. Default 10."`
	Running int  `json:"running" min:"1" max:"32" layer:"narrow" doc:"Maximum sub-agents of an agent that work at the same time. Default 4."`
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

	Soft float64 `json:"soft" min:"0.01" max:"1" layer:"user" doc:"Share of the limits of turns, tokens and cost of a run and of the cost of a session at which the run asks you whether to continue, if you can answer. 1: it does not ask. Default 0.8."`

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

// Terminal configures the interactive terminal. A nil field has its default.
type Terminal struct {
	Theme         Theme             `json:"theme" doc:"The colors: auto follows the background of the terminal, terminal uses its sixteen colors. Default: auto."`
	Keys          map[string]string `json:"keys" is:"keys" keys:"name" doc:"Keys by action, separated by commas, or none, such as \"palette\": \"ctrl+k, f2\". The help (F1) lists the actions."`
	Vim           bool              `json:"vim" doc:"Whether the prompt has the keys of vim."`
	Mouse         *bool             `json:"mouse" doc:"Whether Tenon uses the mouse. Without it, the terminal selects text. Default: true."`
	Panel         *bool             `json:"panel" doc:"Whether a wide terminal shows a panel with the context, tasks and changed files. Default: true."`
	Title         *bool             `json:"title" doc:"Whether Tenon sets the title of the window. Default: true."`
	Notifications *bool             `json:"notifications" doc:"Whether Tenon notifies you through the terminal when it waits for you and you are elsewhere. Default: true."`
	ReducedMotion bool              `json:"reduced_motion" doc:"Whether nothing on the screen moves by itself."`
	ScreenReader  bool              `json:"screen_reader" doc:"Whether Tenon writes plain lines, without boxes and motion."`
	Inline        bool              `json:"inline" doc:"Whether finished messages go to the scrollback of the terminal, as with --inline."`
}

// Theme is the name of the colors of the terminal.
type Theme string

// The themes.
const (
	ThemeAuto              Theme = "auto"
	ThemeDark              Theme = "dark"
	ThemeLight             Theme = "light"
	ThemeHighContrastDark  Theme = "high-contrast-dark"
	ThemeHighContrastLight Theme = "high-contrast-light"
	ThemeColorBlindDark    Theme = "color-blind-dark"
	ThemeColorBlindLight   Theme = "color-blind-light"
	ThemeTerminal          Theme = "terminal"
	ThemePlain             Theme = "plain"
)

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

// LSP configures language servers. A zero field is not set.
type LSP struct {
	Off     bool                      `json:"off" doc:"Whether to use no language servers."`
	Idle    time.Duration             `json:"idle" min:"1" doc:"Time without use after which a server ends. Default 10m."`
	Memory  int64                     `json:"memory" min:"67108864" doc:"Bytes of memory of a server with its processes, on Linux, from which Tenon ends it. Default 4294967296."`
	Servers map[string]LanguageServer `json:"servers" keys:"name" doc:"Servers by name. An entry changes the known server of that name, or adds a server."`
}

// LanguageServer configures a language server. A zero field is not set.
type LanguageServer struct {
	Off      bool                    `json:"off" doc:"Whether not to use the server."`
	Command  string                  `json:"command" is:"path" doc:"The program, on PATH or with its path. Default: the name of the server."`
	Args     []string                `json:"args" is:"command" doc:"The arguments of the program."`
	Files    []string                `json:"files" is:"filename" doc:"The ends of the names of its files, such as .zig."`
	Language string                  `json:"language" is:"name" doc:"The language of its files in the protocol. Default: the end of the name without the dot."`
	Env      map[string]redact.Value `json:"env" is:"secret" keys:"variable" doc:"Further environment variables of the server. Values can be references: $NAME or $(command)."`
}

// Web configures the tools that use the network.
type Web struct {
	Search Search `json:"search" doc:"The search engine of web_search. Without one, Tenon does not offer this tool."`
	Code   Code   `json:"code" doc:"The search engine of code_search, for the code of public repositories. Without one, Tenon does not offer this tool."`
}

// Code is a search engine for code.
type Code struct {
	Backend CodeBackend  `json:"backend" doc:"The API of the search engine."`
	URL     redact.Value `json:"url" is:"url" doc:"The address of the search engine. Default: https://sourcegraph.com."`
	APIKey  redact.Value `json:"api_key" is:"secret" doc:"The access token, if the server needs one, preferably as a reference: $NAME or $(command)."`
}

// CodeBackend is the API of a search engine for code.
type CodeBackend string

// The search backends for code.
const Sourcegraph CodeBackend = "sourcegraph"

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

// Hooks are the hooks of the layers: the user's before the project's.
type Hooks []HookLayer

// HookLayer is the hooks of one file. Package hooks reads them.
type HookLayer struct {
	File    string
	Dir     string          // of a file of Claude Code: the directory of the project
	Project bool            // the file belongs to a trusted project
	JSON    json.RawMessage // an object of events
}

// OpenAPI is an HTTP API that an OpenAPI document describes. Either File or URL is set.
type OpenAPI struct {
	File      string                   `json:"file" is:"path" doc:"The document: an OpenAPI 3 file in JSON or YAML, of at most 16 MiB."`
	URL       redact.Value             `json:"url" is:"url" doc:"The address of the document, instead of file. 'tenon openapi update' fetches it; Tenon uses that copy."`
	Server    redact.Value             `json:"server" is:"url" doc:"The base URL of all requests. Default: the servers of the document."`
	Variables map[string]string        `json:"variables" is:"command" keys:"name" doc:"Values for the variables in the server URLs of the document."`
	Include   OpenAPIFilter            `json:"include" doc:"The operations that become tools. Default: all."`
	Exclude   OpenAPIFilter            `json:"exclude" doc:"Operations that become no tools, even if include has them."`
	Auth      map[string]OpenAPISecret `json:"auth" keys:"name" doc:"Credentials by the name of the security scheme in the document. One with another name goes with every operation."`
	Timeout   time.Duration            `json:"timeout" min:"1" doc:"Maximum time of a call. Default 30s."`
	MaxAnswer int                      `json:"max_answer" min:"1024" max:"67108864" doc:"Maximum bytes of an answer that Tenon reads. Default 1048576."`
	Disabled  bool                     `json:"disabled" doc:"Whether the API has no tools for now."`
}

// OpenAPIFilter selects operations.
type OpenAPIFilter struct {
	Tags       []string `json:"tags" is:"command" doc:"Tags of operations."`
	Paths      []string `json:"paths" is:"command" doc:"Prefixes of paths in whole segments, such as /users."`
	Operations []string `json:"operations" is:"command" doc:"IDs of operations, or methods with paths such as GET /users/{id}."`
}

// OpenAPISecret is a credential of an API.
type OpenAPISecret struct {
	Type     OpenAPIAuth  `json:"type" doc:"How the credential goes with a request, for a scheme that the document does not have."`
	Name     string       `json:"name" is:"header" doc:"The header, query parameter or cookie of the types header, query and cookie."`
	Secret   redact.Value `json:"secret" is:"secret" doc:"The key, token, password or secret of an OAuth client, preferably as a reference: $NAME or $(command)."`
	User     redact.Value `json:"user" is:"text" doc:"The user of the type basic, or the ID of the client of the type oauth."`
	TokenURL redact.Value `json:"token_url" is:"url" doc:"The token server of the type oauth. Default: that of the document."`
	Scopes   []string     `json:"scopes" is:"command" doc:"The scopes of the type oauth."`
}

// OpenAPIAuth is the way in which a credential goes with a request.
type OpenAPIAuth string

// The types of credentials.
const (
	AuthBearer OpenAPIAuth = "bearer"
	AuthBasic  OpenAPIAuth = "basic"
	AuthHeader OpenAPIAuth = "header"
	AuthQuery  OpenAPIAuth = "query"
	AuthCookie OpenAPIAuth = "cookie"
	AuthOAuth  OpenAPIAuth = "oauth"
)
