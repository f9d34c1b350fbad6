package epochs_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/queueing"
)

// document holds tables that are computed here, each between two comments. With
// -update they are written anew.
const document = "../../../docs/evidence/replay-accuracy.md"

var update = flag.Bool("update", false, "write the tables of "+document+" anew")

func TestTheDocumentShowsWhatIsComputed(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for _, generated := range []struct {
		name  string
		table func(testing.TB) string
	}{{"measured", againstMeasurements}, {"fig4", fig4}, {"improvements", improvements}} {
		begin, end := "<!-- begin "+generated.name+" -->\n", "<!-- end "+generated.name+" -->\n"
		before, rest, found := strings.Cut(text, begin)
		was, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s: there is no %q before %q", document, begin, end)
		}
		is := generated.table(t)
		if diff := cmp.Diff(is, was); diff != "" && !*update {
			t.Errorf("%s, table %s: (-computed +there)\n%s\nrun the test with -update", document, generated.name, diff)
		}
		text = before + begin + is + end + after
	}
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// table returns rows as a Markdown table; the first row is the header.
func table(rows [][]string) string {
	var b strings.Builder
	for r, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if r == 0 {
			fmt.Fprintf(&b, "|---%s|\n", strings.Repeat("|---:", len(row)-1))
		}
	}
	return b.String()
}

// againstMeasurements returns the table of the paper's experiments: the measurements, and the
// results of both modes.
func againstMeasurements(t testing.TB) string {
	t.Helper()
	rows := [][]string{{"experiment, job", "measured", "paper mode", "error", "exact", "error"}}
	modes := []queueing.Options{paperMode, {Solver: queueing.Exact}}
	sum, worst := make([]float64, len(modes)), make([]float64, len(modes))
	n := 0.0
	for _, s := range scenarios(t) {
		var executions []map[string]float64
		for _, mode := range modes {
			executions = append(executions, s.executions(t, mode))
		}
		for _, j := range s.jobs {
			row := []string{fmt.Sprintf("Table %s, %s", j.table, j.Name), fmt.Sprintf("%.1f s", j.measured)}
			for m, execution := range executions {
				deviation := execution[j.Name]/j.measured - 1
				sum[m] += math.Abs(deviation)
				worst[m] = max(worst[m], math.Abs(deviation))
				row = append(row, fmt.Sprintf("%.1f s", execution[j.Name]), fmt.Sprintf("%+.1f %%", 100*deviation))
			}
			rows = append(rows, row)
			n++
		}
	}
	mean, most := []string{"**mean of the errors' sizes**", ""}, []string{"**largest**", ""}
	for m := range modes {
		mean = append(mean, "", fmt.Sprintf("%.1f %%", 100*sum[m]/n))
		most = append(most, "", fmt.Sprintf("%.1f %%", 100*worst[m]))
	}
	return table(append(rows, mean, most))
}
