// Package modelserver stands in for the providers of models, so that clients, the chain and the whole program can be tested
// against every protocol and every way in which a request fails. It needs no key and no network: it listens on 127.0.0.1.
//
//	srv := modelserver.New(t, modelserver.Steps(
//		modelserver.Fail(429).RetryAfter(2*time.Second),
//		modelserver.Think("I should look.").Call("read", `{"path":"go.mod"}`),
//		modelserver.Say("It is a library.").Fault(modelserver.CutInText),
//		modelserver.Say("It is a library."),
//	))
//
// The path of a request determines the protocol, so one server speaks all of them, under any prefix;
// see [Protocol]. The server checks each request as strictly as its provider: it rejects the same requests with 400
// and keeps the reason for [Server.Violations]. [Check] does the same without a server.
//
// Then the next step of the script is played: an answer, written as the provider writes it, streamed when the request asks
// for that; or a failure. What an answer leaves open is filled in, so that the same script does for all protocols.
// Signatures of reasoning that the server made are verified when they come back.
//
// [Parse] reads scripts from text.
package modelserver
