package epochs_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// paperMode is the solver of the paper.
var paperMode = queueing.Options{Solver: queueing.Schweitzer, Tolerance: 1e-9}

// step is an epoch of Table 1: when it is, and how long each of its jobs would
// still take if it went on for ever.
type step struct {
	start, end float64
	left       map[string]float64
}

// Table 1, step by step. J1 = (2, 4) s arrives at 0, J2 = (3, 5) s at 3.
func TestReplayFollowsTable1(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		solver queueing.Options
		want   []step
	}{
		{paperMode, []step{ // in print 4.69, 12.44, 4.98, 7.69 and 12.67
			{0, 3, map[string]float64{"J1": 6}},
			{3, 7.69165, map[string]float64{"J1": 4.69165, "J2": 12.44226}},
			{7.69165, 12.67506, map[string]float64{"J2": 4.98341}}, // 8·(1 − 4.69165/12.44226)
		}},
		{queueing.Options{Solver: queueing.Exact}, []step{
			{0, 3, map[string]float64{"J1": 6}},
			{3, 7.625, map[string]float64{"J1": 4.625, "J2": 12 + 1.0/3}},
			{7.625, 12.625, map[string]float64{"J2": 5}},
		}},
	} {
		jobs := map[string]epochs.Job{"J1": jobOf("J1", 0, 2, 4), "J2": jobOf("J2", 3, 3, 5)}
		r := replay(t, trace(jobs["J1"], jobs["J2"]), []epochs.NodeClass{nodes(1, 1, 1)}, &placement.RoundRobin{}, epochs.Options{Solver: test.solver})
		if len(r.Epochs) != len(test.want) {
			t.Fatalf("%v: %d epochs, want %d", test.solver.Solver, len(r.Epochs), len(test.want))
		}
		undone := map[string]float64{"J1": 6, "J2": 8}
		for i, want := range test.want {
			got := r.Epochs[i]
			if !near(got.Start, want.start) || !near(got.End, want.end) {
				t.Errorf("%v: epoch %d is from %.5f to %.5f, want %.5f to %.5f", test.solver.Solver, i+1, got.Start, got.End, want.start, want.end)
			}
			if got.Mix.Jobs() != len(want.left) {
				t.Errorf("%v: %d jobs run in epoch %d, want %d", test.solver.Solver, got.Mix.Jobs(), i+1, len(want.left))
			}
			for name, left := range want.left {
				dilation := got.Mix.Dilation(jobs[name].Type)
				if took := undone[name] * dilation; !near(took, left) {
					t.Errorf("%v: in epoch %d %s would take %.5f s more, want %.5f", test.solver.Solver, i+1, name, took, left)
				}
				undone[name] -= (got.End - got.Start) / dilation
			}
		}
		for name, left := range undone {
			if math.Abs(left) > 1e-9 {
				t.Errorf("%v: of %s %v s are left undone", test.solver.Solver, name, left)
			}
		}
	}
}

// near allows for the five decimals of the numbers above.
func near(got, want float64) bool { return math.Abs(got-want) < 1e-5 }

// scenario is one of the paper's experiments: some jobs on one machine with one
// cpu and one disk.
type scenario struct {
	name string
	jobs []measuredJob
}

// measuredJob is a row of epochs.csv.
type measuredJob struct {
	epochs.Job
	table     string
	after     string  // the job at whose end it arrives, if that is not at a given time
	measured  float64 // execution time, s
	predicted float64 // by the paper
	reference float64 // recomputed, by the solver of the paper
}

// scenarios reads the paper's experiments.
func scenarios(t testing.TB) []scenario {
	t.Helper()
	file, err := os.Open("../../../test/testdata/epochs/epochs.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []scenario
	for line, row := range rows[1:] {
		number := func(column int) float64 {
			x, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				t.Fatalf("row %d: %v", line+2, err)
			}
			return x
		}
		if len(all) == 0 || all[len(all)-1].name != row[0] {
			all = append(all, scenario{name: row[0]})
		}
		job := measuredJob{Job: jobOf(row[2], 0, number(4), number(5)), table: row[1], measured: number(6), predicted: number(7), reference: number(8)}
		if _, err := fmt.Sscanf(row[3], "when %s ends", &job.after); err != nil {
			job.Arrival = number(3)
		}
		s := &all[len(all)-1]
		s.jobs = append(s.jobs, job)
	}
	return all
}

// executions replays a scenario, and returns the execution time of each job. A job
// that arrives when another ends does not change when that is.
func (s scenario) executions(t testing.TB, solver queueing.Options) map[string]float64 {
	t.Helper()
	var jobs []epochs.Job
	run := func() record {
		return replay(t, trace(jobs...), []epochs.NodeClass{nodes(1, 1, 1)}, &placement.RoundRobin{}, epochs.Options{Solver: solver})
	}
	for _, j := range s.jobs {
		if j.after != "" {
			j.Arrival = run().of(t, j.after).End
		}
		jobs = append(jobs, j.Job)
	}
	executions := map[string]float64{}
	for _, o := range run().Outcomes {
		executions[o.Name] = o.Execution()
	}
	return executions
}

// Tables 5, 7, 9 and 12.
func TestReplayReproducesThePapersPredictions(t *testing.T) {
	t.Parallel()
	count := 0
	for _, s := range scenarios(t) {
		got := s.executions(t, paperMode)
		for _, j := range s.jobs {
			count++
			// As recomputed, to the two printed decimals.
			if math.Abs(got[j.Name]-j.reference) > 0.006 {
				t.Errorf("%s, %s takes %.3f s, want %.2f", s.name, j.Name, got[j.Name], j.reference)
			}
			limit := 0.005
			if j.table == "7" && (j.Name == "J2" || j.Name == "J2-2") {
				limit = 0.015 // why the paper has 137.4 and 138.3 is not known
			}
			if err := got[j.Name]/j.predicted - 1; math.Abs(err) > limit {
				t.Errorf("%s, %s takes %.2f s; the paper has %.1f, %+.2f %%", s.name, j.Name, got[j.Name], j.predicted, 100*err)
			}
		}
	}
	if count != 22 {
		t.Errorf("%d jobs, want 22", count)
	}
}

// Tables 7 and 12 by the exact solver, recomputed independently of this project.
func TestReplayIsExactWithTheExactSolver(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]float64{
		"physical-2": {"J1": 201.35, "J2": 137.79, "J3": 25.35, "J4": 71.14, "J1-2": 193.01, "J2-2": 137.55, "J3-2": 36.66, "J4-2": 70.44},
		"unix-vm":    {"J1": 66.21, "J2": 45.46, "J3": 29.96, "J1-2": 62.40, "J2-2": 47.05, "J3-2": 32.23},
	}
	for _, s := range scenarios(t) {
		got := s.executions(t, queueing.Options{Solver: queueing.Exact})
		for name, seconds := range want[s.name] {
			if math.Abs(got[name]-seconds) > 0.006 {
				t.Errorf("%s, %s takes %.3f s, want %.2f", s.name, name, got[name], seconds)
			}
		}
	}
}
