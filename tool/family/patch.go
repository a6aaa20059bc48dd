package family

import (
	"errors"
	"path"
	"strings"
)

const patchBegin = "*** Begin Patch"

// The forms of a command line that applies a patch.
var (
	starred    = pattern(`(?m)^(\*\*\* (?:Begin Patch|End Patch|End of File|(?:Add File|Update File|Delete File|Move to): .*?\S))[ \t]*\*\*\*[ \t\r]*$`)
	patchFile  = pattern(`(?m)^(\*\*\* (?:Add File|Update File|Delete File|Move to): )(.*)$`)
	inShell    = pattern(`(?s)^\s*(?:bash|sh)\s+-l?c\s+'(.*)'\s*$`)
	goesTo     = pattern(`^\s*cd\s+("[^"$` + "`" + `\\]*"|'[^']*'|[^\s;&|"'$` + "`" + `\\]+)\s*(?:&&|;|\n)\s*`)
	hereDoc    = pattern(`(?s)^\s*(?:apply_patch|applypatch)\s*<<(-?)\s*(?:'(\w+)'|"(\w+)"|(\w+))[ \t]*\r?\n(.*)$`)
	piped      = pattern(`(?s)^\s*cat\s*<<(-?)\s*(?:'(\w+)'|"(\w+)"|(\w+))\s*\|\s*(?:apply_patch|applypatch)[ \t]*\r?\n(.*)$`)
	quotedCall = pattern(`(?s)^\s*(?:apply_patch|applypatch)\s+(?:'(\*\*\* Begin Patch.*)'|"(\*\*\* Begin Patch[^"$` + "`" + `\\]*)")\s*$`)
)

// errPatchCommand reports a command line that does more than to apply one patch.
var errPatchCommand = errors.New("apply_patch is a tool and no command; a command line can hold one patch and nothing else")

// straighten removes the stars that some models write after the markers of a patch.
func straighten(patch string) string { return starred().ReplaceAllString(patch, "$1") }

// patchIn returns the patch of a command line that does nothing but apply one, with paths relative to the workspace. dir is the directory of
// the command. The error is [errPatchCommand].
func patchIn(line, dir string) (patch string, found bool, _ error) {
	if !strings.Contains(line, "apply_patch") && !strings.Contains(line, "applypatch") {
		return "", false, nil
	}
	rest := line
	if m := inShell().FindStringSubmatch(rest); m != nil {
		rest = strings.ReplaceAll(m[1], `'\''`, "'")
	}
	if m := goesTo().FindStringSubmatch(rest); m != nil {
		rest, dir = rest[len(m[0]):], joined(dir, strings.Trim(m[1], `"'`))
	}
	body, ok := document(rest)
	if !ok {
		if strings.Contains(line, patchBegin) {
			return "", false, errPatchCommand
		}
		return "", false, nil
	}
	if dir != "" && dir != "." {
		body = patchFile().ReplaceAllStringFunc(body, func(marker string) string {
			m := patchFile().FindStringSubmatch(marker)
			return m[1] + joined(dir, strings.TrimSpace(m[2]))
		})
	}
	return body, true, nil
}

// document returns the patch that a call of apply_patch has as its here-document or argument.
func document(line string) (string, bool) {
	if m := quotedCall().FindStringSubmatch(line); m != nil {
		return strings.ReplaceAll(m[1], `'\''`, "'") + m[2], true
	}
	m := hereDoc().FindStringSubmatch(line)
	if m == nil {
		m = piped().FindStringSubmatch(line)
	}
	if m == nil {
		return "", false
	}
	end, rest := m[2]+m[3]+m[4], m[5]
	var body strings.Builder
	for one := range strings.Lines(m[5]) {
		rest = rest[len(one):]
		text := strings.TrimRight(one, "\r\n")
		if m[1] == "-" {
			text = strings.TrimLeft(text, "\t")
		}
		if text == end {
			return body.String(), strings.TrimSpace(rest) == ""
		}
		body.WriteString(text + "\n")
	}
	return body.String(), strings.HasPrefix(strings.TrimSpace(body.String()), patchBegin) // the end is missing
}

// joined returns a path from a directory.
func joined(dir, name string) string {
	if dir == "" || path.IsAbs(name) {
		return name
	}
	return path.Join(dir, name)
}
