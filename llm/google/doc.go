// Package google is a client of Gemini models through the Gemini API ([New]) and Vertex AI ([NewVertex]). Both speak the
// generateContent protocol.
//
//	model := llm.Model{Provider: "gemini", ID: "gemini-2.5-flash"}
//	client := google.New(model, google.Options{Endpoint: wire.Endpoint{Key: key}})
//
// Vertex AI requires an access token. [Credentials] gets one from the same places as Google's own programs:
//
//	credentials := new(google.Credentials)
//	client := google.NewVertex(model, "my-project", "global", google.Options{Credentials: credentials})
//
// A Gemini model signs parts of its answers. The client keeps the signatures with their parts and sends them back unchanged
// to the model that made them. Calls of other models have no signature, and newer models reject such calls; they get the
// signature that Google documents for that purpose.
package google
