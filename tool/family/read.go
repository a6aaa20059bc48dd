package family

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-agent/tenon/models"
)

// The longest time of a command, in seconds: a longer one is in milliseconds.
const maxSeconds = 600

// reader converts the arguments of one call to those of a tool.
type reader struct {
	dialect *Dialect
	tool    string
	args    map[string]any
	own     map[string]string // the names of the arguments of the tool, by their plain spelling
}

// read converts the arguments in place. Those that it does not know stay, because the tool reports them.
func (r *reader) read(in incoming) error {
	if in.fix != nil {
		if err := in.fix(r); err != nil {
			return err
		}
	}
	r.own = argumentsOf(r.dialect.known[r.tool].Schema)
	args, err := renamed(r.args, r.own, aliases[r.tool])
	if err != nil {
		return err
	}
	r.args = args
	if list, ok := members[r.tool]; ok {
		if err := r.list(list.name, list.members); err != nil {
			return err
		}
	}
	if fix := fixes[r.tool]; fix != nil {
		return fix(r)
	}
	return nil
}

// fixes convert the values of the arguments of a tool.
var fixes = map[string]func(*reader) error{
	"shell": (*reader).shell, "job": (*reader).job, "read": (*reader).lines, "edit": (*reader).edits, "patch": (*reader).patch,
	"grep": (*reader).grep, "todo": (*reader).todo, "fetch": (*reader).fetch, "question": (*reader).question, "cleanup": (*reader).cleanup, "agent": (*reader).task,
}

// milliseconds are the plain names of arguments in milliseconds.
var milliseconds = []string{"timeoutms", "yieldtimems"}

// renamed returns arguments under their own names. Two names for one argument must agree.
func renamed(args map[string]any, own, aliases map[string]string) (map[string]any, error) {
	other := make(map[string]string) // the own name, by plain alias
	for name, list := range aliases {
		for alias := range strings.FieldsSeq(list) {
			other[alias] = name
		}
	}
	out := make(map[string]any, len(args))
	from := make(map[string]string)
	for _, key := range slices.Sorted(maps.Keys(args)) {
		value, word := args[key], plain(key)
		name, known := own[word]
		if !known {
			var alias bool
			if name, alias = other[word]; alias && name == "" {
				continue // it changes nothing
			}
			if _, there := own[plain(name)]; !alias || !there {
				name = key
			}
		}
		if slices.Contains(milliseconds, word) {
			value = seconds(value)
		}
		if name == "unconfined" {
			value = escalated(value)
		}
		if before, twice := from[name]; twice && !reflect.DeepEqual(out[name], value) {
			return nil, fmt.Errorf("the arguments %q and %q mean the same and disagree; send one of them", before, key)
		}
		out[name], from[name] = value, key
	}
	return out, nil
}

// list converts the objects of a list.
func (r *reader) list(name string, known map[string]string) error {
	all, _ := r.args[name].([]any)
	for i, one := range all {
		args, ok := one.(map[string]any)
		if !ok {
			continue
		}
		own := make(map[string]string)
		for name := range known {
			own[plain(name)] = name
		}
		delete(own, "")
		got, err := renamed(args, own, known)
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
		all[i] = got
	}
	return nil
}

// seconds converts milliseconds, rounded up, to a time that the tools accept.
func seconds(v any) any {
	ms, ok := whole(v)
	if !ok {
		return v
	}
	return number64(min(max((ms+999)/1000, 0), maxSeconds))
}

// escalated converts sandbox_permissions to whether the command runs outside the sandbox.
func escalated(v any) any {
	switch v {
	case "require_escalated":
		return true
	case "use_default":
		return false
	}
	return v
}

