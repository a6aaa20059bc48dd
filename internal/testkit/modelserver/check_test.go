package modelserver_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// verdict is a request and what is wrong with it: a part of the error, or nothing.
type verdict struct{ name, body, wrong string }

// judge checks a table of bodies, in which ' stands for ".
func judge(t *testing.T, p modelserver.Protocol, rules modelserver.Rules, table []verdict) {
	t.Helper()
	for _, v := range table {
		err := rules.Check(p, nil, []byte(strings.ReplaceAll(v.body, "'", `"`)))
		switch {
		case v.wrong == "" && err != nil:
			t.Errorf("%s: refused: %v\n%s", v.name, err, v.body)
		case v.wrong != "" && err == nil:
			t.Errorf("%s: accepted, want %q\n%s", v.name, v.wrong, v.body)
		case v.wrong != "" && !strings.Contains(err.Error(), v.wrong):
			t.Errorf("%s: got %q, want %q", v.name, err, v.wrong)
		}
	}
}

func TestNoProtocolTakesAnythingElse(t *testing.T) {
	for _, p := range modelserver.Protocols() {
		judge(t, p, modelserver.Rules{}, []verdict{
			{"nothing", ``, "valid JSON"},
			{"no object", `[]`, "not a JSON object"},
			{"two objects", `{} {}`, "something follows"},
			{"no text", "{'a':'\xff'}", "UTF-8"},
			{"unknown field", `{'surprise':1}`, "surprise"},
		})
	}
	if err := modelserver.Check("smoke-signals", nil, []byte("{}")); err == nil {
		t.Error("an unknown protocol was accepted")
	}
}

const (
	claude = `{'model':'m','max_tokens':4096,'messages':`
	hi     = `{'role':'user','content':'hi'}`
	tool   = `,'tools':[{'name':'read','input_schema':{'type':'object'}}]`
	think  = `,'thinking':{'type':'enabled','budget_tokens':1024}`
	use    = `{'role':'assistant','content':[{'type':'tool_use','id':'t1','name':'read','input':{}}]}`
	result = `{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','content':'x'}]}`
	png    = `{'type':'image','source':{'type':'base64','media_type':'image/png','data':'iVBORw0KGgo='}}`
)

func anthropicBlocks(role, blocks string) string {
	return claude + `[` + hi + `,{'role':'` + role + `','content':[` + blocks + `]}]` + tool + `}`
}

