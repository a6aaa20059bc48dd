package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const maxDownload = 100 << 20 // bytes of a file

type downloadArguments struct {
	URL  string `json:"url" jsonschema:"http or https address"`
	Path string `json:"path" jsonschema:"new file, relative to the root or absolute"`
}

// Downloaded is the details of a download.
type Downloaded struct {
	URL    string `json:"url"`  // after redirects
	Path   string `json:"path"` // from the root of the workspace
	MIME   string `json:"mime,omitzero"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (s *set) download() tool.Tool {
	return tool.New("download", downloadText,
		func(_ context.Context, args downloadArguments) (tool.Effects, error) {
			t, err := s.client.target(args.URL)
			if err != nil {
				return tool.Effects{}, err
			}
			if args.Path == "" {
				return tool.Effects{}, tool.Codef("tool.arguments", "path is empty; name the target file")
			}
			abs, err := s.ws.Resolve(args.Path)
			return tool.Effects{Hosts: []string{t.String()}, Writes: []tool.Path{tool.File(abs)}}, err
		},
		func(ctx context.Context, args downloadArguments, _ tool.Report) (tool.Result, error) {
			t, err := s.client.target(args.URL)
			if err != nil {
				return tool.Result{}, err
			}
			abs, err := s.ws.Resolve(args.Path)
			if err == nil {
				err = s.replaceable(args.Path, abs)
			}
			if err != nil {
				return tool.Result{}, err
			}
			ctx, cancel := within(ctx, s.downloadTime)
			defer cancel()
			done, err := s.save(ctx, t, args.Path, abs)
			if err != nil {
				return tool.Result{}, err
			}
			brief := fmt.Sprintf("%d bytes, %s", done.Bytes, done.MIME)
			return tool.TextResult("saved "+workspace.Quote(done.Path)+": "+brief).With(brief, done), nil
		}, tool.WithTitle(func(args downloadArguments) string { return args.URL + " to " + args.Path }))
}

// replaceable returns an error if a download must not write to a path.
func (s *set) replaceable(name, abs string) error {
	info, err := s.ws.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return tool.Codef("tool.exists", "%s exists and is not a file; choose another path", workspace.Quote(name))
	case info.Mode()&0o111 != 0:
		return tool.Codef("tool.denied", "%s is executable, and a download must not replace an executable file; choose another path", workspace.Quote(name))
	case s.replace == nil:
		return tool.Codef("tool.exists", "%s exists; choose another path, or delete it first", workspace.Quote(name))
	}
	return s.replace(abs)
}

// save writes an answer to a path. It uses a temporary file, so that the workspace has the whole file or none.
func (s *set) save(ctx context.Context, t target, name, abs string) (Downloaded, error) {
	answer, err := s.client.get(ctx, t, "*/*")
	if err != nil {
		return Downloaded{}, err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode != http.StatusOK:
		return Downloaded{}, tool.Codef("tool.http", "%s: %d %s; nothing was saved", answer.Request.URL, answer.StatusCode, http.StatusText(answer.StatusCode))
	case answer.ContentLength > maxDownload:
		return Downloaded{}, tool.Codef("tool.too_large", "%s has %d bytes, more than %d; nothing was saved", t.url, answer.ContentLength, maxDownload)
	}
	temp, err := os.CreateTemp("", "tenon-download-*")
	if err != nil {
		return Downloaded{}, err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	defer temp.Close()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(temp, hash), io.LimitReader(answer.Body, maxDownload+1))
	switch {
	case err != nil:
		return Downloaded{}, fmt.Errorf("%s: broke off after %d bytes, nothing was saved: %w", t.url, size, broken(ctx, err))
	case size > maxDownload:
		return Downloaded{}, tool.Codef("tool.too_large", "%s has more than %d bytes; nothing was saved", t.url, maxDownload)
	}
	data := make([]byte, size)
	if _, err := temp.ReadAt(data, 0); err != nil && err != io.EOF {
		return Downloaded{}, err
	}
	edit := workspace.Edit{Path: abs, Data: data, Exact: true, Check: func() error { return s.replaceable(name, abs) }} // as every tool that writes
	if err := s.ws.Apply(ctx, []workspace.Edit{edit}); err != nil {
		return Downloaded{}, err
	}
	kind, _ := mediaType(answer.Header.Get("Content-Type"), data)
	return Downloaded{
		URL: answer.Request.URL.String(), Path: s.ws.Rel(abs), MIME: kind, Bytes: size, SHA256: hex.EncodeToString(hash.Sum(nil)),
	}, nil
}
