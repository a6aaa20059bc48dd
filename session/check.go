package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/tenon-agent/tenon/session/internal/place"
)

// Check returns an error if a log cannot append bodies. A body must be a value of a type in the table of kinds that is not
// transient. An [Opaque] needs a kind that is unknown, and JSON. A [Deleted] comes alone. If annotation is set, no body may be on
// a branch. Logs call Check before they write.
func Check(annotation bool, bodies ...Body) error {
	for _, b := range bodies {
		if b == nil {
			return errors.New("session: cannot append a nil body")
		}
		if o, ok := b.(Opaque); ok {
			if _, known := kinds[o.Name]; known || o.Name == "" || !json.Valid(o.JSON) {
				return fmt.Errorf("session: cannot append an opaque body of kind %q: the kind must be unknown and the body JSON", o.Name)
			}
		} else if k, known := kinds[b.Kind()]; !known || k.of != reflect.TypeOf(b) {
			return fmt.Errorf("session: cannot append a %T: its kind %q is not in the table of kinds", b, b.Kind())
		}
		_, deleted := b.(Deleted)
		switch {
		case b.Place() == place.Transient:
			return fmt.Errorf("session: cannot append %s: it is a transient event", b.Kind())
		case deleted && len(bodies) > 1:
			return errors.New("session: cannot append deleted together with other entries")
		case annotation && b.Place() == place.Branch:
			return fmt.Errorf("session: cannot annotate with %s: it belongs on a branch; append it with a Writer", b.Kind())
		}
	}
	return nil
}