func (r *reader) shell() error {
	if words, ok := r.args["command"].([]any); ok {
		if line, ok := commandOf(words); ok {
			r.args["command"] = line
		}
	}
	if n, ok := whole(r.args["timeout"]); ok && n > maxSeconds {
		r.args["timeout"] = seconds(r.args["timeout"])
	}
	if n, ok := whole(r.args["yield"]); ok && n < 1 {
		r.args["yield"] = number64(1)
	}
	if _, confined := r.own["unconfined"]; !confined {
		maps.DeleteFunc(r.args, func(key string, _ any) bool {
			return slices.Contains([]string{"sandboxpermissions", "dangerouslydisablesandbox", "justification"}, plain(key))
		})
	}
	if r.args["unconfined"] == false {
		delete(r.args, "unconfined")
	}
	if reason, ok := r.args["reason"]; ok && r.args["unconfined"] == nil { // models explain what needs no permission, too
		if r.args["description"] == nil {
			r.args["description"] = reason
		}
		delete(r.args, "reason")
	}
	if r.args["unconfined"] == true && r.args["reason"] == nil && r.args["description"] != nil {
		r.args["reason"] = r.args["description"]
	}
	line, ok := r.args["command"].(string)
	if _, patches := r.dialect.known["patch"]; !ok || !patches {
		return nil
	}
	dir, _ := r.args["dir"].(string)
	patch, found, err := patchIn(line, dir)
	if err != nil {
		return fmt.Errorf("%w: call the tool %s with the patch", err, r.dialect.callable("patch"))
	}
	if found {
		r.tool, r.args = "patch", map[string]any{"patch": straighten(patch)}
	}
	return nil
}

// callable returns the name by which a model of the family can call a tool, also one that it is not offered.
func (f *Dialect) callable(tool string) string {
	if name := f.Name(tool); name != "" {
		return name
	}
	return tool
}

// commandOf returns the command line of a list of words.
func commandOf(words []any) (string, bool) {
	all := make([]string, len(words))
	for i, w := range words {
		text, ok := w.(string)
		if !ok {
			return "", false
		}
		all[i] = text
	}
	if len(all) == 0 {
		return "", false
	}
	if shell := all[0][strings.LastIndexByte(all[0], '/')+1:]; len(all) == 3 && (shell == "bash" || shell == "sh" || shell == "zsh") && (all[1] == "-lc" || all[1] == "-c") {
		return all[2], true
	}
	if len(all) == 2 && (all[0] == "apply_patch" || all[0] == "applypatch") {
		return all[0] + " " + quoted(all[1]), true
	}
	if len(all) == 1 {
		return all[0], true
	}
	for i, word := range all {
		all[i] = quoted(word)
	}
	return strings.Join(all, " "), true
}

