package replays_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/test/given"
)

// near reports whether two numbers are equal within a relative tolerance.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

func TestTheNumbersOfARunAreThoseOfItsJobs(t *testing.T) {
	t.Parallel()
	replay := generating()
	replay.Spec.Nodes[0].MaxJobs = new(int32(3)) // so that some jobs wait
	result, jobs := outcomes(t, newReplay(t, replay), 0)

	const summed, quantile = 1e-9, 1.001e-3 // rounding; the accuracy that a sketch promises
	first, last := math.Inf(1), 0.0
	waited, withSLA, kept := 0, 0, 0
	cpuSeconds, diskSeconds := 0.0, 0.0
	for _, o := range jobs {
		first, last = min(first, o.Arrival), max(last, o.End)
		if o.Start > o.Arrival {
			waited++
		}
		if o.Type.Name == "shop/sort" {
			withSLA++
			cpuSeconds += 4
			if o.Dilation() <= 1.5 {
				kept++
			}
		} else {
			cpuSeconds += 0.25 * 2
			diskSeconds += 0.75 * 2
		}
	}
	if result.Jobs != 400 || len(jobs) != 400 || result.Waited != waited || waited == 0 {
		t.Errorf("%d of %d jobs, of which %d waited, want 400, of which %d", result.Jobs, len(jobs), result.Waited, waited)
	}
	if diff := cmp.Diff(&replays.SLACount{Jobs: withSLA, Kept: kept}, result.SLA); diff != "" || kept == 0 || kept == withSLA {
		t.Errorf("the SLA (-want +got):\n%s", diff)
	}
	makespan := last - first
	if !near(result.MakespanSeconds, makespan, summed) {
		t.Errorf("makespan %v, want %v", result.MakespanSeconds, makespan)
	}
	for i, want := range []replays.ResourceUtilization{{Resource: "cpu", Mean: cpuSeconds / 2 / makespan}, {Resource: "disk", Mean: diskSeconds / 2 / makespan}} {
		got := result.Utilization[i]
		if got.Resource != want.Resource || !near(got.Mean, want.Mean, summed) || got.Busiest < got.Mean || got.Busiest > 2*got.Mean {
			t.Errorf("utilization %+v, want %+v", got, want)
		}
	}
	for name, test := range map[string]struct {
		got replays.Summary
		of  func(*epochs.Outcome) float64
	}{
		"response":  {result.Response, (*epochs.Outcome).Response},
		"execution": {result.Execution, (*epochs.Outcome).Execution},
		"wait":      {result.Wait, (*epochs.Outcome).Wait},
		"dilation":  {result.Dilation, (*epochs.Outcome).Dilation},
	} {
		var values []float64
		sum := 0.0
		for _, o := range jobs {
			values = append(values, test.of(&o))
			sum += test.of(&o)
		}
		slices.Sort(values)
		at := func(fraction float64) float64 { return values[int(fraction*float64(len(values)-1))] }
		want := replays.Summary{Mean: sum / 400, P50: at(0.5), P95: at(0.95), P99: at(0.99), Max: at(1)}
		if !near(test.got.Mean, want.Mean, summed) || !near(test.got.P50, want.P50, quantile) || !near(test.got.P95, want.P95, quantile) ||
			!near(test.got.P99, want.P99, quantile) || !near(test.got.Max, want.Max, quantile) {
			t.Errorf("%s: %+v, want %+v", name, test.got, want)
		}
	}
	if q := result.DilationQuantiles; len(q) != 101 || q[0] != 1 || !slices.IsSorted(q) || !near(q[100], result.Dilation.Max, quantile) {
		t.Errorf("the quantiles of the dilation are %v", q)
	}
}

func TestAJobAloneTakesItsNeutralTimeAndTwoTakeTurns(t *testing.T) {
	t.Parallel()
	// Two jobs at one core for all their time: each runs at half its speed while
	// both are there, from 100 on. The first then has 3 s left, which take 6 s; the
	// other has 1 s left and is alone.
	_, jobs := outcomes(t, replaying(t, "#loadline-trace/v1\ntype,arrival\nsort,99\nshop/sort,100\n", nil), 0)
	if len(jobs) != 2 || !near(jobs[0].End, 106, 1e-12) || !near(jobs[1].End, 107, 1e-12) {
		t.Errorf("the jobs are %+v, want them to end at 106 and 107", jobs)
	}
}

