package run

import "encoding/json"

// debug writes a value, or its error instead, as one line.
func (j *job) debug(name string, value any, err error) {
	data, failed := json.Marshal(value)
	switch {
	case err != nil:
		data = []byte(err.Error())
	case failed != nil:
		data = []byte(failed.Error())
	}
	j.note(name + " " + string(data))
}
