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
// The server tells by the path of a request which protocol it speaks, so one server stands for all of them, behind any prefix;
// see [Protocol]. Each request is checked as strictly as its provider would: what the provider answers with 400 is answered
// so, and kept for [Server.Violations]. [Check] does the same without a server.
//
// Then the next step of the script is played: an answer, written as the provider writes it, streamed when the request asks
// for that; or a failure. What an answer leaves open is filled in, so that the same script does for all protocols.
// Signatures of reasoning that the server made are verified when they come back.
//
// [Parse] reads scripts from text.
package modelserver