// Two jobs of 4 s on two cores compute at 1/1.5 of their speed while both are there: the first has 3 s left when the other
// comes, which take 4.5 s, and then the other has 1 s left.
func TestJobsThatShareACacheAreReplayedSlower(t *testing.T) {
	t.Parallel()
	sort := given.Lasting(given.Workload("sort", 0, given.CPU("1")), 4000, nil)
	sort.Spec.Interference = []v1alpha1.Interference{{
		Name: "llc", Pressure: given.Quantity("0.5"), Curve: []v1alpha1.CurvePoint{{Pressure: given.Quantity("1"), Inflation: given.Quantity("2")}},
	}}
	replay := &v1alpha1.TraceReplay{Spec: v1alpha1.TraceReplaySpec{
		Trace:    &v1alpha1.ReplayTrace{},
		Nodes:    []v1alpha1.ReplayNodes{{Name: "node", Resources: []v1alpha1.ReplayResource{{Name: "cpu", Servers: new(int32(2))}}}},
		Policies: []v1alpha1.ReplayPolicy{{Name: "least-dilation"}},
	}}
	r, err := replays.New(replays.Input{Replay: replay, Workloads: []v1alpha1.WorkloadProfile{sort}, Open: func() (io.ReadCloser, string, error) {
		return io.NopCloser(strings.NewReader("#loadline-trace/v1\ntype,arrival\nsort,0\nsort,1\n")), "jobs.csv", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, jobs := outcomes(t, r, 0)
	if len(jobs) != 2 || !near(jobs[0].End, 1+3*1.5, 1e-9) || !near(jobs[1].End, 5.5+1, 1e-9) {
		t.Errorf("the jobs are %+v, want them to end at 5.5 and 6.5", jobs)
	}
}

func TestATraceSaysMoreThanAProfile(t *testing.T) {
	t.Parallel()
	const csv = "#loadline-trace/v1\njob,type,arrival,neutral,demand.cpu,demand.tape,request.cpu\n" +
		"by-profile,sort,0,,,,\n" +
		"longer,sort,100,8,,,\n" +
		"own-demands,sort,200,,3,,\n" +
		"nothing-to-do,sort,300,,0,,\n" +
		"Grüße 😀,,400,10,5,,\n"
	result, jobs := outcomes(t, replaying(t, strings.ReplaceAll(csv, "\n", "\r\n"), nil), 0)
	var took []string
	for _, o := range jobs {
		took = append(took, fmt.Sprintf("%s %.6g", o.Name, o.Execution()))
	}
	// The profile lasts 4 s; a job with a demand of 0 lasts as long, and is idle.
	want := []string{"by-profile 4", "longer 8", "own-demands 3", "nothing-to-do 4", "Grüße 😀 10"}
	if diff := cmp.Diff(want, took); diff != "" {
		t.Errorf("execution times (-want +got):\n%s", diff)
	}
	// The profile asks for an SLA; the last job has no type.
	if result.SLA == nil || result.SLA.Jobs != 4 || result.SLA.Kept != 4 {
		t.Errorf("the SLA is %+v, want all 4 jobs of the profile to keep within it", result.SLA)
	}
}

func TestJobsThatNoNodeCanTakeAreDroppedAndTheFirstIsExplained(t *testing.T) {
	t.Parallel()
	const csv = "#loadline-trace/v1\njob,arrival,demand.cpu,demand.tape,request.cpu,request.memory\n"
	for name, test := range map[string]struct {
		rows    string
		want    string
		dropped int
	}{
		"a resource that no node has":    {"a,0,1,1,,\nb,1,1,,,\n", `job a: nodes of class "node" have no resource tape`, 1},
		"a request that is too large":    {"a,0,1,,3,\nb,1,1,,8,\nc,1,1,,9,\n", `job b: nodes of class "node" have 4 of cpu, it requests 8`, 2},
		"every job":                      {"a,0,1,,5,\n", `job a: nodes of class "node" have 4 of cpu, it requests 5`, 1},
		"a request that nobody looks at": {"a,0,1,,1,1e15\n", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := replaying(t, csv+test.rows, func(spec *v1alpha1.TraceReplaySpec) {
				spec.Nodes[0].Capacity = []v1alpha1.ReplayCapacity{{Name: "cpu", Quantity: given.Quantity("4")}}
			})
			result, jobs := outcomes(t, r, 0)
			if result.Dropped != test.dropped || result.FirstDrop != test.want || len(jobs)+test.dropped != strings.Count(test.rows, "\n") {
				t.Errorf("%d dropped, %d done: %q, want %d: %q", result.Dropped, len(jobs), result.FirstDrop, test.dropped, test.want)
			}
		})
	}
}

// The error of a trace names file, line, column, value and rule, and keeps the results before the last instant that is
// complete: the last job before the wrong one may still get company.
func TestABadTraceEndsARunThatKeepsWhatItDid(t *testing.T) {
	t.Parallel()
	const header = "#loadline-trace/v1\njob,type,arrival,neutral\n"
	for name, test := range map[string]struct {
		trace string
		want  string
		jobs  int
	}{
		"unsorted":              {header + "a,sort,10,\nb,sort,30,\nc,sort,50,\nd,sort,20,\n", `jobs.csv, line 6: arrival "20": is before the previous arrival, 50; sort the trace, or pass --sort`, 1},
		"a negative time":       {header + "a,sort,-1,\n", `jobs.csv, line 3: arrival "-1": must be a number from 0`, 0},
		"a time that is no one": {header + "a,sort,NaN,\n", `jobs.csv, line 3: arrival "NaN": must be a number from 0`, 0},
		"an infinite time":      {header + "a,sort,0,1e999\n", `jobs.csv, line 3: neutral "1e999": must be a number from 0`, 0},
		"an unknown type":       {header + "a,sort,0,\nb,sort,50,\nc,merge,100,\n", `jobs.csv, line 5: type "merge": there is no such WorkloadProfile; there are shop/sort, shop/copy; or give the job demands of its own`, 0},
		"empty":                 {"", "jobs.csv: is empty; want #loadline-trace/v1", 0},
		"no rows":               {header, "jobs.csv: has a header but no rows", 0},
		"a huge line":           {header + strings.Repeat("x", 1<<17) + "\n", "jobs.csv, line 3: is longer than 65,536 bytes", 0},
		"a short row":           {header + "a,sort\n", "jobs.csv, line 3: has 2 of 4 columns", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := replaying(t, test.trace, nil).Run(t.Context(), 0, replays.Watch{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("the error is %v, want %q", err, test.want)
			}
			if !result.Partial || result.Jobs != test.jobs {
				t.Errorf("partial %v, %d jobs, want %d", result.Partial, result.Jobs, test.jobs)
			}
		})
	}
}

func TestATraceOfJobsThatAreAllLeftOutSaysSo(t *testing.T) {
	t.Parallel()
	const never = "; nothing ran\n1 0 -1 -1 4 -1 -1 4 -1 -1 0 1 1 -1 1 1 -1 -1\n"
	r := replaying(t, never, func(spec *v1alpha1.TraceReplaySpec) { spec.Trace.Format = v1alpha1.TraceFormatSWF })
	result, err := r.Run(t.Context(), 0, replays.Watch{})
	if err == nil || !strings.Contains(err.Error(), "jobs.csv: none of its 1 jobs can be used: all were skipped") {
		t.Errorf("the error is %v", err)
	}
	if result.Skipped != 1 || !strings.HasPrefix(result.FirstSkip, "line 2: job 1 ") {
		t.Errorf("skipped %d: %q", result.Skipped, result.FirstSkip)
	}
}

func TestALimitEndsTheTraceAndSortingMendsIt(t *testing.T) {
	t.Parallel()
	const csv = "#loadline-trace/v1\njob,type,arrival\nb,sort,20\na,sort,10\nc,sort,30\n"
	r := replaying(t, csv, func(spec *v1alpha1.TraceReplaySpec) {
		spec.Trace.Limit, spec.Trace.Unsorted = new(int64(2)), v1alpha1.UnsortedSort
	})
	if _, jobs := outcomes(t, r, 0); len(jobs) != 2 || jobs[0].Name != "a" || jobs[1].Name != "b" {
		t.Errorf("the jobs are %+v, want a and b", jobs)
	}
}

func TestACancelledRunKeepsWhatItDid(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"round-robin", "least-completion"} {
		replay := generating()
		replay.Spec.Policies = []v1alpha1.ReplayPolicy{{Name: policy}}
		replay.Spec.Arrivals.Jobs = new(int64(10_000_000))
		ctx, cancel := context.WithCancel(t.Context())
		done := 0
		result, err := newReplay(t, replay).Run(ctx, 0, replays.Watch{Job: func(*epochs.Outcome) error {
			if done++; done == 1000 {
				cancel()
			}
			return nil
		}})
		if !errors.Is(err, context.Canceled) || !result.Partial || result.Jobs < 1000 || result.Jobs > 1010 || result.Execution.Mean <= 0 {
			t.Errorf("%s: error %v, result %+v", policy, err, result)
		}
	}
}

// endless writes a trace with the given number of jobs while it is read.
type endless struct {
	jobs int
	rest []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.jobs == 0 {
			return 0, io.EOF
		}
		e.jobs--
		e.rest = fmt.Appendf(nil, "job-with-a-name-of-its-own-%d,any,%d,,%d.5,%d\n", e.jobs, 10_000_000-3*e.jobs, e.jobs%3, e.jobs%2)
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Memory holds the jobs in the system, and not the trace.
//
//nolint:paralleltest // it looks at the heap
func TestMemoryDoesNotGrowWithTheTrace(t *testing.T) {
	const jobs, every = 300_000, 50_000
	trace := &endless{jobs: jobs, rest: []byte("#loadline-trace/v1\njob,type,arrival,neutral,demand.cpu,demand.disk\n")}
	replay := generating()
	replay.Spec.Arrivals, replay.Spec.Trace = nil, &v1alpha1.ReplayTrace{}
	r, err := replays.New(replays.Input{Replay: replay, Open: func() (io.ReadCloser, string, error) {
		return io.NopCloser(trace), "endless.csv", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	done, last := 0, uint64(0)
	var heaps []uint64
	result, err := r.Run(t.Context(), 0, replays.Watch{Occupancy: true, Job: func(*epochs.Outcome) error {
		if done++; done%every == 0 {
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			last = memory.HeapAlloc
			heaps = append(heaps, last)
		}
		return nil
	}})
	if err != nil || result.Jobs != jobs {
		t.Fatalf("%d jobs, error %v", result.Jobs, err)
	}
	const allowance = 2 << 20 // the trace has 14 MB; caches may still grow a little
	if least := slices.Min(heaps); last > least+allowance {
		t.Errorf("the heap grew: %v bytes after every %d jobs", heaps, every)
	}
	t.Logf("the heap after every %d jobs: %v bytes", every, heaps)
}

func TestTheSameSeedGivesTheSameAnswerAndAnotherSeedAnother(t *testing.T) {
	t.Parallel()
	r := newReplay(t, generating())
	var results []*replays.Result
	for _, run := range []int{0, 0, 1} {
		result, _ := outcomes(t, r, run)
		results = append(results, result)
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Errorf("the same run twice (-first +second):\n%s", diff)
	}
	if results[0].MakespanSeconds == results[2].MakespanSeconds {
		t.Error("seeds 1 and 2 have the same makespan")
	}
}

func TestAllPoliciesMeetTheSameStreamOfJobs(t *testing.T) {
	t.Parallel()
	r := newReplay(t, generating())
	arrivals := func(run int) map[string]float64 {
		all := map[string]float64{}
		_, jobs := outcomes(t, r, run)
		for _, o := range jobs {
			all[o.Name+" "+o.Type.Name] = o.Arrival
		}
		return all
	}
	if diff := cmp.Diff(arrivals(1), arrivals(4)); diff != "" { // seed 2 of both policies
		t.Errorf("arrivals (-random +least-dilation):\n%s", diff)
	}
}

// What the picture shows adds up to what happened: bins of any width, nodes alone
// or in groups, times of any size.
func TestOccupancyAddsUpToTheBusyTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SampledFrom([]int32{1, 3, 100, 101, 250}).Draw(t, "nodes")
		gap := rapid.SampledFrom([]int64{1, 5000, 1_000_000_000}).Draw(t, "gap in ms")
		replay := generating()
		replay.Spec.Nodes[0].Count = &nodes
		replay.Spec.Arrivals.Jobs = new(int64(rapid.IntRange(1, 200).Draw(t, "jobs")))
		replay.Spec.Arrivals.Interarrival = v1alpha1.Interarrival{Distribution: v1alpha1.DistributionEmpirical, GapsMillis: []int64{0, gap, 7 * gap}}
		r, err := replays.New(replays.Input{Replay: replay, Workloads: jobProfiles()})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, nodes)
		result, err := r.Run(t.Context(), 0, replays.Watch{Occupancy: true, Epoch: func(e *epochs.Epoch) error {
			want[e.Node] += (e.End - e.Start) * e.Mix.MaxUtilization()
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		levels := result.Occupancy.Levels()
		perRow := (int(nodes) + len(levels) - 1) / len(levels)
		for row, bins := range levels {
			some := want[row*perRow : min((row+1)*perRow, int(nodes))]
			busy, shown := 0.0, 0.0
			for _, seconds := range some {
				busy += seconds
			}
			for _, level := range bins {
				if level < 0 || level > 1 {
					t.Fatalf("row %d has a level of %v", row, level)
				}
				shown += level * result.Occupancy.BinSeconds * float64(len(some))
			}
			if !near(busy, shown, 1e-6) { // times of 1e12 s have no more digits
				t.Errorf("row %d shows %v s, want %v s", row, shown, busy)
			}
		}
		if len(levels) != len(result.Occupancy.Rows) || len(levels[0]) > 512 {
			t.Errorf("%d rows of %d bins, %d names", len(levels), len(levels[0]), len(result.Occupancy.Rows))
		}
	})
}
