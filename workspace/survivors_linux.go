package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// awaitSurvivors waits for the end of what the commands of a dead process have started, by the token of their marks: the system or
// the guard kills them. The note says that some go on.
func awaitSurvivors(ctx context.Context, token string) (note string) {
	const most, pause = 3 * time.Second, 5 * time.Millisecond
	f := family{mark: []byte(markName + "=" + token + ".")}
	if token == "" {
		return ""
	}
	buf := make([]byte, 64<<10)
	for until := time.Now().Add(most); ; {
		var alive []string
		names, _ := filepath.Glob("/proc/[0-9]*") // fails for a wrong pattern only
		for _, name := range names {
			if _, lives := look(name, buf); lives && name != fmt.Sprintf("/proc/%d", os.Getpid()) && f.carries(name, buf) {
				alive = append(alive, filepath.Base(name))
			}
		}
		if len(alive) == 0 {
			return ""
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return fmt.Sprintf("Processes that it started still run (%s): their changes from now on are not known.", strings.Join(alive, ", "))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}
