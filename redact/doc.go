// Package redact hides secrets, such as API keys, in texts that leave a program: results of tools, logs, answers.
//
//	r := redact.New(key)
//	tools = r.Tools(tools)             // for the model and the journal
//	log.SetOutput(r.Writer(os.Stderr)) // for people
package redact
