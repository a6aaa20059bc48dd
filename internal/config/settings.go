package config

import (
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Settings is what the files say. The zero value of a field, nil where zero means something, is one that no layer has set.
type Settings struct {
	Schema string `json:"$schema" doc:"Where the schema of this file is, for editors. Tenon ignores it."`

	// Model is what works when nothing else is chosen: a reference "provider/model[@variant]" or the name of a pool.
	Model string `json:"model" is:"model" doc:"The model that works: provider/model, provider/model@variant, or the name of a pool."`
	// SmallModel is always the same as Roles["small"].
	SmallModel string `json:"small_model" is:"model" doc:"The model for small tasks such as titles. Short for roles.small."`
	// Roles has a reference or the name of a pool for each role, such as "small" or "planner".
	Roles map[string]string `json:"roles" is:"model" keys:"name" doc:"Which model or pool works in which role, such as small or planner."`
	// Pools has references to models, the preferred ones first.
	Pools map[string][]string `json:"pools" is:"ref" keys:"name" doc:"Named lists of models. The next one is asked when one before it fails."`

	Thinking    llm.Thinks `json:"thinking" doc:"How much the model may reason before it answers."`
	MaxTokens   int        `json:"max_tokens" min:"1" doc:"The longest answer, in tokens. Default: what the model allows."`
	Temperature *float64   `json:"temperature" min:"0" max:"2" doc:"The temperature of sampling. Default: the provider's."`
	// Cache is "auto" or what [llm.CachePolicy] takes.
	Cache  string `json:"cache" is:"cache" doc:"Where marks for the provider's prompt cache are set: auto, off, or some of system, tools and messages, separated by commas."`
	Limits Limits `json:"limits" doc:"Where a run ends by itself. A project can only make them narrower."`

	// Permissions has the rules of the user before those of the project.
	Permissions Permissions `json:"permissions" doc:"What may be done without asking, and what not at all."`
	Sandbox     Sandbox     `json:"sandbox" doc:"What commands may touch, which the operating system enforces."`
	// Roots are absolute paths, or relative to the home directory with ~/.
	Roots []string `json:"roots" is:"path" layer:"user" doc:"Further directories that count as part of every workspace, such as ~/notes."`
	Web   Web      `json:"web" layer:"user" doc:"What the tools for the web may reach, and which search they ask."`

	Window   Window   `json:"window" doc:"How the context window of the model is kept from filling up."`
	Context  Context  `json:"context" doc:"Which context files, such as AGENTS.md, the model is told, and how much of them."`
	Skills   Skills   `json:"skills" doc:"Instructions for kinds of tasks, which the model loads when it needs them."`
	Sessions Sessions `json:"sessions" doc:"How sessions are gone on with."`
	// Titles is nil where nothing is said: sessions get one.
	Titles *bool `json:"titles" doc:"Whether the small model gives sessions a title. Default: true."`

	// Providers is by the name that references begin with.
	Providers map[string]Provider `json:"providers" keys:"provider" layer:"user" doc:"The servers that models are asked at, by the name that references begin with. Changes what is built in for the name, or adds one."`
	// Models has facts about single models by their reference, without a variant.
	Models map[string]Facts `json:"models" keys:"plainref" layer:"user" doc:"Facts about models by provider/model, for providers that need no configuration otherwise."`

	// Discover tells whether to look for local model servers; nil: when there is nothing else.
	Discover   *bool `json:"discover" layer:"user" doc:"Whether to look for model servers on this machine. Default: only when nothing else is configured."`
	CatalogURL Value `json:"catalog_url" is:"url" layer:"user" doc:"Where the command tenon models update fetches the catalog of models."`
}

// Window says how the context window is managed. Zero is not set.
type Window struct {
	Threshold float64 `json:"threshold" min:"0.2" max:"0.95" doc:"Share of the window at which old results are reduced and the beginning is summed up. Default 0.8."`
	Manual    bool    `json:"manual" doc:"Whether that is done only when somebody asks for it, or the model refuses a request as too long."`
	// Model is a reference or the name of a pool.
	Model string `json:"model" is:"model" doc:"The model that writes summaries, where the conversation fits into its window. Default: the small one, else the one that works."`
}

// Context says which context files there are. Zero is not set; an empty list of files is none.
type Context struct {
	Files   []string `json:"files" is:"filename" doc:"Names of context files. Default: AGENTS.md, CLAUDE.md and TENON.md, each with its local variant such as AGENTS.local.md; an empty list is none."`
	MaxFile int      `json:"max_file" min:"1024" max:"1048576" doc:"Bytes that are told of one file. Default 32768."`
	MaxAll  int      `json:"max_all" min:"1024" max:"4194304" doc:"Bytes that are told of all files. Default 102400, less in a small window."`
}

// Sessions says how sessions are gone on with. Zero is not set.
type Sessions struct {
	RotateAfter time.Duration `json:"rotate_after" min:"1" doc:"After so long without a change, such as 8h, --continue begins a new session instead of going on with the last one. Default: never."`
}

// Skills says which skills there are. Zero is not set.
type Skills struct {
	Disabled bool     `json:"disabled" doc:"Whether there are none."`
	Paths    []string `json:"paths" is:"path" layer:"user" doc:"Further directories of skills."`
	MaxSize  int      `json:"max_size" min:"512" max:"1048576" doc:"Bytes that the model is given of one skill. Default 4096."`
}

// Limits end a run that reaches one. Zero is not set.
type Limits struct {
	Turns       int           `json:"turns" min:"1" layer:"narrow" doc:"Answers of one run. Default 50."`
	Tokens      int64         `json:"tokens" min:"1" layer:"narrow" doc:"All tokens of one run, cached ones too. Default 1000000."`
	Duration    time.Duration `json:"duration" min:"1" layer:"narrow" doc:"Wall clock of one run, such as 10m. Default 10m."`
	Cost        float64       `json:"cost" min:"0.000001" layer:"narrow" doc:"US dollars of one run. Default: unlimited."`
	SessionCost float64       `json:"session_cost" min:"0.000001" layer:"narrow" doc:"US dollars of a session with all its branches. Default: unlimited."`
	DayCost     float64       `json:"day_cost" min:"0.000001" layer:"narrow" doc:"US dollars of all sessions since midnight. Default: unlimited."`
}

// Permissions say what may be done. Deny beats ask, which beats allow; what no rule speaks of is for the mode.
type Permissions struct {
	// Mode is never wider in a project than the user's.
	Mode     Mode     `json:"mode" layer:"narrow" doc:"What is asked when no rule says so: inspect (look, and run single commands that only look), plan (look), ask, edits (change files of the workspace without asking), auto (run all that the sandbox confines), yolo (everything). Default: ask."`
	Allow    []Rule   `json:"allow" layer:"user" doc:"What may be done without asking, such as shell(go test *), fetch(*.example.com) or edit(docs/**)."`
	Ask      []Rule   `json:"ask" layer:"adds" doc:"What must be asked about."`
	Deny     []Rule   `json:"deny" layer:"adds" doc:"What may never be done, whatever the mode."`
	Examples []Sample `json:"examples" layer:"adds" doc:"Tests of the rules; the configuration is refused when one fails."`
}

// Mode is a mode of permission.
type Mode string

// The modes, from the narrowest to the widest.
const (
	ModeInspect Mode = "inspect"
	ModePlan    Mode = "plan"
	ModeAsk     Mode = "ask"
	ModeEdits   Mode = "edits"
	ModeAuto    Mode = "auto"
	ModeYolo    Mode = "yolo"
)

var modes = []Mode{ModeInspect, ModePlan, ModeAsk, ModeEdits, ModeAuto, ModeYolo}

// Rule is a rule of permission with the file that says it.
type Rule struct {
	Text    string // such as "shell(git push *)"
	Project bool   // a project's file says it
	Where   string // file:line
}

// Sample is a test of the rules: a command or another call with the verdict that it must have, or a rule with what it must and must not fit.
type Sample struct {
	Command string   `json:"command" is:"command" doc:"A command line."`
	Call    string   `json:"call" is:"command" doc:"Another call, such as write(docs/a.md), fetch(example.com) or mcp(server/tool)."`
	Mode    Mode     `json:"mode" doc:"The mode in which that is decided. Default: the one that holds."`
	Want    string   `json:"want" is:"verdict" doc:"What must be decided about it: allow, ask or deny."`
	Rule    string   `json:"rule" is:"command" doc:"One of the rules."`
	Match   []string `json:"match" is:"command" doc:"What the rule must fit."`
	Not     []string `json:"not_match" is:"command" doc:"What the rule must not fit."`
}

// Sandbox says what commands may touch beside the workspace and their own temporary files.
type Sandbox struct {
	Enabled   *bool    `json:"enabled" layer:"user" doc:"Whether commands are confined in every mode but yolo. Default: true."`
	Network   []string `json:"network" is:"host" layer:"user" doc:"Hosts that commands may reach, such as proxy.example.com, *.example.com:443 or 10.0.0.0/8; * is all. Default: none."`
	Writable  []string `json:"writable" is:"path" layer:"user" doc:"Further directories that commands may write, such as ~/.cache/go-build."`
	Hidden    []string `json:"hidden" is:"path" layer:"adds" doc:"Further files and directories that neither commands nor tools may read."`
	Protected []string `json:"protected" is:"path" layer:"adds" doc:"Further files and directories of the workspace that may be read but not written."`
	Processes int      `json:"processes" min:"1" layer:"narrow" doc:"Processes of one command at most. Default 4096."`
	Memory    int64    `json:"memory" min:"1048576" layer:"narrow" doc:"Bytes of memory of one command at most. Default: no limit."`
}

// Web is about the tools that reach the network.
type Web struct {
	Private bool     `json:"private" doc:"Whether they may reach addresses of private networks and of this machine."`
	Allow   []string `json:"allow" is:"host" doc:"Hosts and networks that they may reach although they are private, such as wiki.example.com or 10.1.0.0/16."`
	Search  Search   `json:"search" doc:"The search engine that web_search asks; without one there is no such tool."`
}

// Search is a search engine.
type Search struct {
	Backend SearchBackend `json:"backend" doc:"What the engine speaks."`
	URL     Value         `json:"url" is:"url" doc:"Where it is. Needed for searxng; the others have theirs."`
	APIKey  Value         `json:"api_key" is:"secret" doc:"The key, best as a reference: $NAME or $(command)."`
}

// SearchBackend is what a search engine speaks.
type SearchBackend string

// The search backends.
const (
	SearXNG SearchBackend = "searxng"
	Brave   SearchBackend = "brave"
	Exa     SearchBackend = "exa"
	Tavily  SearchBackend = "tavily"
)

// Provider is a server, or a family of them, and how to ask it. Everything is optional: a name that is built in needs only
// what differs.
type Provider struct {
	Protocol   Protocol         `json:"protocol" doc:"What the server speaks."`
	Profile    string           `json:"profile" is:"profile" doc:"The built-in provider whose peculiarities this one shares."`
	BaseURL    Value            `json:"base_url" is:"url" doc:"Where the server is, up to what every path of the protocol begins after."`
	APIKey     Value            `json:"api_key" is:"secret" doc:"The key, best as a reference: $NAME or $(command)."`
	APIKeys    []Key            `json:"api_keys" doc:"Several keys, in place of api_key. The next one is used when one is exhausted."`
	Headers    map[string]Value `json:"headers" is:"secret" keys:"header" doc:"Headers of every request."`
	Proxy      Value            `json:"proxy" is:"proxy" doc:"The proxy for this provider: http, https, socks5 or socks5h."`
	Project    Value            `json:"project" is:"text" doc:"The project of the cloud account."`
	Region     Value            `json:"region" is:"text" doc:"The region of the cloud account."`
	Location   Value            `json:"location" is:"text" doc:"The location of the cloud account, which is what Vertex calls a region."`
	APIVersion Value            `json:"api_version" is:"text" doc:"The version of the API, where the protocol has one."`
	Timeouts   Timeouts         `json:"timeouts" doc:"How long silence is borne."`
	Retry      Retry            `json:"retry" doc:"How often a failed request is tried again."`
	Models     map[string]Facts `json:"models" keys:"id" doc:"Facts about models of this provider, by the name that it has for them."`
}

// Key is one of several keys of a provider.
type Key struct {
	Name string `json:"name" is:"name" doc:"What the key is called in messages. Default: its place in the list, from 1."`
	Key  Value  `json:"key" is:"secret" doc:"The key, best as a reference: $NAME or $(command)."`
}

// Timeouts are for silence; nil is the default, zero is never.
type Timeouts struct {
	FirstByte *time.Duration `json:"first_byte" min:"0" doc:"From the request to the first byte of the answer, such as 120s. 0: no limit."`
	Idle      *time.Duration `json:"idle" min:"0" doc:"Between two bytes of an answer, such as 60s. 0: no limit."`
}

// Retry tells how a failed request is tried again; nil is the default.
type Retry struct {
	Retries  *int           `json:"retries" min:"0" max:"100" doc:"How often, beside the first time. 0: never."`
	Delay    *time.Duration `json:"delay" min:"0" doc:"How long to wait before the first time; it doubles each time."`
	MaxDelay *time.Duration `json:"max_delay" min:"0" doc:"The longest wait."`
}

// Facts are what is known about a model. Those that are set win over the catalog: see [Facts.Apply].
type Facts struct {
	Context   int                `json:"context" min:"1" doc:"Tokens that a request and its answer may have together."`
	MaxOutput int                `json:"max_output" min:"1" doc:"Tokens of the longest answer."`
	Images    *bool              `json:"images" doc:"Whether it can see images."`
	Documents *bool              `json:"documents" doc:"Whether it can read documents."`
	NoTools   *bool              `json:"no_tools" doc:"Whether it cannot call tools."`
	Price     Price              `json:"price" doc:"US dollars for a million tokens."`
	Thinks    []llm.Thinks       `json:"thinks" doc:"The thinking levels that it has."`
	Quirks    []llm.Quirk        `json:"quirks" doc:"Where it differs from other models behind the same protocol."`
	Variants  map[string]Variant `json:"variants" keys:"variant" doc:"Named ways to ask it, chosen by provider/model@variant."`
}

// Price is in US dollars for a million tokens of each kind; nil is not set.
type Price struct {
	Input      *float64 `json:"input" min:"0" doc:"Tokens of the request that are in no cache."`
	Output     *float64 `json:"output" min:"0" doc:"Tokens of the answer, reasoning too."`
	CacheRead  *float64 `json:"cache_read" min:"0" doc:"Tokens read from the cache."`
	CacheWrite *float64 `json:"cache_write" min:"0" doc:"Tokens written to the cache."`
}

// Variant is a way to ask a model. What is not set is as without it.
type Variant struct {
	Thinking    llm.Thinks `json:"thinking" doc:"How much the model may reason before it answers."`
	MaxTokens   int        `json:"max_tokens" min:"1" doc:"The longest answer, in tokens."`
	Temperature *float64   `json:"temperature" min:"0" max:"2" doc:"The temperature of sampling."`
}

// Protocol is what a server speaks.
type Protocol string

// The protocols.
const (
	Anthropic       Protocol = "anthropic"        // Messages
	OpenAIChat      Protocol = "openai-chat"      // Chat Completions
	OpenAIResponses Protocol = "openai-responses" // Responses
	Gemini          Protocol = "gemini"           // the Gemini API
	Vertex          Protocol = "vertex"           // Gemini on Vertex AI
	VertexAnthropic Protocol = "vertex-anthropic" // Messages on Vertex AI
	Bedrock         Protocol = "bedrock"          // ConverseStream
	AzureChat       Protocol = "azure-chat"       // Chat Completions on Azure
	AzureResponses  Protocol = "azure-responses"  // Responses on Azure
)

// Keys returns the keys of the provider, the preferred one first, each with a name.
func (p Provider) Keys() []Key {
	if p.APIKey.IsSet() {
		return []Key{{Name: "1", Key: p.APIKey}}
	}
	return p.APIKeys
}

// Apply returns m with what the facts say.
func (f Facts) Apply(m llm.Model) llm.Model {
	over(&m.Context, f.Context != 0, &f.Context)
	over(&m.MaxOutput, f.MaxOutput != 0, &f.MaxOutput)
	over(&m.Images, f.Images != nil, f.Images)
	over(&m.Documents, f.Documents != nil, f.Documents)
	over(&m.NoTools, f.NoTools != nil, f.NoTools)
	over(&m.Price.Input, f.Price.Input != nil, f.Price.Input)
	over(&m.Price.Output, f.Price.Output != nil, f.Price.Output)
	over(&m.Price.CacheRead, f.Price.CacheRead != nil, f.Price.CacheRead)
	over(&m.Price.CacheWrite, f.Price.CacheWrite != nil, f.Price.CacheWrite)
	over(&m.Thinks, f.Thinks != nil, &f.Thinks)
	over(&m.Quirks, f.Quirks != nil, &f.Quirks)
	return m
}

func over[T any](dst *T, set bool, with *T) {
	if set {
		*dst = *with
	}
}
