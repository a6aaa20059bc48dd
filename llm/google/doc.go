// Package google is a client of Gemini models, by the Gemini API ([New]) and by Vertex AI ([NewVertex]): both speak the protocol
// generateContent.
//
//	model := llm.Model{Provider: "gemini", ID: "gemini-2.5-flash"}
//	client := google.New(model, google.Options{Endpoint: wire.Endpoint{Key: key}})
//
// Vertex AI wants an access token. [Credentials] gets one wherever Google's own programs do:
//
//	credentials := new(google.Credentials)
//	client := google.NewVertex(model, "my-project", "global", google.Options{Credentials: credentials})
//
// A model's reasoning comes back to it as signatures, which stand on any part of an answer. They are kept with their parts and
// sent again, byte for byte, to the model that made them. Calls that another model made have none, and newer models refuse
// a call without one; such calls get the signature that Google documents for that purpose.
package google
