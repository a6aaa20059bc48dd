// Package tokens estimates how many tokens a text, a message or a whole request costs, without a network and without the
// vocabulary of any model.
//
// [Text] splits a text as the tokenizers of today's models do before they look at their vocabularies: words with the space
// before them, digits by three, runs of marks, white space. Most of these pieces are one token. How many more a word has is told
// by its length and by how common its pairs of letters are. Against o200k_base, the vocabulary of OpenAI's models, the count is
// within a few percent for English, code and data, and mostly within 15 percent for other languages and scripts.
//
// Other models have other vocabularies, and every provider wraps messages and tools in words of its own. A [Family] knows what
// is known of that beforehand; a [Scale] learns the rest from what the provider reports. The size of the next request
// of a conversation is best told from the last answer, see [Scale.After]: then only what was added is an estimate.
package tokens