func TestCheckAnthropic(t *testing.T) {
	const pair = claude + `[` + hi + `,` + use + `,` + result + `]`
	judge(t, modelserver.Anthropic, modelserver.Rules{}, []verdict{
		{"least", claude + `[` + hi + `]}`, ""},
		{"all of it", `{'model':'m','max_tokens':9,'stream':true,'system':[{'type':'text','text':'s','cache_control':{'type':'ephemeral','ttl':'1h'}}],
			'temperature':0.5,'top_k':3,'stop_sequences':['x'],'metadata':{'user_id':'u'},'tool_choice':{'type':'tool','name':'read'},
			'messages':[` + hi + `]` + tool + `}`, ""},
		{"no model", `{'max_tokens':9,'messages':[` + hi + `]}`, "model: Field required"},
		{"no limit", `{'model':'m','messages':[` + hi + `]}`, "max_tokens: Field required"},
		{"limit of 0", `{'model':'m','max_tokens':0,'messages':[` + hi + `]}`, "max_tokens"},
		{"no messages", claude + `[]}`, "at least one"},
		{"role system", claude + `[{'role':'system','content':'x'}]}`, "role"},
		{"assistant first", claude + `[{'role':'assistant','content':'x'}]}`, "first message"},
		{"empty text", claude + `[{'role':'user','content':''}]}`, "non-whitespace"},
		{"blank block", anthropicBlocks("user", `{'type':'text','text':' \n'}`), "non-whitespace"},
		{"no blocks", anthropicBlocks("user", ``), "non-empty content"},
		{"unknown block", anthropicBlocks("user", `{'type':'song'}`), "song"},
		{"unknown member", anthropicBlocks("user", `{'type':'text','text':'x','opaque':1}`), "opaque"},
		{"blank system", claude + `[` + hi + `],'system':' '}`, "system"},
		{"temperature of 2", claude + `[` + hi + `],'temperature':2}`, "temperature"},

		{"call and result", pair + tool + `}`, ""},
		{"call without tools", pair + `}`, "must define tools"},
		{"call without result", claude + `[` + hi + `,` + use + `,` + hi + `]` + tool + `}`, "without tool_result"},
		{"call at the end", claude + `[` + hi + `,` + use + `]` + tool + `}`, "without tool_result"},
		{"result without call", claude + `[` + hi + `,` + result + `]` + tool + `}`, "unexpected tool_use_id"},
		{"result after text", claude + `[` + hi + `,` + use + `,{'role':'user','content':[{'type':'text','text':'x'},
			{'type':'tool_result','tool_use_id':'t1'}]}]` + tool + `}`, "at the start"},
		{"result twice", claude + `[` + hi + `,` + use + `,{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1'},
			{'type':'tool_result','tool_use_id':'t1'}]}]` + tool + `}`, "unexpected tool_use_id"},
		{"id used twice", claude + `[` + hi + `,` + use + `,` + result + `,` + use + `,` + result + `]` + tool + `}`, "unique"},
		{"id with a dot", anthropicBlocks("assistant", `{'type':'tool_use','id':'a.b','name':'read','input':{}}`), "pattern"},
		{"name with a dot", anthropicBlocks("assistant", `{'type':'tool_use','id':'a','name':'re.ad','input':{}}`), "pattern"},
		{"input is a string", anthropicBlocks("assistant", `{'type':'tool_use','id':'a','name':'read','input':'{}'}`), "object"},
		{"result with image", claude + `[` + hi + `,` + use + `,{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','content':[` +
			png + `]}]}]` + tool + `}`, ""},
		{"failed result with image", claude + `[` + hi + `,` + use + `,{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1',
			'is_error':true,'content':[` + png + `]}]}]` + tool + `}`, "must be type text"},

		{"image", anthropicBlocks("user", png), ""},
		{"image of the assistant", anthropicBlocks("assistant", png), "not expected"},
		{"image of another type", strings.Replace(anthropicBlocks("user", png), "image/png", "image/gif", 1), "does not match"},
		{"image of no type", strings.Replace(anthropicBlocks("user", png), "image/png", "image/bmp", 1), "media_type"},
		{"image of nothing", strings.Replace(anthropicBlocks("user", png), "iVBORw0KGgo=", "", 1), "empty"},
		{"image of no base64", strings.Replace(anthropicBlocks("user", png), "iVBORw0KGgo=", "!", 1), "base64"},
		{"image by link", anthropicBlocks("user", `{'type':'image','source':{'type':'url','url':'https://example.org/a.png'}}`), ""},
		{"image by id", anthropicBlocks("user", `{'type':'image','source':{'type':'file'}}`), "file_id: Field required"},
		{"text as document", anthropicBlocks("user", `{'type':'document','source':{'type':'text','media_type':'text/plain','data':'x'}}`), ""},
		{"large image", anthropicBlocks("user", strings.Replace(png, "iVBORw0KGgo=", strings.Repeat("AAAA", 2<<20), 1)), "exceeds 5 MB"},
		{"stream is no flag", claude + `[` + hi + `],'stream':'yes'}`, "true or false"},
		{"half a token", `{'model':'m','max_tokens':1.5,'messages':[` + hi + `]}`, "whole number"},
		{"document", anthropicBlocks("user", `{'type':'document','source':{'type':'base64','media_type':'application/pdf','data':'JVBERi0='}}`), ""},

		{"thinking", claude + `[` + hi + `]` + think + `}`, ""},
		{"small budget", claude + `[` + hi + `],'thinking':{'type':'enabled','budget_tokens':1023}}`, "budget_tokens"},
		{"budget above limit", claude + `[` + hi + `],'thinking':{'type':'enabled','budget_tokens':4096}}`, "max_tokens must be greater"},
		{"thinking and temperature", claude + `[` + hi + `],'temperature':0.5` + think + `}`, "temperature"},
		{"thinking and temperature 1", claude + `[` + hi + `],'temperature':1` + think + `}`, ""},
		{"thinking and top_p", claude + `[` + hi + `],'top_p':0.5` + think + `}`, "top_p"},
		{"thinking and top_k", claude + `[` + hi + `],'top_k':5` + think + `}`, "top_k"},
		{"thinking and forced tool", claude + `[` + hi + `],'tool_choice':{'type':'any'}` + think + tool + `}`, "forces tool use"},
		{"thought without signature", anthropicBlocks("assistant", `{'type':'thinking','thinking':'x'},{'type':'text','text':'y'}`), "signature: Field required"},
		{"thought with signature", anthropicBlocks("assistant", `{'type':'thinking','thinking':'x','signature':'s'},{'type':'text','text':'y'}`), ""},
		{"thought later", anthropicBlocks("assistant", `{'type':'text','text':'y'},{'type':'thinking','thinking':'x','signature':'s'},{'type':'text','text':'y'}`), "first block"},
		{"thought at the end", anthropicBlocks("assistant", `{'type':'thinking','thinking':'x','signature':'s'}`), "final block"},
		{"thought with mark", anthropicBlocks("assistant", `{'type':'thinking','thinking':'x','signature':'s','cache_control':{'type':'ephemeral'}},{'type':'text','text':'y'}`), "cannot be set for thinking"},
		{"loop without thought", pair + think + tool + `}`, "Expected thinking"},
		{"redacted", anthropicBlocks("assistant", `{'type':'redacted_thinking','data':'x'},{'type':'text','text':'y'}`), ""},
		{"prefill with space", anthropicBlocks("assistant", `{'type':'text','text':'y '}`), "trailing whitespace"},

		{"five marks", claude + `[{'role':'user','content':[` + strings.TrimSuffix(strings.Repeat(
			`{'type':'text','text':'x','cache_control':{'type':'ephemeral'}},`, 5), ",") + `]}]}`, "maximum of 4"},
		{"tool twice", claude + `[` + hi + `],'tools':[{'name':'a','input_schema':{'type':'object'}},{'name':'a','input_schema':{'type':'object'}}]}`, "unique"},
		{"tool without type", claude + `[` + hi + `],'tools':[{'name':'a','input_schema':{}}]}`, "type: Field required"},
		{"choice without tools", claude + `[` + hi + `],'tool_choice':{'type':'auto'}}`, "while providing tools"},
		{"choice of another", claude + `[` + hi + `],'tool_choice':{'type':'tool','name':'x'}` + tool + `}`, "not found"},
		{"open schema", claude + `[` + hi + `],'output_format':{'type':'json_schema','schema':{'type':'object'}}}`, "additionalProperties"},
		{"effort", claude + `[` + hi + `],'output_config':{'effort':'low'}}`, ""},
	})
	judge(t, modelserver.Anthropic, modelserver.Rules{NoPrefill: true, AdaptiveThinking: true, NoTemperature: true, Extra: []string{"betas"}}, []verdict{
		{"prefill", anthropicBlocks("assistant", `{'type':'text','text':'y'}`), "prefill"},
		{"budget", claude + `[` + hi + `]` + think + `}`, "adaptive"},
		{"adaptive", claude + `[` + hi + `],'thinking':{'type':'adaptive'}}`, ""},
		{"temperature", claude + `[` + hi + `],'temperature':1}`, "temperature"},
		{"extra field", claude + `[` + hi + `],'betas':[]}`, ""},
	})
	judge(t, modelserver.AnthropicVertex, modelserver.Rules{}, []verdict{
		{"model in the body", `{'model':'m','anthropic_version':'vertex-2023-10-16','max_tokens':9,'messages':[` + hi + `]}`, "model"},
		{"no version", `{'max_tokens':9,'messages':[` + hi + `]}`, "anthropic_version: Field required"},
	})
}

