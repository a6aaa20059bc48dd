package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the length of a name that every provider accepts.
const maxName = 64

// validName reports whether a text can be the name of an API.
func validName(s string) bool {
	return s != "" && len(s) <= 24 && plain(s) == s && s[0] != '_' && s[0] != '-' && !strings.Contains(s, "__") && s[len(s)-1] != '_'
}

// plain replaces each run of characters that names of tools cannot have by an underscore.
func plain(s string) string {
	var b strings.Builder
	gap := false
	for i := range len(s) {
		c := s[i]
		if 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-' {
			b.WriteByte(c)
			gap = false
		} else if !gap {
			b.WriteByte('_')
			gap = true
		}
	}
	return b.String()
}

// nameAll gives each tool its name. If several operations have one, also in another case, the first keeps it, and the others get a suffix that
// does not change with the rest of the document.
func (a *API) nameAll() {
	taken := map[string]bool{}
	for _, o := range a.operations {
		own := strings.Trim(plain(o.id), "_-")
		if own == "" {
			own = strings.Trim(plain(strings.ToLower(o.method)+" "+o.path), "_-")
		}
		prefix := "openapi__" + a.o.Name + "__"
		name := prefix + own
		if len(name) > maxName || taken[strings.ToLower(name)] {
			sum := sha256.Sum256([]byte(o.method + " " + o.path))
			end := "_" + hex.EncodeToString(sum[:4])
			name = prefix + own[:min(len(own), maxName-len(prefix)-len(end))] + end
		}
		taken[strings.ToLower(name)] = true
		o.spec.Name = name
	}
}

// fieldName returns the name of an argument, which every provider accepts as the name of a property and which is not taken.
func fieldName(name, in string, taken map[string]bool) string {
	clean := strings.Trim(plain(name), "_")
	if clean == "" {
		clean = in
	}
	clean = clean[:min(len(clean), 48)]
	if taken[clean] {
		clean = in + "_" + clean
	}
	for taken[clean] {
		clean += "_"
	}
	taken[clean] = true
	return clean
}

// fits reports whether providers accept the name of a property as it is.
func fits(name string) bool {
	return name != "" && len(name) <= maxName && plain(strings.ReplaceAll(name, ".", "_")) == strings.ReplaceAll(name, ".", "_")
}
