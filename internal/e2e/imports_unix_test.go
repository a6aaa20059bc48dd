//go:build unix

package e2e_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

const (
	cart        = "package shop\n\nfunc Total(p []float64) float64 { return sum(p) }\n"
	cartChanged = "package shop\n\nfunc Total(p []int64) int64 { return sum(p) }\n"
)

// quoted is a text in JSON.
func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// records are a session of each program in a directory: it read cart.go, ran a command, and asked another program.
var records = map[string]func(t *testing.T, dir, file string) []string{
	"claude": func(_ *testing.T, dir, file string) []string {
		line := func(id, parent, kind, message string) string {
			return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s","cwd":%q,"timestamp":"2025-11-03T09:00:00.000Z","message":%s}`, kind, id, parent, dir, message)
		}
		return []string{
			line("u1", `null`, "user", `{"role":"user","content":"Look at the cart."}`),
			line("a1", `"u1"`, "assistant", `{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[`+
				`{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":`+quoted(file)+`}},{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"go vet","timeout":60000}},`+
				`{"type":"tool_use","id":"t3","name":"mcp__db__query","input":{"sql":"select 1"}}],"stop_reason":"tool_use"}`),
			line("u2", `"a1"`, "user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":`+
				quoted("     1→package shop\n     2→\n     3→func Total(p []float64) float64 { return sum(p) }\n\n<system-reminder>Whole.</system-reminder>")+
				`},{"type":"tool_result","tool_use_id":"t2","content":"ok"},{"type":"tool_result","tool_use_id":"t3","content":"1"}]}`),
			line("a2", `"u2"`, "assistant", `{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Seen."}],"stop_reason":"end_turn"}`),
		}
	},
	"codex": func(_ *testing.T, dir, _ string) []string {
		item := func(payload string) string {
			return `{"timestamp":"2025-11-05T10:00:05.000Z","type":"response_item","payload":` + payload + `}`
		}
		call := func(id, name, arguments, output string) []string {
			return []string{
				item(fmt.Sprintf(`{"type":"function_call","name":%q,"arguments":%s,"call_id":%q}`, name, quoted(arguments), id)),
				item(fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, id, quoted(output))),
			}
		}
		lines := []string{
			`{"timestamp":"2025-11-05T10:00:00.010Z","type":"session_meta","payload":{"id":"c1","timestamp":"2025-11-05T10:00:00.000Z","cwd":` + quoted(dir) + `,"model_provider":"openai"}}`,
			`{"timestamp":"2025-11-05T10:00:01.002Z","type":"turn_context","payload":{"cwd":` + quoted(dir) + `,"model":"gpt-5.1-codex"}}`,
			item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"Look at the cart."}]}`),
		}
		lines = append(lines, call("k1", "shell", `{"command":["bash","-lc","cat cart.go"],"workdir":`+quoted(dir)+`}`, "Exit code: 0\nWall time: 0 seconds\nOutput:\n"+cart)...)
		lines = append(lines, call("k2", "exec_command", `{"cmd":"go vet","yield_time_ms":1000}`, "ok")...)
		lines = append(lines, call("k3", "mcp__db__query", `{"sql":"select 1"}`, "1")...)
		return append(lines, item(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Seen."}]}`))
	},
	"pi": func(_ *testing.T, dir, _ string) []string {
		line := func(id, parent, message string) string {
			return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2025-11-07T12:00:01.000Z","message":%s}`, id, parent, message)
		}
		result := func(id, text string) string {
			return `{"role":"toolResult","toolCallId":"` + id + `","content":[{"type":"text","text":` + quoted(text) + `}],"isError":false}`
		}
		return []string{
			`{"type":"session","version":3,"id":"p0","timestamp":"2025-11-07T12:00:00.000Z","cwd":` + quoted(dir) + `}`,
			line("p1", `null`, `{"role":"user","content":"Look at the cart."}`),
			line("p2", `"p1"`, `{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"toolUse","content":[{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"cart.go"}},`+
				`{"type":"toolCall","id":"t2","name":"bash","arguments":{"command":"go vet"}},{"type":"toolCall","id":"t3","name":"mcp__db__query","arguments":{"sql":"select 1"}}]}`),
			line("p3", `"p2"`, result("t1", cart)), line("p4", `"p3"`, result("t2", "ok")), line("p5", `"p4"`, result("t3", "1")),
			line("p6", `"p5"`, `{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"stop","content":[{"type":"text","text":"Seen."}]}`),
		}
	},
	"opencode": func(t *testing.T, dir, file string) []string {
		call := func(id, tool, input, output string) string {
			return fmt.Sprintf(`{"type":"tool","callID":%q,"tool":%q,"state":{"status":"completed","input":%s,"output":%s}}`, id, tool, input, quoted(output))
		}
		name := filepath.Join(t.TempDir(), "opencode.db")
		fill(t, name, `CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, revert text, time_created integer, time_updated integer);
			CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
			CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
			CREATE TABLE todo (session_id text, content text, status text, priority text, position integer);
			INSERT INTO session VALUES ('ses_1', 'p', NULL, '', ?, 'The cart', '1.2', NULL, 1762600000000, 1762600000000);
			INSERT INTO message VALUES ('msg_1', 'ses_1', 1762600000000, 0, '{"role":"user","time":{"created":1762600000000}}'),
				('msg_2', 'ses_1', 1762600000001, 0, '{"role":"assistant","modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1762600000001}}');
			INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 0, 0, '{"type":"text","text":"Look at the cart."}'), ('prt_2', 'msg_2', 'ses_1', 0, 0, ?),
				('prt_3', 'msg_2', 'ses_1', 0, 0, ?), ('prt_4', 'msg_2', 'ses_1', 0, 0, ?), ('prt_5', 'msg_2', 'ses_1', 0, 0, '{"type":"step-start"}'),
				('prt_6', 'msg_2', 'ses_1', 0, 0, '{"type":"text","text":"Seen."}')`,
			dir, call("t1", "read", `{"filePath":`+quoted(file)+`}`, "<file>\n00001| package shop\n00002| \n00003| func Total(p []float64) float64 { return sum(p) }\n\n(End of file)\n</file>"),
			call("t2", "bash", `{"command":"go vet"}`, "ok"), call("t3", "db_query", `{"sql":"select 1"}`, "1"))
		return []string{name}
	},
	"crush": func(t *testing.T, dir, file string) []string {
		schema, err := os.ReadFile("../transfer/testdata/crush.sql")
		if err != nil {
			t.Fatal(err)
		}
		tables, _, _ := strings.Cut(string(schema), "INSERT INTO")
		call := func(id, name, input string) string {
			return fmt.Sprintf(`{"type":"tool_call","data":{"id":%q,"name":%q,"input":%s,"finished":true}}`, id, name, quoted(input))
		}
		result := func(id, text string) string {
			return fmt.Sprintf(`{"type":"tool_result","data":{"tool_call_id":%q,"content":%s}}`, id, quoted(text))
		}
		name := filepath.Join(dir, ".crush", "crush.db")
		if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		fill(t, name, tables+`INSERT INTO sessions VALUES ('s1', NULL, 'The cart', 4, 0, 0, 0, 1762700900, 1762700000, NULL, NULL);
			INSERT INTO messages VALUES ('c1', 's1', 'user', '[{"type":"text","data":{"text":"Look at the cart."}}]', '', 1762700001, 0, NULL, NULL, 0),
				('c2', 's1', 'assistant', ?, 'claude-sonnet-4-5', 1762700002, 0, NULL, 'anthropic', 0), ('c3', 's1', 'tool', ?, '', 1762700003, 0, NULL, NULL, 0),
				('c4', 's1', 'assistant', '[{"type":"text","data":{"text":"Seen."}}]', 'claude-sonnet-4-5', 1762700004, 0, NULL, 'anthropic', 0)`,
			"["+call("t1", "view", `{"file_path":`+quoted(file)+`}`)+","+call("t2", "bash", `{"command":"go vet"}`)+","+call("t3", "mcp_db_query", `{"sql":"select 1"}`)+"]",
			"["+result("t1", "<file>\n     1|package shop\n     2|\n     3|func Total(p []float64) float64 { return sum(p) }\n</file>")+","+result("t2", "ok")+","+result("t3", "1")+"]")
		return []string{name}
	},
}