const (
	chat     = `{'model':'m','messages':[`
	chatCall = `{'role':'assistant','tool_calls':[{'id':'c1','type':'function','function':{'name':'read','arguments':'{}'}}]}`
	chatTool = `{'role':'tool','tool_call_id':'c1','content':'x'}`
	tools    = `,'tools':[{'type':'function','function':{'name':'read','parameters':{'type':'object','properties':{}}}}]`
)

func TestCheckOpenAIChat(t *testing.T) {
	judge(t, modelserver.OpenAIChat, modelserver.Rules{}, []verdict{
		{"least", chat + hi + `]}`, ""},
		{"all of it", chat + `{'role':'system','content':'s'},` + hi + `],'stream':true,'stream_options':{'include_usage':true},'temperature':1,
			'max_completion_tokens':9,'tool_choice':'required','parallel_tool_calls':true,'reasoning_effort':'low'` + tools + `}`, ""},
		{"no messages", chat + `]}`, "at least one"},
		{"role", chat + `{'role':'model','content':'x'}]}`, "role"},
		{"options without stream", chat + hi + `],'stream_options':{'include_usage':true}}`, "stream is enabled"},
		{"both limits", chat + hi + `],'max_tokens':1,'max_completion_tokens':1}`, "same time"},
		{"choice without tools", chat + hi + `],'tool_choice':'required'}`, "tools are specified"},
		{"parallel without tools", chat + hi + `],'parallel_tool_calls':true}`, "tools are specified"},
		{"no tools", chat + hi + `],'tools':[]}`, "too short"},
		{"chosen tool", chat + hi + `],'tool_choice':{'type':'function','function':{'name':'read'}}` + tools + `}`, ""},
		{"choice of another", chat + hi + `],'tool_choice':{'type':'function','function':{'name':'x'}}` + tools + `}`, "not found in tools"},
		{"tool twice", chat + hi + `],'tools':[{'type':'function','function':{'name':'a'}},{'type':'function','function':{'name':'a'}}]}`, "twice"},
		{"schema of a string", chat + hi + `],'tools':[{'type':'function','function':{'name':'a','parameters':{'type':'string'}}}]}`, "type object"},
		{"bad tool name", chat + hi + `],'tools':[{'type':'function','function':{'name':'a b'}}]}`, "pattern"},
		{"open strict tool", chat + hi + `],'tools':[{'type':'function','function':{'name':'a','strict':true,'parameters':{'type':'object'}}}]}`, "additionalProperties"},

		{"call and result", chat + hi + `,` + chatCall + `,` + chatTool + `]}`, ""},
		{"call without result", chat + hi + `,` + chatCall + `,` + hi + `]}`, "c1"},
		{"call at the end", chat + hi + `,` + chatCall + `]}`, "c1"},
		{"result later", chat + hi + `,` + chatCall + `,` + hi + `,` + chatTool + `]}`, "c1"},
		{"result without call", chat + hi + `,` + chatTool + `]}`, "must be a response"},
		{"result twice", chat + hi + `,` + chatCall + `,` + chatTool + `,` + chatTool + `]}`, "two results"},
		{"long id", strings.ReplaceAll(chat+hi+`,`+chatCall+`,`+chatTool+`]}`, "c1", strings.Repeat("c", 41)), "pattern"},
		{"arguments are a list", strings.Replace(chat+hi+`,`+chatCall+`,`+chatTool+`]}`, "'{}'", "'[]'", 1), "JSON of an object"},
		{"arguments are no string", strings.Replace(chat+hi+`,`+chatCall+`,`+chatTool+`]}`, "'{}'", "{}", 1), "string"},
		{"empty assistant", chat + hi + `,{'role':'assistant'}]}`, "needs content or tool_calls"},
		{"empty calls", chat + hi + `,{'role':'assistant','content':'x','tool_calls':[]}]}`, "too short"},
		{"reasoning", chat + hi + `,{'role':'assistant','content':'x','reasoning_content':'y'}]}`, "reasoning_content"},

		{"image", chat + `{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/png;base64,iVBORw0KGgo='}}]}]}`, ""},
		{"image by link", chat + `{'role':'user','content':[{'type':'image_url','image_url':{'url':'https://example.org/a.png'}}]}]}`, "data URL"},
		{"image of no type", chat + `{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/bmp;base64,AAAA'}}]}]}`, "image/bmp"},
		{"image of a tool", strings.Replace(chat+hi+`,`+chatCall+`,`+chatTool+`]}`, "'content':'x'",
			`'content':[{'type':'image_url','image_url':{'url':'data:image/png;base64,iVBORw0KGgo='}}]`, 1), "text"},
		{"document", chat + `{'role':'user','content':[{'type':'file','file':{'filename':'a.pdf','file_data':'data:application/pdf;base64,JVBERi0='}}]}]}`, ""},
		{"schema", chat + hi + `],'response_format':{'type':'json_schema','json_schema':{'name':'a','strict':true,'schema':
			{'type':'object','properties':{'a':{'type':'string'}},'required':['a'],'additionalProperties':false}}}}`, ""},
		{"strict schema with an option", chat + hi + `],'response_format':{'type':'json_schema','json_schema':{'name':'a','strict':true,'schema':
			{'type':'object','properties':{'a':{'type':'string'}},'required':[],'additionalProperties':false}}}}`, "every property"},
	})
	judge(t, modelserver.OpenAIChat, modelserver.Rules{NoMaxTokens: true, NoTemperature: true, Extra: []string{"reasoning_content"}}, []verdict{
		{"max_tokens", chat + hi + `],'max_tokens':1}`, "max_completion_tokens instead"},
		{"temperature", chat + hi + `],'temperature':1}`, "temperature"},
		{"reasoning", chat + hi + `,{'role':'assistant','content':'x','reasoning_content':'y'},` + hi + `]}`, ""},
	})
}

