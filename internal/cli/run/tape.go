package run

import (
	"fmt"
	"os"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/recording"
)

// tape opens the files of --record and --replay. closed reports whether the recording is complete.
func (j *job) tape() (closed func(), err error) {
	closed = func() {}
	if name := j.options.replay; name != "" {
		f, err := os.Open(name)
		if err != nil {
			return closed, fmt.Errorf("cannot replay: %w", err)
		}
		defer f.Close()
		if j.replay, err = recording.Replay(f); err != nil {
			return closed, fmt.Errorf("cannot replay %s: %w", name, err)
		}
	}
	name := j.options.record
	if name == "" {
		return closed, nil
	}
	// Only the owner may read the file: it has the whole conversation.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return closed, command.Usagef(j.command, "--record: %s exists already", name)
	}
	if err != nil {
		return closed, fmt.Errorf("cannot record: %w", err)
	}
	var recorder *recording.Recorder
	j.record = func(c llm.Client) llm.Client {
		recorder = recording.Record(c, f)
		return recorder
	}
	return func() {
		var err error
		if recorder != nil {
			err = recorder.Err()
		}
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			j.note(fmt.Sprintf("! %s is not complete: %v", name, err))
		}
	}, nil
}
