package main

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/hack/experiments/program"
)

var near = cmpopts.EquateApprox(0, 1e-9) // rounding

// round is an account of rounds that take that long.
func round(seconds float64) *program.Account {
	return &program.Account{Rounds: 10, Round: seconds, Work: seconds / 2, WorkP95: seconds, Computed: 1, Seconds: 4}
}

// turn is a turn of a batch of two pods.
func turn(batch int, scheduler, nodes string, first, second float64) Turn {
	return Turn{
		Batch: batch, Scheduler: scheduler, Requests: []int{100, 200}, Nodes: strings.Fields(nodes),
		Accounts: []*program.Account{round(first), round(second)},
	}
}

// results are of a compressor and a web server, which take 1 s alone on each of two nodes, the server 2 s on worker-2.
func results(turns ...Turn) *Results {
	r := &Results{Programs: []Program{
		{"compressor-1", program.Spec{Kind: program.Compressor}}, {"web-1", program.Spec{Kind: program.Web}},
	}, Turns: turns}
	for i := range r.Programs {
		r.Alone = append(r.Alone, Alone{Program: i, Node: "worker-1", Account: round(1)}, Alone{Program: i, Node: "worker-2", Account: round(float64(1 + i))})
	}
	for _, t := range turns {
		for len(r.Batches) <= t.Batch {
			r.Batches = append(r.Batches, Batch{{Program: 0}, {Program: 1}})
		}
	}
	return r
}

func TestPodsAreComparedWithRunsAloneOnTheirNode(t *testing.T) {
	t.Parallel()
	r := results(turn(0, loadline, "worker-1 worker-2", 1.5, 3))
	r.Alone = append(r.Alone, Alone{Program: 0, Node: "worker-1", Account: round(1.5)}) // 1.25 on average
	if diff := cmp.Diff([]float64{1.2, 1.5}, r.dilations(&r.Turns[0], roundTime), near); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{1.2, 1.5}, r.dilations(&r.Turns[0], workTime), near); diff != "" {
		t.Error(diff)
	}
}

func TestPlacementsAreAlikeIfExchangedNodesMakeThemTheSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"x x y", "x x y", true},
		{"x x y", "y y x", true},
		{"x x y", "x y y", false},
		{"x x x", "x x y", false},
		{"x x x", "y y y", true},
		{"x", "x x", false},
	} {
		if got := alike(strings.Fields(test.a), strings.Fields(test.b)); got != test.want {
			t.Errorf("%q and %q: %v", test.a, test.b, got)
		}
	}
}

// Batch 0 is placed alike by kube-scheduler and Trimaran, whose two turns differ by 0.2. Batch 1 Loadline places worse than either.
func contested() *Results {
	const together, apart = "worker-1 worker-1", "worker-1 worker-2"
	return results(
		turn(0, kubeScheduler, together, 2, 2), turn(0, trimaran, together, 2.2, 2.2), turn(0, loadline, apart, 1, 2),
		turn(1, kubeScheduler, apart, 1, 2), turn(1, trimaran, apart, 1, 2), turn(1, loadline, together, 2, 1),
		turn(2, kubeScheduler, together, 1.05, 1.05), turn(2, trimaran, apart, 1, 2), turn(2, loadline, apart, 1, 2),
		turn(3, kubeScheduler, together, 9, 9),
	)
}

func TestWhatIsPlacedAlikeIsMeasuredTogether(t *testing.T) {
	t.Parallel()
	batches := contested().batches(roundTime)
	if len(batches) != 3 {
		t.Fatalf("%d batches, and all but one were placed by all", len(batches))
	}
	want := []map[string]float64{
		{kubeScheduler: 2.1, trimaran: 2.1, loadline: 1},
		{kubeScheduler: 1, trimaran: 1, loadline: 1.5},
		{kubeScheduler: 1.05, trimaran: 1, loadline: 1},
	}
	for i, row := range batches {
		got := map[string]float64{}
		for name, m := range row {
			got[name] = m.mean
		}
		if diff := cmp.Diff(want[i], got, near); diff != "" {
			t.Errorf("batch %d: %s", i, diff)
		}
	}
}

func TestNoiseIsHowTurnsOfTheSamePlacementDiffer(t *testing.T) {
	t.Parallel()
	// Three pairs, of which two do not differ: (0.1² + 0.1²)/3.
	deviation, freedom := contested().noise(roundTime)
	if want := math.Sqrt(0.02 / 3); math.Abs(deviation-want) > 1e-9 || freedom != 3 {
		t.Errorf("%v of %d, want %v of 3", deviation, freedom, want)
	}
	if deviation, freedom := results(turn(0, loadline, "worker-1 worker-2", 1, 2)).noise(roundTime); deviation != 0 || freedom != 0 {
		t.Errorf("%v of %d where nothing was repeated", deviation, freedom)
	}
}

func TestBatchesAreWonAndLostBeyondNoise(t *testing.T) {
	t.Parallel()
	r := contested()
	c := r.contest(kubeScheduler)
	// The bound is at most 3.18·0.082·√2 = 0.37, as three degrees of freedom have it.
	if got := [4]int{c.Won, c.Lost, c.Tied, c.Alike}; got != [4]int{1, 1, 1, 0} {
		t.Errorf("beside kube-scheduler: %v", got)
	}
	if diff := cmp.Diff((1.1-0.5+0.05)/3, c.Less.Mean, near); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff((1.1-0.5+0.05)/(1.1+0+0.05), c.Saved.Mean, near); diff != "" {
		t.Error(diff)
	}
	if c := r.contest(trimaran); c.Alike != 1 || c.Tied != 1 || c.Won != 1 || c.Lost != 1 {
		t.Errorf("beside Trimaran: %+v", c)
	}
}

func TestIntervalsHoldWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	// Student's t of two degrees of freedom is 4.3027 at 97.5 %.
	got := student([]float64{1, 2, 3})
	half := 4.302652729911275 / math.Sqrt(3)
	if diff := cmp.Diff(Interval{2, 2 - half, 2 + half}, got, near); diff != "" {
		t.Error(diff)
	}
	if got := student([]float64{2}); got.Mean != 2 || !math.IsNaN(got.Low) {
		t.Errorf("of one value: %v", got)
	}
	same := bootstrap(5, func(sample []int) float64 { return float64(len(sample)) })
	if diff := cmp.Diff(Interval{5, 5, 5}, same); diff != "" {
		t.Error(diff)
	}
	// The mean of n uniform values from 0 to 99 has a standard deviation of 28.87/√n.
	mean := bootstrap(100, func(sample []int) float64 {
		sum := 0.0
		for _, i := range sample {
			sum += float64(i)
		}
		return sum / float64(len(sample))
	})
	if mean.Mean != 49.5 || math.Abs(mean.High-mean.Low-2*1.96*2.887) > 1 {
		t.Errorf("%v", mean)
	}
}

func TestRowsHaveFiguresOfEveryScheduler(t *testing.T) {
	t.Parallel()
	rows, err := contested().summarize()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(schedulers()) || rows[0].Scheduler != kubeScheduler || math.Abs(rows[0].Worst-2.1) > 1e-9 || rows[0].Requests95.Mean < 1 {
		t.Errorf("%+v", rows)
	}
	page := markdown(rows)
	if strings.Count(page, "\n") != 2+len(rows) || strings.Contains(page, "NaN") {
		t.Error(page)
	}
	if _, err := results().summarize(); !errors.Is(err, errNoBatch) {
		t.Errorf("%v", err)
	}
}
