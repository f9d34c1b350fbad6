package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// threePolicies is the answer of a replay of three policies with two seeds.
func threePolicies() *replays.Answer {
	run := func(policy string, seed uint64) *replays.Result {
		r := &replays.Result{Policy: policy, Seed: seed, Jobs: 10, MakespanSeconds: 100 * float64(seed), Dilation: replays.Summary{Mean: 1.5, Max: 2}}
		for i := range 101 {
			r.DilationQuantiles = append(r.DilationQuantiles, 1+float64(i)/100)
		}
		return r
	}
	policy := func(name string, response float64) replays.Policy {
		return replays.Policy{
			Policy: name, Jobs: 20, MakespanSeconds: replays.SeedMean{Mean: 533_520},
			Response: replays.Summary{Mean: response}, Execution: replays.Summary{Mean: response, P50: 40, P95: 180.3, P99: 700},
			Dilation:    replays.Summary{Mean: 1.61, P95: 2, P99: 3, Max: 4},
			Utilization: []replays.ResourceUtilization{{Resource: "cpu", Mean: 0.0004, Busiest: 0.5}},
			Runs:        []*replays.Result{run(name, 1), run(name, 2)},
		}
	}
	a := &replays.Answer{Name: "week", Runs: 6, Done: 6, Best: "lrt", Policies: []replays.Policy{policy("random", 41.2), policy("lmuf", 42), policy("lrt", 33.9)}}
	a.Policies[1].Improvement = &replays.SeedMean{Mean: -0.02, Low: new(-0.05), High: new(0.01)}
	a.Policies[2].Improvement = &replays.SeedMean{Mean: 0.177, Low: new(0.133), High: new(0.221)}
	a.Policies[2].Waited, a.Policies[2].Wait = 3, replays.Summary{Mean: 0.25, P99: 2}
	a.Policies[1].SLAAttained = new(0.9999)
	return a
}