// fill makes a database. The values of the statements are in their order.
func fill(t *testing.T, name, statements string, values ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for statement := range strings.SplitSeq(statements, ";\n") {
		n := strings.Count(statement, "?")
		if _, err := db.ExecContext(context.Background(), statement, values[:n]...); err != nil {
			t.Fatal(err)
		}
		values = values[n:]
	}
}

// An imported session of each program shows Tenon's names for its tools, and continues with each protocol. The model replaces a file that the
// other program had read.
func TestImportedToolsAreKnown(t *testing.T) {
	for i, program := range slices.Sorted(maps.Keys(records)) {
		for n, w := range ways() {
			if !sample.Takes(n+i, 3, 3) || w.like && !sample.All() {
				continue
			}
			t.Run(program+"/"+w.name, func(t *testing.T) {
				t.Parallel()
				p := newProject(t)
				p.env = append(p.env, "PATH="+os.Getenv("PATH"))
				file := filepath.Join(p.dir, "cart.go")
				p.write(file, cart)
				source := records[program](t, p.dir, file)
				if len(source) > 1 {
					name := filepath.Join(t.TempDir(), "rollout-s.jsonl")
					p.write(name, strings.Join(source, "\n")+"\n")
					source = []string{name}
				}
				p.must("sessions", "import", source[0])
				id := p.session()
				shows := p.must("sessions", "show", id)
				for _, want := range []string{"shell go vet", "db"} {
					if !strings.Contains(shows, want) {
						t.Errorf("without %q: %s", want, shows)
					}
				}
				for _, other := range []string{"Bash", "bash go", "Read ", "exec_command", "view "} {
					if strings.Contains(shows, other) {
						t.Errorf("with %q: %s", other, shows)
					}
				}
				starts := map[string]session.CallStarted{}
				for _, e := range p.journal() {
					if s, ok := e.Body.(session.CallStarted); ok {
						starts[s.Tool] = s
						if !strings.Contains(string(s.Effects), "cart.go") && !strings.Contains(string(s.Effects), "go vet") {
							t.Errorf("the call %+v has the effects %s", s, s.Effects)
						}
					}
				}
				if want := map[bool]int{true: 1, false: 2}[program == "codex"]; len(starts) != want {
					t.Errorf("started are %v", starts)
				}
				srv := w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
					if last := r.Messages[len(r.Messages)-1]; last.Role == llm.RoleUser {
						return modelserver.Call("write", `{"path":"cart.go","content":`+quoted(cartChanged)+`}`)
					}
					return modelserver.Say("done")
				}))
				if r := p.tenon("run", "--session", id, "--model", w.ref(), "--mode", "edits", "Use integers."); r.code != 0 {
					t.Fatalf("exit code %d: %s", r.code, r.stderr)
				}
				for _, r := range srv.Requests() {
					if r.Violation != nil {
						t.Errorf("a request is not valid: %v", r.Violation)
					}
				}
				results := srv.Requests()[len(srv.Requests())-1].Results()
				if got, err := os.ReadFile(file); err != nil || string(got) != cartChanged {
					t.Errorf("the file is %q, %v, after %s", got, err, results[len(results)-1].Text())
				}
			})
		}
	}
}
