package editor

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Bounds of the programs that read the clipboard, and of images.
const (
	clipboardTime  = 3 * time.Second
	clipboardBytes = 20 << 20
)

var errClipboardEmpty = errors.New("cannot paste: the clipboard has neither text nor an image")

// clipboard reads the clipboard with the programs of the system. The result is an image, or a paste.
func clipboard(getenv func(string) string) (Part, error) {
	ctx, cancel := context.WithTimeout(context.Background(), clipboardTime)
	defer cancel()
	has := func(program string) bool { _, err := exec.LookPath(program); return err == nil }
	switch {
	case runtime.GOOS == "darwin":
		return fromMac(ctx)
	case runtime.GOOS == "windows":
		return fromWindows(ctx, "powershell")
	case getenv("WAYLAND_DISPLAY") != "" && has("wl-paste"):
		return fromUnix(ctx, []string{"wl-paste", "--list-types"}, "wl-paste", "--no-newline", "--type")
	case getenv("DISPLAY") != "" && has("xclip"):
		return fromUnix(ctx, []string{"xclip", "-selection", "clipboard", "-out", "-target", "TARGETS"}, "xclip", "-selection", "clipboard", "-out", "-target")
	case has("powershell.exe"): // the subsystem for Linux
		return fromWindows(ctx, "powershell.exe")
	case getenv("WAYLAND_DISPLAY") != "":
		return Part{}, errors.New("cannot read the clipboard: wl-paste is not installed; install wl-clipboard")
	case getenv("DISPLAY") != "":
		return Part{}, errors.New("cannot read the clipboard: xclip is not installed; install xclip")
	}
	return Part{}, errors.New("cannot read the clipboard: this machine has no display; paste with the terminal, or mention a file with @")
}

// output runs a program and returns what it writes, within the bounds.
func output(ctx context.Context, args ...string) ([]byte, error) {
	var out bounded
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay, cmd.Stdout = time.Second, &out
	err := cmd.Run()
	exit := new(exec.ExitError)
	switch {
	case out.full:
		return nil, fmt.Errorf("cannot paste more than %d MB; mention a file with @", clipboardBytes>>20)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("cannot read the clipboard: %s timed out after %s", args[0], clipboardTime)
	case err != nil && !errors.As(err, &exit):
		return nil, fmt.Errorf("cannot read the clipboard: %w", err)
	}
	return out.Bytes(), err
}

// bounded keeps what fits the bound of the clipboard.
type bounded struct {
	bytes.Buffer
	full bool
}

func (b *bounded) Write(data []byte) (int, error) {
	if b.full = b.full || b.Len()+len(data) > clipboardBytes; b.full {
		return 0, io.ErrShortWrite // ends the program, which writes into a closed pipe
	}
	return b.Buffer.Write(data)
}

// clipboardTypes are the types that a paste takes, the best first: images that models take, and text.
var clipboardTypes = []string{
	"image/png", "image/jpeg", "image/webp", "image/gif",
	"text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING",
}

const images = 4 // the first of them

// fromUnix lists the types on the clipboard, and reads the best one.
func fromUnix(ctx context.Context, list []string, get ...string) (Part, error) {
	types, err := output(ctx, list...)
	if err != nil {
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return Part{}, errClipboardEmpty
		}
		return Part{}, err
	}
	offered := strings.Fields(string(types))
	for i, kind := range clipboardTypes {
		if !slices.Contains(offered, kind) {
			continue
		}
		data, err := output(ctx, append(get, kind)...)
		if i < images {
			return imagePart(data, err)
		}
		return textPart(data, err)
	}
	return Part{}, errClipboardEmpty
}

func fromMac(ctx context.Context) (Part, error) {
	out, err := output(ctx, "osascript", "-e", "the clipboard as «class PNGf»")
	if err == nil {
		text := strings.TrimSuffix(strings.TrimSpace(string(out)), "»")
		if _, digits, ok := strings.Cut(text, "PNGf"); ok {
			data, err := hex.DecodeString(digits)
			return imagePart(data, err)
		}
	}
	text, err := output(ctx, "pbpaste")
	return textPart(text, err)
}

// The script writes an image in base64 after "image:", or the text after "text:".
const windowsScript = `[Console]::OutputEncoding=[Text.Encoding]::UTF8;Add-Type -AssemblyName System.Windows.Forms;` +
	`$i=[Windows.Forms.Clipboard]::GetImage();if($i){$m=New-Object IO.MemoryStream;$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);` +
	`[Console]::Write('image:'+[Convert]::ToBase64String($m.ToArray()))}else{[Console]::Write('text:'+[Windows.Forms.Clipboard]::GetText())}`

func fromWindows(ctx context.Context, shell string) (Part, error) {
	out, err := output(ctx, shell, "-NoProfile", "-NonInteractive", "-STA", "-Command", windowsScript)
	if err != nil {
		return Part{}, err
	}
	if encoded, ok := bytes.CutPrefix(out, []byte("image:")); ok {
		data, err := base64.StdEncoding.DecodeString(string(encoded))
		return imagePart(data, err)
	}
	return textPart(bytes.TrimPrefix(out, []byte("text:")), nil)
}

func imagePart(data []byte, err error) (Part, error) {
	kind := http.DetectContentType(data)
	if err == nil && !strings.HasPrefix(kind, "image/") {
		err = errClipboardEmpty
	}
	return Part{Kind: Image, MediaType: kind, Data: data}, err
}

func textPart(text []byte, err error) (Part, error) {
	if err == nil && len(text) == 0 {
		err = errClipboardEmpty
	}
	return Part{Kind: Paste, Text: string(text)}, err
}

// attach returns what dropped files become: chips for images, mentions for other files and for directories. ok is false if one of them
// does not exist.
func attach(dir string, paths []string) (parts []Part, ok bool) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, false
		}
		shown := path
		if rel, err := filepath.Rel(dir, path); dir != "" && err == nil && filepath.IsLocal(rel) {
			shown = filepath.ToSlash(rel)
		}
		switch {
		case info.IsDir():
			parts = append(parts, Part{Kind: File, Path: strings.TrimSuffix(shown, "/") + "/"})
		case info.Mode().IsRegular() && info.Size() <= clipboardBytes && isImage(path):
			data, err := os.ReadFile(path)
			if part, err := imagePart(data, err); err == nil {
				part.Path = path
				parts = append(parts, part)
				continue
			}
			fallthrough
		default:
			parts = append(parts, Part{Kind: File, Path: shown})
		}
	}
	return parts, true
}

func isImage(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".webp", ".gif":
		return true
	}
	return false
}