func TestCheckOpenAIResponses(t *testing.T) {
	const (
		begin   = `{'model':'m','store':false,'input':[{'role':'user','content':'hi'}`
		thought = `,{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'e'}`
		call    = `,{'type':'function_call','call_id':'c1','name':'read','arguments':'{}'}`
		output  = `,{'type':'function_call_output','call_id':'c1','output':'x'}`
		say     = `,{'role':'assistant','content':[{'type':'output_text','text':'x'}]}`
	)
	judge(t, modelserver.OpenAIResponses, modelserver.Rules{}, []verdict{
		{"least", `{'model':'m','input':'hi'}`, ""},
		{"all of it", begin + thought + call + output + say + `],'instructions':'s','stream':true,'include':['reasoning.encrypted_content'],
			'reasoning':{'effort':'high','summary':'auto'},'max_output_tokens':99,'tool_choice':'auto',
			'tools':[{'type':'function','name':'read','parameters':{'type':'object'},'strict':false}]}`, ""},
		{"no input", `{'model':'m'}`, "input: Field required"},
		{"include", begin + `],'include':['everything']}`, "include[0]"},
		{"small limit", begin + `],'max_output_tokens':15}`, "max_output_tokens"},
		{"unknown item", begin + `,{'type':'song'}]}`, "song"},
		{"call without output", begin + call + `]}`, "No tool output found"},
		{"output without call", begin + output + `]}`, "No tool call found"},
		{"output twice", begin + call + output + output + `]}`, "two outputs"},
		{"call twice", begin + call + call + output + `]}`, "Duplicate"},
		{"long call id", strings.ReplaceAll(begin+call+output+`]}`, "c1", strings.Repeat("c", 65)), "pattern"},
		{"reasoning alone", begin + thought + `]}`, "required following item"},
		{"reasoning before a user", begin + thought + `,{'role':'user','content':'x'}]}`, "required following item"},
		{"reasoning without content", begin + strings.Replace(thought, ",'encrypted_content':'e'", "", 1) + say + `]}`, "not persisted"},
		{"kept reasoning", strings.Replace(begin, "'store':false,", "", 1) + strings.Replace(thought, ",'encrypted_content':'e'", "", 1) + say + `]}`, ""},
		{"reasoning id", begin + strings.Replace(thought, "rs_1", "msg_1", 1) + say + `]}`, "begins with"},
		{"call id of another kind", begin + strings.Replace(call, "'call_id'", "'id':'call_1','call_id'", 1) + output + `]}`, "begins with"},
		{"same id twice", begin + thought + say + thought + say + `]}`, "Duplicate item"},
		{"input text of the assistant", begin + strings.Replace(say, "output_text", "input_text", 1) + `]}`, "input_text"},
		{"image", begin + `,{'role':'user','content':[{'type':'input_image','image_url':'data:image/png;base64,iVBORw0KGgo='}]}]}`, ""},
		{"image of a tool", begin + call + strings.Replace(output, "'x'", `[{'type':'input_image','image_url':'data:image/png;base64,iVBORw0KGgo='}]`, 1) + `]}`, ""},
		{"broken image", begin + `,{'role':'user','content':[{'type':'input_image','image_url':'data:image/png;base64,'}]}]}`, "empty"},
		{"document", begin + `,{'role':'user','content':[{'type':'input_file','filename':'a','file_data':'data:application/pdf;base64,JVBERi0='}]}]}`, ""},
		{"schema", begin + `],'text':{'format':{'type':'json_schema','name':'a','schema':{'type':'object'}}}}`, ""},
		{"nested function", begin + `],'tools':[{'type':'function','function':{'name':'read'}}]}`, "function"},
	})
}

