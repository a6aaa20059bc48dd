package models_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
)

func TestFamilies(t *testing.T) {
	for ref, want := range map[string]models.Family{
		"anthropic/claude-sonnet-4-6":                          models.FamilyClaude,
		"bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0": models.FamilyClaude,
		"vertex/claude-sonnet-4-5@20250929":                    models.FamilyClaude,
		"openrouter/anthropic/claude-sonnet-4.6":               models.FamilyClaude,
		"anthropic/a-name-of-a-gateway":                        models.FamilyClaude,
		"openai/gpt-5.4":                                       models.FamilyGPT,
		"openai-chat/gpt-4o":                                   models.FamilyGPT,
		"openai/ft:gpt-4.1:org":                                models.FamilyGPT,
		"openai/o3":                                            models.FamilyGPT,
		"openai/o4-mini":                                       models.FamilyGPT,
		"openai/codex-mini-latest":                             models.FamilyGPT,
		"azure/our-deployment":                                 models.FamilyGPT,
		"openrouter/openai/gpt-5.2-codex":                      models.FamilyGPT,
		"gemini/gemini-3.5-flash":                              models.FamilyGemini,
		"vertex/gemini-2.5-pro":                                models.FamilyGemini,
		"openrouter/google/gemini-3-pro-preview":               models.FamilyGemini,
		"groq/openai/gpt-oss-120b":                             models.FamilyOpen,
		"bedrock/openai.gpt-oss-120b-1:0":                      models.FamilyOpen,
		"gemini/gemma-3-27b-it":                                models.FamilyOpen,
		"ollama/qwen3:8b":                                      models.FamilyOpen,
		"moonshot/kimi-k2.6":                                   models.FamilyOpen,
		"xai/grok-4.5":                                         models.FamilyOpen,
		"offline/rules":                                        models.FamilyOpen,
		"own/large":                                            models.FamilyOpen,
	} {
		provider, id, _ := strings.Cut(ref, "/")
		if got := models.FamilyOf(llm.Model{Provider: provider, ID: id}); got != want {
			t.Errorf("%s is of %s", ref, got)
		}
	}
}

func TestTheFamilyOfAChosenModel(t *testing.T) {
	choice, err := setup(t, "", "OPENROUTER_API_KEY", "k").Choose("openrouter/anthropic/claude-sonnet-4.6@high")
	if err != nil {
		t.Fatal(err)
	}
	if got := models.FamilyOf(choice.Client.Model()); got != models.FamilyClaude {
		t.Errorf("it is of %s", got)
	}
}
