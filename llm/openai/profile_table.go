package openai

import "github.com/tenon-agent/tenon/llm"

// words names the levels from off on; an empty word is none.
func words(words ...string) map[llm.Thinks]string {
	all := map[llm.Thinks]string{}
	for i, word := range words {
		if word != "" {
			all[llm.Levels()[i]] = word
		}
	}
	return all
}

// threeWords are the efforts that nearly every server knows.
func threeWords() map[llm.Thinks]string { return words("", "", "low", "medium", "high") }

// table returns every profile. It is the one place where servers differ.
func table() []Profile {
	return append(hosted(), local()...)
}

func hosted() []Profile {
	return []Profile{
		{
			Name: "azure", Title: "Azure OpenAI",
			BaseURLVars: []string{"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL", "AZURE_BASE_URL"},
			KeyVars:     []string{"AZURE_OPENAI_API_KEY", "AZURE_API_KEY"},

			MaxCompletionTokens: true, StreamUsage: true,
			Thinking: ThinkingEffort, Efforts: words("none", "minimal", "low", "medium", "high", "xhigh", "max"),
			Schema: SchemaNative, Strict: true,
		},
		{
			Name: "cerebras", Title: "Cerebras",
			BaseURL: "https://api.cerebras.ai/v1", BaseURLVars: []string{"CEREBRAS_BASE_URL"}, KeyVars: []string{"CEREBRAS_API_KEY"},

			MaxCompletionTokens: true, StreamUsage: true,
			Thinking: ThinkingEffort, Efforts: words("none", "", "low", "medium", "high"),
			Schema: SchemaNative, SchemaAlone: true,
		},
		{
			Name: "deepseek", Title: "DeepSeek",
			BaseURL: "https://api.deepseek.com/v1", BaseURLVars: []string{"DEEPSEEK_BASE_URL"}, KeyVars: []string{"DEEPSEEK_API_KEY"},

			StreamUsage: true, EmptyContent: true,
			Thinking: ThinkingSwitch, Efforts: words("", "low", "low", "high", "high", "max", "max"),
			ReasoningBack: ReasoningText, ReasoningNeeded: true,
			Schema: SchemaObject, NoForce: true, // a forced call is refused while it thinks
		},
		{
			Name: "fireworks", Title: "Fireworks AI",
			BaseURL: "https://api.fireworks.ai/inference/v1", BaseURLVars: []string{"FIREWORKS_BASE_URL"}, KeyVars: []string{"FIREWORKS_API_KEY"},

			StreamUsage: true,
			Thinking:    ThinkingEffort, Efforts: words("none", "", "low", "medium", "high"),
			ReasoningBack: ReasoningText,
			Schema:        SchemaNative, SchemaAlone: true,
		},
		{
			Name: "github", Title: "GitHub Models",
			BaseURL: "https://models.github.ai/inference", BaseURLVars: []string{"GITHUB_MODELS_BASE_URL", "GITHUB_BASE_URL"},
			KeyVars: []string{"GITHUB_MODELS_TOKEN", "GITHUB_API_KEY"}, HomeKeyVars: []string{"GITHUB_TOKEN"},

			StreamUsage: true,
			Thinking:    ThinkingEffort, Efforts: threeWords(),
			Schema: SchemaNative, Strict: true,
		},
		{
			Name: "groq", Title: "Groq",
			BaseURL: "https://api.groq.com/openai/v1", BaseURLVars: []string{"GROQ_BASE_URL"}, KeyVars: []string{"GROQ_API_KEY"},

			MaxCompletionTokens: true, StreamUsage: true,
			Thinking: ThinkingEffort, Efforts: words("none", "", "low", "medium", "high"),
		},
		{
			Name: "huggingface", Title: "Hugging Face",
			BaseURL: "https://router.huggingface.co/v1", BaseURLVars: []string{"HUGGINGFACE_BASE_URL", "HF_BASE_URL"},
			KeyVars: []string{"HF_TOKEN", "HUGGINGFACE_API_KEY"},

			StreamUsage: true,
			Thinking:    ThinkingEffort, Efforts: threeWords(),
		},
		{
			Name: "litellm", Title: "LiteLLM proxy",
			BaseURL: "http://localhost:4000/v1", BaseURLVars: []string{"LITELLM_BASE_URL"}, KeyVars: []string{"LITELLM_API_KEY", "LITELLM_MASTER_KEY"},

			StreamUsage: true, CacheMarks: true, Router: true,
			Thinking: ThinkingEffort, Efforts: threeWords(),
		},
		{
			Name: "mistral", Title: "Mistral",
			BaseURL: "https://api.mistral.ai/v1", BaseURLVars: []string{"MISTRAL_BASE_URL"}, KeyVars: []string{"MISTRAL_API_KEY"},

			EmptyContent: true, ResultNames: true, AnswerToResult: true, ExactID: 9, // the stream has the usage unasked
			Thinking: ThinkingEffort, Efforts: words("none", "", "", "", "high"),
			Schema: SchemaNative,
		},
		{
			Name: "moonshot", Title: "Moonshot AI",
			BaseURL: "https://api.moonshot.ai/v1", BaseURLVars: []string{"MOONSHOT_BASE_URL"}, KeyVars: []string{"MOONSHOT_API_KEY"},

			StreamUsage: true,
			Thinking:    ThinkingSwitch, ReasoningBack: ReasoningText, ReasoningNeeded: true,
			Schema: SchemaObject, NoForce: true,
		},
		{
			Name: "openai", Title: "OpenAI",
			BaseURL: "https://api.openai.com/v1", BaseURLVars: []string{"OPENAI_BASE_URL"}, KeyVars: []string{"OPENAI_API_KEY"},

			MaxCompletionTokens: true, Developer: true, StreamUsage: true, Documents: true,
			Thinking: ThinkingEffort, Efforts: words("none", "minimal", "low", "medium", "high", "xhigh", "max"),
			Schema: SchemaNative, Strict: true,
		},
		{
			Name: "openrouter", Title: "OpenRouter",
			BaseURL: "https://openrouter.ai/api/v1", BaseURLVars: []string{"OPENROUTER_BASE_URL"}, KeyVars: []string{"OPENROUTER_API_KEY"},

			StreamUsage: true, AskUsage: true, Documents: true, CacheMarks: true, Router: true,
			Thinking: ThinkingObject, Efforts: words("", "minimal", "low", "medium", "high", "xhigh", "max"),
			ReasoningBack: ReasoningDetails,
		},
		{
			Name: "together", Title: "Together AI",
			BaseURL: "https://api.together.xyz/v1", BaseURLVars: []string{"TOGETHER_BASE_URL"}, KeyVars: []string{"TOGETHER_API_KEY"},

			StreamUsage: true,
			Thinking:    ThinkingEffort, Efforts: threeWords(),
			Schema: SchemaNative, SchemaAlone: true,
		},
		{
			Name: "vercel", Title: "Vercel AI Gateway",
			BaseURL: "https://ai-gateway.vercel.sh/v1", BaseURLVars: []string{"AI_GATEWAY_BASE_URL", "VERCEL_BASE_URL"},
			KeyVars: []string{"AI_GATEWAY_API_KEY", "VERCEL_API_KEY"}, HomeKeyVars: []string{"VERCEL_OIDC_TOKEN"},

			StreamUsage: true, CacheMarks: true, Router: true,
			Thinking: ThinkingObject, Efforts: words("", "minimal", "low", "medium", "high", "xhigh", "max"),
			ReasoningBack: ReasoningDetails,
		},
		{
			Name: "xai", Title: "xAI",
			BaseURL: "https://api.x.ai/v1", BaseURLVars: []string{"XAI_BASE_URL"}, KeyVars: []string{"XAI_API_KEY"},

			MaxCompletionTokens: true, StreamUsage: true, ReasoningApart: true,
			Thinking: ThinkingEffort, Efforts: threeWords(),
			ReasoningBack: ReasoningText, // without it the prompt cache is missed
			Schema:        SchemaNative,
		},
		{
			Name: "zai", Title: "Z.ai",
			BaseURL: "https://api.z.ai/api/paas/v4", BaseURLVars: []string{"ZAI_BASE_URL"}, KeyVars: []string{"ZAI_API_KEY"},

			StreamUsage: true, EmptyContent: true,
			Thinking: ThinkingSwitch, ReasoningBack: ReasoningText,
			Schema: SchemaObject, NoForce: true,
		},
	}
}