// quoted returns a word as bash reads it.
func quoted(word string) string {
	if word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (r *reader) job() error {
	if n, ok := whole(r.args["timeout"]); ok && n > maxSeconds {
		r.args["timeout"] = seconds(r.args["timeout"])
	}
	if n, ok := whole(r.args["id"]); ok {
		r.args["id"] = fmt.Sprintf("job%d", n)
	}
	return nil
}

// output converts BashOutput, and TaskOutput of a sub-agent.
func (r *reader) output() error {
	if r.agentOutput() {
		return nil
	}
	block, wait := false, ""
	for key := range r.args {
		switch plain(key) {
		case "block", "wait":
			block, wait = r.args[key] == true, key
		}
	}
	delete(r.args, wait)
	r.act("output")
	if block {
		r.act("wait")
	} else {
		delete(r.args, "timeout")
	}
	return nil
}

// kill converts KillBash, and TaskStop of a sub-agent.
func (r *reader) kill() error {
	if r.ofAgent("agent_cancel") {
		r.tool, r.args = "agent_cancel", map[string]any{"task": r.args["task_id"]}
		return nil
	}
	r.args["action"] = "kill"
	return nil
}

// act sets the action of a job; without an ID the jobs are listed.
func (r *reader) act(action string) {
	r.args["action"] = "list"
	for key, value := range r.args {
		if name := plain(key); value != "" && value != nil && (name == "id" || strings.HasSuffix(name, "id")) {
			r.args["action"] = action
		}
	}
}

// stdin converts write_stdin.
func (r *reader) stdin() error {
	chars, _ := r.args["chars"].(string)
	delete(r.args, "chars")
	switch chars {
	case "":
		r.act("wait")
		if n, ok := whole(r.args["yield_time_ms"]); ok && n == 0 {
			r.act("output")
			delete(r.args, "yield_time_ms")
		}
	case "\x03":
		r.act("kill")
		delete(r.args, "yield_time_ms")
	default:
		return fmt.Errorf("the command reads no input; run it again with the input in the command line, such as a pipe or a here-document")
	}
	return nil
}

// textEditor converts the calls of a text editor with commands.
func (r *reader) textEditor() error {
	command := r.args["command"]
	switch delete(r.args, "command"); command {
	case "view":
		r.tool = "read"
	case "create":
		r.tool = "write"
	case "str_replace":
		if r.args["new_str"] == nil {
			r.args["new_str"] = ""
		}
	case "insert":
		return fmt.Errorf("insert is not available; use %s with the line before the place as the old text, and with that line and the new lines as the new text", r.dialect.callable("edit"))
	default:
		return fmt.Errorf("the command %v is not available; the commands are view, create and str_replace", command)
	}
	return nil
}

// lines converts ranges of lines.
func (r *reader) lines() error {
	var from, to any
	for key, value := range r.args {
		switch list, _ := value.([]any); plain(key) {
		case "startline":
			from = value
			delete(r.args, key)
		case "endline":
			to = value
			delete(r.args, key)
		case "viewrange":
			if len(list) == 2 {
				from, to = list[0], list[1]
				delete(r.args, key)
			}
		}
	}
	first, begins := whole(from)
	if begins {
		if err := r.set("offset", number64(first)); err != nil {
			return err
		}
	}
	if last, ends := whole(to); ends && last >= 0 {
		return r.set("limit", number64(max(last-max(first, 1)+1, 1)))
	}
	return nil
}

// set sets an argument that a range implies.
func (r *reader) set(name string, value any) error {
	if before, ok := r.args[name]; ok && !reflect.DeepEqual(before, value) {
		return fmt.Errorf("%s %v and the range of lines disagree; send one of them", name, before)
	}
	r.args[name] = value
	return nil
}

// edits converts an edit with a list of edits.
func (r *reader) edits() error {
	all, ok := r.args["edits"].([]any)
	if _, many := r.dialect.known["multi_edit"]; !ok || !many {
		return nil
	}
	if r.args["old_text"] != nil || r.args["new_text"] != nil {
		return fmt.Errorf("edits and the old text mean the same; send one of them")
	}
	if len(all) > 1 {
		r.tool = "multi_edit"
		return nil
	}
	if one, ok := r.args["edits"].([]any)[0].(map[string]any); ok && len(all) == 1 {
		delete(r.args, "edits")
		maps.Copy(r.args, one)
	}
	return nil
}

func (r *reader) patch() error {
	if text, ok := r.args["patch"].(string); ok {
		r.args["patch"] = straighten(text)
	}
	return nil
}

// grep converts what the tool has no argument for.
func (r *reader) grep() error {
	for _, name := range []string{"-A", "-B", "before", "after"} {
		n, ok := whole(r.args[name])
		if _, known := r.own[plain(name)]; known || !ok {
			continue
		}
		if most, _ := whole(r.args["context"]); n > most {
			r.args["context"] = number64(n)
		}
		delete(r.args, name)
	}
	if v, ok := r.args["case_sensitive"].(bool); ok && r.own["casesensitive"] == "" {
		delete(r.args, "case_sensitive")
		r.args["ignore_case"] = !v
	}
	if v, ok := r.args["names_only"].(bool); ok && r.own["outputmode"] != "" {
		if delete(r.args, "names_only"); v {
			r.args["output_mode"] = "files_with_matches"
		}
	}
	return nil
}

// todo drops items that are cancelled.
func (r *reader) todo() error {
	if items, ok := r.args["items"].([]any); ok {
		r.args["items"] = slices.DeleteFunc(items, func(one any) bool {
			item, _ := one.(map[string]any)
			return item["status"] == "cancelled"
		})
	}
	return nil
}

// fetch takes the address from a prompt.
func (r *reader) fetch() error {
	prompt, _ := r.args["prompt"].(string)
	delete(r.args, "prompt")
	if i := strings.Index(prompt, "http"); i >= 0 && r.args["url"] == nil {
		end := strings.IndexFunc(prompt[i:], func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("<>\"'`)", c) })
		if end < 0 {
			end = len(prompt) - i
		}
		r.args["url"] = strings.TrimRight(prompt[i:i+end], ".,;:!?")
	}
	return nil
}