func TestCheckGemini(t *testing.T) {
	const (
		user   = `{'role':'user','parts':[{'text':'hi'}]}`
		model  = `{'role':'model','parts':[{'text':'hm','thought':true},{'functionCall':{'name':'a','args':{}}},{'functionCall':{'name':'b'}}]}`
		answer = `{'role':'user','parts':[{'functionResponse':{'name':'a','response':{}}},{'functionResponse':{'name':'b','response':{}}}]}`
		one    = `{'role':'user','parts':[{'functionResponse':{'name':'a','response':{}}}]}`
	)
	declare := func(schema string) string {
		return `{'contents':[` + user + `],'tools':[{'functionDeclarations':[{'name':'a','parameters':` + schema + `}]}]}`
	}
	table := []verdict{
		{"least", `{'contents':[` + user + `]}`, ""},
		{"all of it", `{'contents':[` + user + `,` + model + `,` + answer + `],'systemInstruction':{'parts':[{'text':'s'}]},
			'generationConfig':{'thinkingConfig':{'includeThoughts':true,'thinkingBudget':-1},'maxOutputTokens':9},
			'toolConfig':{'functionCallingConfig':{'mode':'AUTO'}}}`, ""},
		{"result with image", `{'contents':[` + user + `,{'role':'model','parts':[{'functionCall':{'name':'a'}}]},{'role':'user','parts':[
			{'functionResponse':{'name':'a','response':{},'parts':[{'inlineData':{'mimeType':'image/png','data':'iVBORw0KGgo='}}]}}]}]}`, ""},
		{"result of the model", `{'contents':[` + user + `,{'role':'model','parts':[{'functionResponse':{'name':'a','response':{}}}]}]}`, "role user"},
		{"declared twice", `{'contents':[` + user + `],'tools':[{'functionDeclarations':[{'name':'a'},{'name':'a'}]}]}`, "Duplicate"},
		{"two schemas", `{'contents':[` + user + `],'tools':[{'functionDeclarations':[{'name':'a','parameters':{'type':'object'},'parametersJsonSchema':{}}]}]}`, "only one"},
		{"object of nothing", declare(`{'type':'OBJECT','properties':{}}`), "non-empty"},
		{"no contents", `{'contents':[]}`, "at least one"},
		{"role", `{'contents':[{'role':'assistant','parts':[{'text':'x'}]}]}`, "role"},
		{"model first", `{'contents':[{'role':'model','parts':[{'text':'x'}]}]}`, "first content"},
		{"no parts", `{'contents':[{'role':'user','parts':[]}]}`, "at least one"},
		{"empty part", `{'contents':[{'role':'user','parts':[{}]}]}`, "exactly one"},
		{"two in one", `{'contents':[{'role':'user','parts':[{'text':'x','inlineData':{'mimeType':'image/png','data':'iVBORw0KGgo='}}]}]}`, "exactly one"},
		{"one result of two", `{'contents':[` + user + `,` + model + `,` + one + `]}`, "number of function response parts"},
		{"no results", `{'contents':[` + user + `,` + model + `,` + user + `]}`, "number of function response parts"},
		{"calls at the end", `{'contents':[` + user + `,` + model + `]}`, "followed by a function response"},
		{"result without call", `{'contents':[` + user + `,` + one + `]}`, "number of function response parts"},
		{"result of another", `{'contents':[` + user + `,` + model + `,` + strings.Replace(answer, "'b'", "'c'", 1) + `]}`, "not called"},
		{"call of the user", `{'contents':[{'role':'user','parts':[{'functionCall':{'name':'a'}}]}]}`, "role model"},
		{"image", `{'contents':[{'role':'user','parts':[{'inlineData':{'mimeType':'image/png','data':'iVBORw0KGgo='}}]}]}`, ""},
		{"image of no type", `{'contents':[{'role':'user','parts':[{'inlineData':{'mimeType':'image/gif','data':'R0lGODlh'}}]}]}`, "mimeType"},
		{"tool", declare(`{'type':'object','properties':{'a':{'type':'array','items':{'type':'STRING'}}},'required':['a']}`), ""},
		{"additionalProperties", declare(`{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false}`), "additionalProperties"},
		{"array without items", declare(`{'type':'object','properties':{'a':{'type':'array'}}}`), "items: missing"},
		{"required without property", declare(`{'type':'object','properties':{'a':{'type':'string'}},'required':['b']}`), "not defined"},
		{"enum of numbers", declare(`{'type':'object','properties':{'a':{'type':'integer','enum':[1]}}}`), "string"},
		{"JSON schema", strings.Replace(declare(`{'type':'object','additionalProperties':false}`), "parameters", "parametersJsonSchema", 1), ""},
		{"budget and level", `{'contents':[` + user + `],'generationConfig':{'thinkingConfig':{'thinkingBudget':1,'thinkingLevel':'low'}}}`, "only set only one"},
		{"schema without type", `{'contents':[` + user + `],'generationConfig':{'responseJsonSchema':{}}}`, "application/json"},
		{"tool forced without tools", `{'contents':[` + user + `],'toolConfig':{'functionCallingConfig':{'mode':'ANY'}}}`, "without function_declarations"},
	}
	judge(t, modelserver.Gemini, modelserver.Rules{}, table)
	judge(t, modelserver.GeminiVertex, modelserver.Rules{}, table)
	judge(t, modelserver.Gemini, modelserver.Rules{ThoughtSignatures: true}, []verdict{
		{"unsigned", `{'contents':[` + user + `,` + model + `,` + answer + `]}`, "missing a thought_signature"},
		{"signed", `{'contents':[` + user + `,` + strings.Replace(model, "{'functionCall':{'name':'a'", "{'thoughtSignature':'AAAA','functionCall':{'name':'a'", 1) + `,` + answer + `]}`, ""},
		{"unsigned long ago", `{'contents':[` + user + `,` + model + `,` + answer + `,` + user + `]}`, ""},
	})
}

