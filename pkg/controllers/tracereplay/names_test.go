package tracereplay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

func TestNamesOfWhatIsMadeAreDNSLabelsOfOneReplayOnly(t *testing.T) {
	t.Parallel()
	names := rapid.StringMatching(`[a-z0-9]([-a-z0-9.]{0,80}[a-z0-9])?`).Filter(func(s string) bool {
		return len(validation.IsDNS1123Subdomain(s)) == 0
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := names.Draw(t, "a"), names.Draw(t, "b")
		for _, name := range []string{questionName(a), reportName(a), resultsName(a, shards-1), fmt.Sprintf("%s-%d", jobName(a, maxRounds), 999), stem(a)} {
			if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
				t.Errorf("%q: %v", name, errs)
			}
		}
		if a != b && stem(a) == stem(b) {
			t.Errorf("%q and %q share %q", a, b, stem(a))
		}
	})
}

func TestShortNamesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	if got := reportName("last-week"); got != "last-week-report" {
		t.Errorf("the report is called %s", got)
	}
	if got := reportName("last.week"); got == "last-week-report" || !strings.HasPrefix(got, "last-week-") {
		t.Errorf("the report of a name with a dot is called %s", got)
	}
}

func TestIndexesAreReadAsTheJobControllerWritesThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{"": nil, "0": {0}, "0,3-5,7": {0, 3, 4, 5, 7}, "10-11": {10, 11}} {
		got, err := parseIndexes(text, 12)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"x", "1-", "-", "1,,2", "1-x"} {
		if got, err := parseIndexes(text, 12); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q gives %v and %v, want an error that names it", text, got, err)
		}
	}
}

func TestRunsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.IntRange(0, 999), 1, 20).Draw(t, "runs")
		got, err := parseRuns(formatRuns(runs), 1000)
		if diff := cmp.Diff(runs, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	if _, err := parseRuns("1\nx\n", 1000); err == nil {
		t.Error("what is no number is a run")
	}
}
