package inflation_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/inflation"
)

// A web server whose load rises and falls, beside clients, a process that computes and, in ten cases, one that thrashes the cache: see the README
// beside the recording. By a fixed piece of work the latter adds 0.06 to 0.19, and the one that computes 0.07 in one case.
func TestTheThrasherBesideARecordedServerIsNamed(t *testing.T) {
	t.Parallel()
	file, err := os.Open(filepath.Join("..", "..", "..", "test", "testdata", "worklab", "6.18-epyc.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name     string
		Thrashes bool
		Series   []inflation.Interval
	}
	if err := json.NewDecoder(text).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	const computes, thrasher = 1, 2
	thrashes, computed := 0, 0
	for _, c := range cases {
		e, err := inflation.Analyze(c.Series)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		var want [][]int
		if c.Thrashes {
			thrashes++
			want = [][]int{{thrasher}}
		}
		if diff := cmp.Diff(want, named(e)); cmp.Equal(named(e), [][]int{{computes}}) && !c.Thrashes {
			computed++
		} else if diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, diff)
		}
	}
	if len(cases) != 30 || thrashes != 10 || computed > 1 {
		t.Errorf("%d cases, of which %d with a thrasher; the one that computes is named in %d", len(cases), thrashes, computed)
	}
}
