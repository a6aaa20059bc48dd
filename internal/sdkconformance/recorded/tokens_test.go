package recorded

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/window/tokens"
)

// mostWrong is how far an estimate may be off.
const mostWrong = 0.10

// guess is what was estimated for a request: by what is known of the model alone, and from the answer before.
type guess struct {
	reported, plain, calibrated int
	first                       bool // nothing came before
}

func (g guess) wrong(estimate int) float64 {
	return math.Abs(float64(estimate)/float64(g.reported) - 1)
}

// Once the first answer of a conversation has come, the size of every further request is known to a tenth.
func TestEstimatesAgainstRecordings(t *testing.T) {
	dir := os.Getenv("TENON_RECORDED")
	if dir == "" {
		t.Skip("the recordings are not part of the repository: TENON_RECORDED=DIR go test ./recorded")
	}
	found := map[string][]guess{}
	for _, file := range cassettes(t, dir) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var tape cassette
		if err := yaml.Unmarshal(data, &tape); err != nil {
			t.Fatal(err)
		}
		name, guesses := estimate(t, &tape)
		found[name] = append(found[name], guesses...)
		for n, g := range guesses {
			if !g.first && g.wrong(g.calibrated) > mostWrong {
				t.Errorf("%s: request %d has %d tokens, estimated were %d", strings.TrimPrefix(file, dir), n, g.reported, g.calibrated)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		later := slices.DeleteFunc(slices.Clone(found[name]), func(g guess) bool { return g.first })
		t.Logf("%-32s %3d requests, uncalibrated: %s; %3d later ones, uncalibrated: %s, calibrated: %s", name,
			len(found[name]), spread(found[name], plain), len(later), spread(later, plain), spread(later, calibrated))
	}
}

func plain(g guess) int      { return g.plain }
func calibrated(g guess) int { return g.calibrated }

// spread returns the median and the largest error.
func spread(guesses []guess, estimate func(guess) int) string {
	if len(guesses) == 0 {
		return "none"
	}
	var wrong []float64
	for _, g := range guesses {
		wrong = append(wrong, 100*g.wrong(estimate(g)))
	}
	slices.Sort(wrong)
	return fmt.Sprintf("median %.1f %% worst %.1f %%", wrong[len(wrong)/2], wrong[len(wrong)-1])
}

// estimate goes through a conversation as a window would. It returns the model's name with the server's.
func estimate(t *testing.T, tape *cassette) (string, []guess) {
	var name string
	var scale tokens.Scale
	var guesses []guess
	var before *llm.Request
	var usage llm.Usage // of the answer before
	for n := range tape.Interactions {
		i := &tape.Interactions[n]
		d := dialectOf(t, i.Request.URL)
		m := modelOf(t, d, i)
		if before == nil {
			name, scale = d.name+" "+m.ID, tokens.Start(m)
		}
		req := d.request(t, m, []byte(i.Request.Body))
		local := scale.Family().Request(req)
		g := guess{plain: tokens.Start(m).Tokens(local), calibrated: scale.Tokens(local), first: before == nil}
		if before != nil {
			added := req.Messages[len(before.Messages):]
			answer := added[0]
			if answer.Role != llm.RoleAssistant {
				t.Fatalf("request %d does not go on from the answer before", n)
			}
			answer.Usage = usage
			g.calibrated = scale.After(answer, added[1:]...)
			if d.name == "gemini" && !streamed(i) { // the same server counts the reasoning that goes back only where it streams
				g.calibrated -= int(usage.Reasoning)
			}
		}
		usage = d.answer(t, i).Usage
		g.reported = int(usage.Prompt())
		scale = scale.Learn(local, g.reported)
		before = req
		guesses = append(guesses, g)
	}
	return name, guesses
}
