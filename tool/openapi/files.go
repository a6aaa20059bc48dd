package openapi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
)

// filesKey is the member of a document with the other files to which it refers.
const filesKey = "x-tenon-files"

// maxFiles is how many other files a document may have.
const maxFiles = 500

var errPlace = errors.New("it refers to another place; Tenon reads only .json, .yaml and .yml files in the directory of a document on this machine, and none whose path has a part that begins with a dot")

// include adds the files to which references lead, and makes these references local. A reference that it cannot follow stays, with its error.
func (d *document) include(files fs.FS, main string) {
	if files == nil {
		return
	}
	included, left := object{}, MaxDocument
	d.root[filesKey], d.elsewhere = included, map[string]error{}
	queue := []string{main}
	load := func(name string) error {
		if name == main || included[name] != nil {
			return nil
		}
		hidden := slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
		if !fs.ValidPath(name) || hidden || !slices.Contains([]string{".json", ".yaml", ".yml"}, path.Ext(name)) {
			return errPlace
		}
		if len(included) == maxFiles {
			return fmt.Errorf("the document has more than %d files", maxFiles)
		}
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, int64(left)+1))
		if err != nil {
			return err
		}
		if left -= len(data); left < 0 {
			return fmt.Errorf("the files of the document are larger than %d MiB", MaxDocument>>20)
		}
		tree, err := tree(data)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", name, err)
		}
		included[name] = tree
		queue = append(queue, name)
		return nil
	}
	var walk func(v any, file string)
	walk = func(v any, file string) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one, file)
			}
		case object:
			for key, one := range v {
				ref, ok := one.(string)
				if key == "$ref" && ok && !strings.HasPrefix(ref, "#/"+filesKey) {
					v[key] = d.local(ref, file, main, load)
				} else if key != filesKey {
					walk(one, file)
				}
			}
		}
	}
	for len(queue) > 0 {
		name := queue[0]
		if queue = queue[1:]; name == main {
			walk(d.root, name)
		} else {
			walk(included[name], name)
		}
	}
}

// local returns a reference of a file as one within the document.
func (d *document) local(ref, file, main string, load func(name string) error) string {
	place, fragment, _ := strings.Cut(ref, "#")
	name := file
	if place != "" {
		plain, err := url.PathUnescape(place)
		if err != nil || strings.Contains(place, ":") || strings.HasPrefix(place, "/") || strings.ContainsAny(plain, "\\?") {
			d.elsewhere[ref] = errPlace
			return ref
		}
		name = path.Join(path.Dir(file), plain)
	}
	if err := load(name); err != nil {
		d.elsewhere[ref] = err
		return ref
	}
	if name == main {
		return "#" + fragment
	}
	return "#/" + filesKey + "/" + strings.NewReplacer("%", "%25", "~", "~0", "/", "~1").Replace(name) + fragment
}
