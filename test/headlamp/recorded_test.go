package headlamp

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/text"
)

const (
	root     = "../.."
	recorded = root + "/ui/headlamp/src/testdata"
)

var update = flag.Bool("update", false, "record the answers that the tests of the plugin read anew")

// The tests of the plugin compare what it shows of who.json with who.txt and plan.txt, which the terminal shows of the same cluster.
func TestTheAnswersThatThePluginIsTestedWithAreUpToDate(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string][]string{
		"who.json": {"who", "-o", "json"},
		"who.txt":  {"who"},
		"plan.txt": {"plan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare(t, name, answer(t, arguments...))
		})
	}
}

// numbers are written in texts.json as the terminal writes them; some are exactly between two texts.
var numbers = []float64{0, 0.00005, 0.0004, 0.005, 0.05, 0.125, 0.375, 0.5, 0.9994, 0.9999, 0.9999999, 1, 1.005, 1.015, 1.18, 2.675, 6.739819835013437, 1234.5, 1234567.125}

func TestTheNumbersThatThePluginIsTestedWithAreUpToDate(t *testing.T) {
	t.Parallel()
	type written struct {
		Number  float64 `json:"number"`
		Times   string  `json:"times"`
		Added   string  `json:"added"`
		Percent string  `json:"percent"`
		Within  string  `json:"within"`
	}
	all := make([]written, len(numbers))
	for i, x := range numbers {
		all[i] = written{Number: x, Times: text.Times(x), Added: text.Added(x), Percent: text.Percent(x), Within: text.TimesWithin(x, &x)}
	}
	got, err := text.JSON(all)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "texts.json", got)
}

// answer returns what a verb prints of the example cluster.
func answer(t *testing.T, arguments ...string) []byte {
	t.Helper()
	const example = root + "/docs/examples/who"
	var out, errors bytes.Buffer
	arguments = append(arguments, "-f", example+"/cluster.yaml", "--usage", example+"/usage.json")
	if code := cli.Run(t.Context(), "test", arguments, cli.Streams{In: &bytes.Buffer{}, Out: &out, Err: &errors}); code != 0 {
		t.Fatalf("%q exits with %d: %s", arguments, code, errors.String())
	}
	return out.Bytes()
}

// compare compares an answer with the recorded one, or records it.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join(recorded, name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read(t, name, want), read(t, name, got), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("%s differs (-recorded +now):\n%s\nrun the test with -update", path, diff)
	}
}

// read returns the value of a JSON answer, whose numbers may end differently where sums are rounded in another order, or else its text.
func read(t *testing.T, name string, answer []byte) any {
	t.Helper()
	if filepath.Ext(name) != ".json" {
		return string(answer)
	}
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}
