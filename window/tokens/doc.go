// Package tokens estimates the tokens of a text, a message or a request, without a network and without the vocabulary of a model.
//
// [Text] splits a text as the tokenizers of current models do before they look at their vocabularies: words with the space before them,
// digits by three, runs of marks, white space. Most of these pieces are one token. The length and the capitals of a word say how many more
// it has. Compared with o200k_base, the vocabulary of OpenAI's models, the estimate is within a tenth for English, code and data, and within
// a fifth for other languages.
//
// Other models have other vocabularies, and every provider adds tokens around messages and tools. A [Family] has the facts that are known in
// advance; a [Scale] learns the rest from the usage that the provider reports. [Scale.After] estimates the next request of a conversation
// from the last answer: then only the new messages are an estimate.
package tokens
