package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"testing"
)

// Every type that is a body has a row of its own: a row that is forgotten fails here.
func TestEveryBodyHasARow(t *testing.T) {
	marked := markedBodies(t)
	if len(marked) < 40 || !marked["Message"] {
		t.Fatalf("found only %d bodies: %v", len(marked), marked)
	}
	delete(marked, "Opaque") // of unknown kinds
	for name, k := range kinds {
		if k.name != name || !marked[k.of.Name()] {
			t.Errorf("row %q is of %v, which is no body of its own", name, k.of)
		}
		delete(marked, k.of.Name())
	}
	for name := range marked {
		t.Errorf("%s has no row in kinds, or shares its name with another type", name)
	}
}

// markedBodies are the types of this package and of live with a method Place.
func markedBodies(t *testing.T) map[string]bool {
	t.Helper()
	marked := map[string]bool{}
	for _, pattern := range []string{"*.go", "live/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Place" {
					marked[f.Recv.List[0].Type.(*ast.Ident).Name] = true
				}
			}
		}
	}
	return marked
}

func TestKindsDecodeWhatTheyEncode(t *testing.T) {
	for name, k := range kinds {
		zero := reflect.Zero(k.of).Interface().(Body)
		if name == (CallStarted{}).Kind() {
			zero = CallStarted{Arguments: []byte(`{}`)}
		}
		kind, data, err := EncodeBody(zero)
		if err != nil || kind != name {
			t.Errorf("%s encodes as %q: %v", name, kind, err)
			continue
		}
		if got, err := DecodeBody(kind, data); err != nil || reflect.TypeOf(got) != k.of {
			t.Errorf("%s %s decodes as %T: %v", kind, data, got, err)
		}
	}
}