func printed(t *testing.T, table *text.Table) string {
	t.Helper()
	var b bytes.Buffer
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheReplayTableShowsWhatThereIs(t *testing.T) {
	t.Parallel()
	const want = `POLICY   MAKESPAN    MEAN     P50      P95       P99   DILATION   WAITED     CPU   SLA MET          SAVED
random   6d 04:12   41.2s   40.0s   180.3s   11m 40s      1.61×        -   0.04%         -              -
lmuf     6d 04:12   42.0s   40.0s   180.3s   11m 40s      1.61×        -   0.04%    99.99%   -2.0% ± 3.0%
lrt      6d 04:12   33.9s   40.0s   180.3s   11m 40s      1.61×    250ms   0.04%         -   17.7% ± 4.4%   best
`
	if diff := cmp.Diff(want, printed(t, ReplayTable(threePolicies(), false))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A table of two resources, an SLA and intervals still fits a terminal.
func TestTheReplayTableIsNotTooWide(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	a.Policies[0].Policy = "target-load-packing"
	a.Policies[0].Utilization = append(a.Policies[0].Utilization, replays.ResourceUtilization{Resource: "disk", Mean: 1})
	a.Policies[0].Execution = replays.Summary{Mean: 533_520, P50: 533_520, P95: 533_520, P99: 533_520}
	for line := range strings.Lines(printed(t, ReplayTable(a, false))) {
		if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 150 {
			t.Errorf("%d wide: %s", width, line)
		}
	}
}

func TestAPartialAnswerIsMarked(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	a.Partial, a.Best, a.Done, a.Policies[1].Partial = true, "", 5, true
	if table := printed(t, ReplayTable(a, false)); !strings.Contains(table, "lmuf (partial)") || strings.Contains(table, "best") {
		t.Errorf("the table is\n%s", table)
	}
	const want = "No policy is the best: some runs were ended before their time. The answer is partial: it is of the jobs that were done in 5 of 6 runs."
	if got := ReplaySummary(a); got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
}

func TestNoPolicyIsMarkedAsTheBestIfAllAreAsGood(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	a.Best = "random"
	for i := range a.Policies {
		a.Policies[i].Response.Mean = 41.2
	}
	if table := printed(t, ReplayTable(a, true)); strings.Contains(table, "best") {
		t.Errorf("the table is\n%s", table)
	}
}

func TestTheReplaySummaryIsTheAnswer(t *testing.T) {
	t.Parallel()
	const want = "With lrt a job takes 33.9s on average, of which it waits 250ms at the scheduler; it runs 1.61× as long as alone. That is 17.7% ± 4.4% less than with random."
	if got := ReplaySummary(threePolicies()); got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
	if got := ReplaySummary(&replays.Answer{Runs: 4, Partial: true}); got != "No job was done. The answer is partial: it is of the jobs that were done in 0 of 4 runs." {
		t.Errorf("of nothing it is %q", got)
	}
}

func TestReplayNotesSayOnceWhatAllPoliciesLeftOut(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	a.Policies[0].Runs[0].Skipped, a.Policies[0].Runs[0].FirstSkip = 1, "line 7: job x was never scheduled"
	a.Policies[2].Dropped, a.Policies[2].FirstDrop = 1, "job y: policy lrt does not take it"
	want := []string{
		"With lrt 1 job was dropped. The first: job y: policy lrt does not take it.",
		"1 job of the trace was left out. The first: line 7: job x was never scheduled.",
	}
	if diff := cmp.Diff(want, ReplayNotes(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range a.Policies {
		a.Policies[i].Dropped, a.Policies[i].FirstDrop = 1200, "job y: no node has a gpu"
	}
	want[0] = "With every policy 1,200 jobs were dropped. The first: job y: no node has a gpu."
	if diff := cmp.Diff(want, ReplayNotes(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplayNotesSayWhatIsAssumed(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	a.DemandsAssumed = true
	if diff := cmp.Diff([]string{"The trace says what jobs request; how they spend their time is assumed from that."}, ReplayNotes(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplayNotesSayHowCoresAreShared(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	a.CPUShares = "equal"
	if notes := ReplayNotes(a); len(notes) != 0 {
		t.Errorf("notes %q on jobs that request the same", notes)
	}
	a.Policies[1].Runs[0].UnequalRequests = true
	want := []string{
		"Jobs request different amounts of cpu, but share cores equally here; Kubernetes shares them by requests: set cpuShares (--cpu-shares) to requests.",
	}
	if diff := cmp.Diff(want, ReplayNotes(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.CPUShares = "requests"
	if diff := cmp.Diff([]string{"Jobs share cores by what they request of the cpu."}, ReplayNotes(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChartsOfAReplayShowItsRuns(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	for name, test := range map[string]struct {
		chart chart.Chart
		want  []string
	}{
		"makespans":    {ReplayMakespans(a), []string{"Makespan of each stream of jobs", "makespan (s)", "stream (seed)", "lmuf", "150.0s"}},
		"dilations":    {ReplayDilations(a), []string{"How much longer jobs run than alone (seed 1)", "dilation (×)", "1.50×"}},
		"improvements": {ReplayImprovements(a), []string{"Mean response time saved", "as random", "+17.7% (+13.3 to +22.1)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var svg bytes.Buffer
			if err := chart.Encode(&svg, test.chart, chart.SVG); err != nil {
				t.Fatal(err)
			}
			for _, text := range test.want {
				if !strings.Contains(svg.String(), text) {
					t.Errorf("there is no %q", text)
				}
			}
		})
	}
}

func TestOfManySeedsTheFirstAreShown(t *testing.T) {
	t.Parallel()
	a := threePolicies()
	for i := range a.Policies {
		for seed := uint64(3); seed <= 300; seed++ {
			a.Policies[i].Runs = append(a.Policies[i].Runs, &replays.Result{Policy: a.Policies[i].Policy, Seed: seed, Jobs: 1, MakespanSeconds: 1})
		}
	}
	var svg bytes.Buffer
	if err := chart.Encode(&svg, ReplayMakespans(a), chart.SVG); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(svg.String(), "Makespan of each of the first 50 streams of jobs") {
		t.Error("the title does not say that these are not all")
	}
}

// An answer with few values, or none, has a page all the same.
func TestAnyReplayHasAPage(t *testing.T) {
	t.Parallel()
	nothingDone := threePolicies()
	for i := range nothingDone.Policies {
		nothingDone.Policies[i] = replays.Policy{Policy: nothingDone.Policies[i].Policy, Dropped: 7, FirstDrop: "job a: why", Runs: []*replays.Result{{}}}
	}
	withoutRuns := threePolicies()
	for i := range withoutRuns.Policies {
		withoutRuns.Policies[i].Runs = nil
	}
	single := threePolicies()
	single.Runs, single.Policies = 1, single.Policies[:1]
	for name, test := range map[string]struct {
		answer *replays.Answer
		charts int
	}{
		"whole":        {threePolicies(), 3},
		"one run":      {single, 1},
		"no job done":  {nothingDone, 0},
		"without runs": {withoutRuns, 1},
		"no policy":    {&replays.Answer{Runs: 4, Partial: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var written bytes.Buffer
			if err := page.Encode(&written, ReplayPage(test.answer, "made by a test")); err != nil {
				t.Fatal(err)
			}
			if charts := strings.Count(written.String(), "<svg"); charts != test.charts {
				t.Errorf("%d charts, want %d", charts, test.charts)
			}
		})
	}
}
