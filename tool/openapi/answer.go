package openapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

const (
	maxSelects = 50
	maxImage   = 4 << 20
	maxError   = 8 << 10 // bytes of the text of a failure
)

// Answered is the details of a call.
type Answered struct {
	Request string `json:"request"` // the method and the URL, without credentials
	Status  int    `json:"status"`
	MIME    string `json:"mime,omitzero"`
	Bytes   int    `json:"bytes"` // that were read
	More    bool   `json:"more,omitzero"`
	Next    string `json:"next,omitzero"` // how to get the next page
}

// result reads an answer.
func (a *API) result(ctx context.Context, request string, answer *http.Response, selects []string) (tool.Result, error) {
	most := a.o.MaxAnswer
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	image := slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
	if image {
		most = max(most, maxImage)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: the answer broke off after %d bytes: %w", request, len(data), cause(ctx, err))
	}
	got := Answered{Request: request, Status: answer.StatusCode, MIME: line(kind, 100), More: len(data) > most}
	if got.More {
		data = data[:most]
	}
	got.Bytes = len(data)
	notes := []string{fmt.Sprintf("%s: %d %s", request, answer.StatusCode, http.StatusText(answer.StatusCode))}
	text := ""
	failed := answer.StatusCode < 200 || answer.StatusCode > 299
	switch {
	case image && !failed && !got.More && http.DetectContentType(data) == kind:
		result := tool.Result{Content: llm.Content{llm.Image{MIME: kind, Data: data}, llm.Text{Text: "[" + notes[0] + "]"}}}
		return result.With(fmt.Sprintf("%d, image", got.Status), got), nil
	case tool.Binary(string(data)):
		notes = append(notes, fmt.Sprintf("binary, %s, %d bytes, not shown", got.MIME, got.Bytes))
	case len(data) == 0:
		notes = append(notes, "no content")
	default:
		text = strings.ToValidUTF8(string(data), string(utf8.RuneError))
	}
	if got.More {
		notes = append(notes, fmt.Sprintf("only the first %d bytes were read; narrow the request", most))
	}
	if location := answer.Header.Get("Location"); location != "" && answer.StatusCode >= 300 && answer.StatusCode < 400 {
		notes = append(notes, "it redirects to "+line(location, 300)+", which Tenon does not follow")
	}
	if isJSON(kind) && !got.More && !failed {
		if v, err := fromJSON(data); err == nil {
			got.Next = next(v, answer)
			if len(selects) > 0 {
				part, err := encode(project(v, selects))
				if err != nil {
					return tool.Result{}, err
				}
				text = string(part)
				notes = append(notes, "selected "+line(strings.Join(selects, ", "), 200))
			}
		}
	} else if !failed {
		got.Next = next(nil, answer)
	}
	if got.Next != "" {
		notes = append(notes, got.Next)
	}
	if failed {
		text, _ = tool.Bound(text, maxError)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	result := tool.TextResult(text+"["+strings.Join(notes, "; ")+"]").With(fmt.Sprintf("%d, %s", got.Status, tool.Count(got.Bytes, "byte")), got)
	result.IsError = failed
	return result, nil
}

// paths reads the argument that selects members.
func paths(v any) ([]string, error) {
	if text, ok := v.(string); ok {
		v = []any{text}
	}
	var out []string
	for _, one := range list(v) {
		text, ok := one.(string)
		if !ok || strings.Trim(text, ".$*[] ") == "" {
			return nil, errors.New("must be a list of names, such as items.id")
		}
		text = strings.NewReplacer("[]", "", "[*]", "", ".*", "").Replace(strings.TrimPrefix(strings.TrimPrefix(text, "$"), "."))
		out = append(out, text)
	}
	if v != nil && out == nil && list(v) == nil {
		return nil, errors.New("must be a list of names, such as items.id")
	}
	if len(out) > maxSelects {
		return nil, fmt.Errorf("must have at most %d entries", maxSelects)
	}
	return out, nil
}

// project returns the members of a value that paths name. A path leads through lists to each of their entries.
func project(v any, names []string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = project(v[i], names)
		}
		return out
	case object:
		below := map[string][]string{} // an empty list: all
		for _, n := range names {
			first, rest, deeper := strings.Cut(n, ".")
			if v[n] != nil { // a name with dots
				first, deeper = n, false
			}
			before, known := below[first]
			switch {
			case !deeper || known && len(before) == 0:
				below[first] = []string{}
			default:
				below[first] = append(before, rest)
			}
		}
		out := object{}
		for name, deeper := range below {
			if one, ok := v[name]; ok {
				out[name] = one
				if len(deeper) > 0 {
					out[name] = project(one, deeper)
				}
			}
		}
		return out
	}
	return v
}

// next describes how to get the next page: by the header Link, or by a member of the answer whose name says so.
func next(v any, answer *http.Response) string {
	for _, header := range answer.Header.Values("Link") {
		for one := range strings.SplitSeq(header, ",") {
			target, parameters, ok := strings.Cut(strings.TrimSpace(one), ">")
			if !ok || !strings.Contains(strings.ReplaceAll(parameters, `"`, ""), "rel=next") {
				continue
			}
			if u, err := url.Parse(strings.TrimPrefix(target, "<")); err == nil {
				if u.RawQuery != "" {
					return "there is a next page: " + line(queryText(u), 300)
				}
				return "there is a next page: " + line(u.Redacted(), 300)
			}
		}
	}
	var found []string
	search := func(o object) {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			text, ok, err := scalarText(o[name])
			word := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
			if ok && err == nil && text != "" && text != "false" && slices.Contains(nextNames, word) {
				found = append(found, fmt.Sprintf("%s = %s", line(name, 40), line(text, 200)))
			}
		}
	}
	top := fields(v)
	search(top)
	for _, name := range []string{"meta", "metadata", "pagination", "paging", "page", "links", "_links", "response_metadata", "info"} {
		search(fields(top[name]))
		if o := fields(fields(top[name])["next"]); o != nil { // HAL
			search(object{"next": o["href"]})
		}
		search(fields(fields(top[name])["cursors"]))
		search(fields(fields(top[name])["pages"]))
	}
	if len(found) == 0 {
		return ""
	}
	return "there may be a next page: " + strings.Join(found[:min(len(found), 4)], ", ")
}

// nextNames are names of members that lead to the next page, without underscores and in lower case.
var nextNames = []string{"next", "nextcursor", "nextpage", "nextpagetoken", "nexttoken", "nexturl", "nextlink", "continuationtoken", "hasmore", "hasnext", "hasnextpage", "endcursor", "after", "@odata.nextlink"}

// queryText shows the parameters of a query.
func queryText(u *url.URL) string {
	q := u.Query()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(q)) {
		out = append(out, name+" = "+strings.Join(q[name], ","))
	}
	return strings.Join(out, ", ")
}