func local() []Profile {
	return []Profile{
		{
			Name: "llamacpp", Title: "llama.cpp",
			BaseURL: "http://localhost:8080/v1", BaseURLVars: []string{"LLAMACPP_BASE_URL"}, KeyVars: []string{"LLAMACPP_API_KEY"},
			Local: true, Port: 8080,

			StreamUsage: true, ParallelCalls: true, EmptyContent: true,
			Thinking: ThinkingTemplate, ReasoningBack: ReasoningText,
			Schema: SchemaNative, SchemaAlone: true, // its grammar would rule the calls too
		},
		{
			Name: "lmstudio", Title: "LM Studio",
			BaseURL: "http://localhost:1234/v1", BaseURLVars: []string{"LMSTUDIO_BASE_URL"}, KeyVars: []string{"LMSTUDIO_API_KEY"},
			Local: true, Port: 1234,

			StreamUsage: true, EmptyContent: true,
			Thinking: ThinkingEffort, Efforts: threeWords(),
			Schema: SchemaNative, SchemaAlone: true,
		},
		{
			Name: "ollama", Title: "Ollama",
			BaseURL: "http://localhost:11434/v1", BaseURLVars: []string{"OLLAMA_BASE_URL"}, KeyVars: []string{"OLLAMA_API_KEY"},
			Local: true, Port: 11434,

			StreamUsage: true, EmptyContent: true,
			Thinking: ThinkingEffort, Efforts: words("none", "", "low", "medium", "high"),
			Schema: SchemaNative, SchemaAlone: true,
		},
		{
			Name: "vllm", Title: "vLLM",
			BaseURL: "http://localhost:8000/v1", BaseURLVars: []string{"VLLM_BASE_URL"}, KeyVars: []string{"VLLM_API_KEY"},
			Local: true, Port: 8000,

			StreamUsage: true, EmptyContent: true,
			Thinking: ThinkingTemplate, Efforts: threeWords(), ReasoningBack: ReasoningText,
			Schema: SchemaNative, SchemaAlone: true,
		},
		{
			Name: "openai-compatible", Title: "Another server of the OpenAI protocol",
			BaseURLVars: []string{"OPENAI_COMPATIBLE_BASE_URL"}, KeyVars: []string{"OPENAI_COMPATIBLE_API_KEY"},

			StreamUsage: true, EmptyContent: true,
			Thinking: ThinkingEffort, Efforts: threeWords(),
		},
	}
}