// question takes options without their descriptions.
func (r *reader) question() error {
	all, _ := r.args["questions"].([]any)
	for _, one := range all {
		q, _ := one.(map[string]any)
		options, _ := q["options"].([]any)
		for i, o := range options {
			if option, ok := o.(map[string]any); ok && option["label"] != nil {
				options[i] = option["label"]
			}
		}
	}
	return nil
}

// cleanup takes the name of a tool of any family.
func (r *reader) cleanup() error {
	if name, ok := r.args["tool"].(string); ok {
		if in, ok := r.dialect.meant(name); ok {
			r.args["tool"] = in.tool
		}
	}
	return nil
}

// write returns a canonical call under the names of the family.
func (f *Dialect) write(tool string, args map[string]any) (string, map[string]any) {
	i := slices.IndexFunc(f.forms, func(o form) bool { return o.tool == tool })
	if i < 0 || f.forms[i].name == "" || f.forms[i].only != "" {
		return tool, args
	}
	o := f.forms[i]
	if tool == "job" && f.family == models.FamilyClaude {
		return bashJob(args)
	}
	if tool == "job" && f.family == models.FamilyGPT {
		return o.name, stdinJob(args)
	}
	out := make(map[string]any, len(args))
	by := renames(o.arguments, " ")
	for name, value := range args {
		r := renameOf(by, name)
		if r.theirs == "" {
			r.theirs = name // it is not offered, and yet understood
		}
		if n, ok := whole(value); ok && r.times > 1 {
			value = number64(n * r.times)
		}
		if n, ok := whole(value); ok && r.theirs == "end_line" {
			first, _ := whole(args["offset"])
			value = number64(max(first, 1) + n - 1)
		}
		if r.theirs == "sandbox_permissions" {
			value = map[bool]string{true: "require_escalated", false: "use_default"}[value == true]
		}
		if list, ok := value.([]any); ok && r.members != nil {
			value = renamedMembers(list, r.members)
		}
		out[r.theirs] = value
	}
	return o.name, out
}

func renamedMembers(list []any, by []rename) []any {
	out := slices.Clone(list)
	for i, one := range list {
		if args, ok := one.(map[string]any); ok {
			got := make(map[string]any, len(args))
			for name, value := range args {
				got[renameOf(by, name).theirs] = value
			}
			out[i] = got
		}
	}
	return out
}

// bashJob writes a call of job as BashOutput or KillBash.
func bashJob(args map[string]any) (string, map[string]any) {
	out := maps.Clone(args)
	id, name := out["id"], "bash_id"
	tool := "BashOutput"
	switch out["action"] {
	case "kill":
		tool, name = "KillBash", "shell_id"
	case "wait":
		out["block"] = true
		if n, ok := whole(out["timeout"]); ok {
			out["timeout"] = number64(n * 1000)
		}
	}
	delete(out, "action")
	if delete(out, "id"); id != nil {
		out[name] = id
	}
	return tool, out
}

// stdinJob writes a call of job as write_stdin.
func stdinJob(args map[string]any) map[string]any {
	out := maps.Clone(args)
	id, timeout := out["id"], out["timeout"]
	delete(out, "timeout")
	switch out["action"] {
	case "kill":
		out["chars"] = "\x03"
	case "output":
		out["yield_time_ms"] = number64(0)
	case "wait":
		if n, ok := whole(timeout); ok {
			out["yield_time_ms"] = number64(n * 1000)
		}
	}
	delete(out, "action")
	if delete(out, "id"); id != nil {
		out["session_id"] = id
	}
	return out
}

// object reads arguments; numbers stay as they are written.
func object(text string) (map[string]any, bool) {
	if text = strings.TrimSpace(text); text == "" {
		return map[string]any{}, true
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

// encode returns a value as JSON without escapes for HTML.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // values of JSON always have one
	return strings.TrimSuffix(b.String(), "\n")
}

// whole returns a whole number, which some models write as a text.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	case string:
		n, err := json.Number(v).Int64()
		return n, err == nil
	}
	return 0, false
}

func number64(n int64) json.Number { return json.Number(fmt.Sprint(n)) }
