package lsp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// fake is a language server that misbehaves. It runs in a process of its own. The lines "bad" of a file are its problems.
func fake(how string) {
	in := bufio.NewReader(os.Stdin)
	send := func(m map[string]any) {
		m["jsonrpc"] = "2.0"
		body, _ := json.Marshal(m)
		fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	publish := func(uri, text string, version int) {
		problems := []map[string]any{}
		for i, line := range strings.Split(text, "\n") {
			if at := strings.Index(line, "bad"); at >= 0 {
				problems = append(problems, map[string]any{"severity": 1, "message": "it is bad\x1b[31m\nreally", "range": rangeOf(i, at, at+3)})
			}
		}
		send(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": uri, "version": version, "diagnostics": problems}})
	}
	for {
		var length int
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			fmt.Sscanf(line, "Content-Length: %d", &length)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				TextDocument struct {
					URI, Text string
					Version   int
				}
				ContentChanges []struct{ Text string }
			}
		}
		if err := json.Unmarshal(body, &m); err != nil {
			panic(err)
		}
		d := m.Params.TextDocument
		switch m.Method {
		case "initialize":
			switch how {
			case "silent":
				_, _ = io.Copy(io.Discard, in)
				return
			case "dead":
				fmt.Fprintln(os.Stderr, "no license\x1b[2J found")
				os.Exit(3)
			}
			encoding := "utf-16"
			if how == "utf-8" {
				encoding = "utf-8"
			}
			send(map[string]any{"id": m.ID, "result": map[string]any{"capabilities": map[string]any{"positionEncoding": encoding}}})
			send(map[string]any{"id": "q1", "method": "workspace/applyEdit", "params": map[string]any{"edit": map[string]any{}}})
			send(map[string]any{"id": "q2", "method": "workspace/configuration", "params": map[string]any{"items": []any{map[string]any{"section": "x"}}}})
			send(map[string]any{"id": "q3", "method": "unheard/of"})
		case "textDocument/didOpen", "textDocument/didChange":
			for _, c := range m.Params.ContentChanges {
				d.Text = c.Text
			}
			misbehave(how)
			if how == "mute" || how == "hung" {
				continue
			}
			publish(d.URI, d.Text, d.Version)
			for how == "endless" {
				publish(d.URI+"x", d.Text, d.Version)
			}
		case "textDocument/rename":
			// Line 2 has the name after a character of two units in UTF-16 and four bytes in UTF-8.
			from := 5
			if how == "utf-8" {
				from = 7
			}
			if how == "outside" {
				d.URI = "file:///etc/passwd"
			}
			edit := map[string]any{"newText": "new", "range": rangeOf(1, from, from+3)}
			edits := []any{edit}
			if how == "overlap" {
				edits = append(edits, edit)
			}
			send(map[string]any{"id": m.ID, "result": map[string]any{"changes": map[string]any{d.URI: edits}}})
		case "shutdown":
			send(map[string]any{"id": m.ID, "result": nil})
		case "exit":
			return
		case "textDocument/hover":
			if how != "hung" {
				send(map[string]any{"id": m.ID, "result": map[string]any{"contents": []any{"text\x1b[31m", map[string]any{"language": "x", "value": "code"}}}})
			}
		default:
			if m.ID != nil && how != "hung" {
				send(map[string]any{"id": m.ID, "result": []any{}})
			}
		}
	}
}

// misbehave writes what breaks the protocol.
func misbehave(how string) {
	switch how {
	case "dies":
		os.Exit(1)
	case "long": // it promises more than it sends
		fmt.Print("Content-Length: 1000\r\n\r\n{}")
	case "huge":
		fmt.Print("Content-Length: 99999999999\r\n\r\n{}")
	case "negative":
		fmt.Print("Content-Length: -5\r\n\r\n{}")
	case "short": // the rest of the message is no header
		fmt.Print("Content-Length: 2\r\n\r\n{} and more without end\r\n")
	case "json":
		fmt.Print("Content-Length: 5\r\n\r\n{{{{{")
	case "headers":
		for {
			fmt.Print("X-Header: yes\r\n")
		}
	case "flood": // 1 GB
		chunk := strings.Repeat("x", 1<<20)
		for range 1 << 10 {
			fmt.Print(chunk)
		}
	}
}

func rangeOf(line, from, to int) map[string]any {
	return map[string]any{"start": map[string]any{"line": line, "character": from}, "end": map[string]any{"line": line, "character": to}}
}