func TestCheckBedrock(t *testing.T) {
	const (
		user   = `{'role':'user','content':[{'text':'hi'}]}`
		call   = `{'role':'assistant','content':[{'toolUse':{'toolUseId':'t1','name':'read','input':{}}}]}`
		answer = `{'role':'user','content':[{'toolResult':{'toolUseId':'t1','content':[{'text':'x'}],'status':'success'}}]}`
		tools  = `,'toolConfig':{'tools':[{'toolSpec':{'name':'read','description':'d','inputSchema':{'json':{'type':'object'}}}},{'cachePoint':{'type':'default'}}]}`
		pair   = `{'messages':[` + user + `,` + call + `,` + answer + `]`
	)
	blocks := func(role, b string) string {
		return `{'messages':[` + user + `,` + `{'role':'assistant','content':[{'text':'x'}]},` + `{'role':'` + role + `','content':[` + b + `]}]}`
	}
	judge(t, modelserver.Bedrock, modelserver.Rules{}, []verdict{
		{"least", `{'messages':[` + user + `]}`, ""},
		{"all of it", pair + tools + `,'system':[{'text':'s'},{'cachePoint':{'type':'default'}}],'inferenceConfig':{'maxTokens':9,'temperature':1},
			'additionalModelRequestFields':{'thinking':{}}}`, ""},
		{"model in the body", `{'modelId':'m','messages':[` + user + `]}`, "modelId"},
		{"no messages", `{'messages':[]}`, "at least one"},
		{"assistant first", `{'messages':[{'role':'assistant','content':[{'text':'x'}]}]}`, "start with a user"},
		{"twice the user", `{'messages':[` + user + `,` + user + `]}`, "alternate"},
		{"blank text", `{'messages':[{'role':'user','content':[{'text':' '}]}]}`, "non-whitespace"},
		{"no content", `{'messages':[{'role':'user','content':[]}]}`, "at least one"},
		{"two in one", blocks("user", `{'text':'x','image':{}}`), "exactly one"},
		{"no toolConfig", pair + `}`, "toolConfig field must be defined"},
		{"call without result", `{'messages':[` + user + `,` + call + `,` + user + `]` + tools + `}`, "Expected toolResult"},
		{"call at the end", `{'messages':[` + user + `,` + call + `]` + tools + `}`, "Expected toolResult"},
		{"result without call", blocks("user", `{'toolResult':{'toolUseId':'x','content':[{'text':'x'}]}}`), "exceeds the number"},
		{"id", strings.ReplaceAll(pair+tools+`}`, "t1", "a b"), "pattern"},
		{"id of 65", strings.ReplaceAll(pair+tools+`}`, "t1", strings.Repeat("t", 65)), "pattern"},
		{"blank result", strings.Replace(pair+tools+`}`, "{'text':'x'}", "{'text':''}", 1), "non-whitespace"},
		{"image", blocks("user", `{'image':{'format':'png','source':{'bytes':'iVBORw0KGgo='}}}`), ""},
		{"image of no format", blocks("user", `{'image':{'format':'jpg','source':{'bytes':'iVBORw0KGgo='}}}`), "format"},
		{"document", blocks("user", `{'text':'x'},{'document':{'format':'pdf','name':'a b','source':{'bytes':'JVBERi0='}}}`), ""},
		{"document without text", blocks("user", `{'document':{'format':'pdf','name':'a b','source':{'bytes':'JVBERi0='}}}`), "text block as well"},
		{"thinking", `{'messages':[` + user + `],'inferenceConfig':{'maxTokens':2000},'additionalModelRequestFields':{'thinking':
			{'type':'enabled','budget_tokens':1024}}}`, ""},
		{"budget above limit", `{'messages':[` + user + `],'inferenceConfig':{'maxTokens':1000},'additionalModelRequestFields':{'thinking':
			{'type':'enabled','budget_tokens':1024}}}`, "must be greater"},
		{"thinking and temperature", `{'messages':[` + user + `],'inferenceConfig':{'temperature':0},'additionalModelRequestFields':{'thinking':
			{'type':'enabled','budget_tokens':1024}}}`, "may only be set to 1"},
		{"thinking and forced tool", strings.Replace(pair+tools+`,'additionalModelRequestFields':{'thinking':{'type':'enabled','budget_tokens':1024}}}`,
			"'toolConfig':{", "'toolConfig':{'toolChoice':{'any':{}},", 1), "forces tool use"},
		{"choice of another", strings.Replace(pair+tools+`}`, "'toolConfig':{", "'toolConfig':{'toolChoice':{'tool':{'name':'x'}},", 1), "not defined"},
		{"redacted", `{'messages':[` + user + `,{'role':'assistant','content':[{'reasoningContent':{'redactedContent':'AAAA'}},{'text':'y'}]},` + user + `]}`, ""},
		{"document with a dot", blocks("user", `{'document':{'format':'pdf','name':'a.pdf','source':{'bytes':'JVBERi0='}}}`), "pattern"},
		{"cache point", blocks("user", `{'text':'x'},{'cachePoint':{'type':'default'}}`), ""},
		{"cache point first", blocks("user", `{'cachePoint':{'type':'default'}},{'text':'x'}`), "must follow"},
		{"cache point of no type", blocks("user", `{'text':'x'},{'cachePoint':{}}`), "type: Field required"},
		{"no tools", `{'messages':[` + user + `],'toolConfig':{'tools':[]}}`, "at least one"},
		{"two choices", strings.Replace(pair+tools+`}`, "'toolConfig':{", "'toolConfig':{'toolChoice':{'auto':{},'any':{}},", 1), "exactly one"},
		{"thought", `{'messages':[` + user + `,{'role':'assistant','content':[{'reasoningContent':{'reasoningText':{'text':'x','signature':'s'}}},{'text':'y'}]},` + user + `]}`, ""},
		{"thought without signature", `{'messages':[` + user + `,{'role':'assistant','content':[{'reasoningContent':{'reasoningText':{'text':'x'}}}]},` + user + `]}`, "signature: Field required"},
		{"thought of the user", blocks("user", `{'reasoningContent':{'reasoningText':{'text':'x','signature':'s'}}}`), "of the assistant"},
	})
	judge(t, modelserver.Bedrock, modelserver.Rules{NoPrefill: true, NoTemperature: true}, []verdict{
		{"prefill", `{'messages':[` + user + `,{'role':'assistant','content':[{'text':'x'}]}]}`, "prefill"},
		{"temperature", `{'messages':[` + user + `],'inferenceConfig':{'temperature':1}}`, "temperature"},
	})
}
