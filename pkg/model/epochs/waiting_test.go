package epochs_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

// below returns the next number below x.
func below(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// asking returns a job that requests something.
func asking(j epochs.Job, requests ...float64) epochs.Job {
	j.Requests = requests
	return j
}

// stay is where and when a job ran.
type stay struct {
	Node       int
	Start, End float64
}

func (r record) stays() map[string]stay {
	stays := map[string]stay{}
	for _, o := range r.Outcomes {
		stays[o.Name] = stay{o.Node, round(o.Start), round(o.End)}
	}
	return stays
}

// round takes off what binary fractions leave.
func round(x float64) float64 { return math.Round(x*1e9) / 1e9 }

func TestJobsWaitForRoom(t *testing.T) {
	t.Parallel()
	limited := nodes(1, 1)
	limited.Capacity = []float64{3}
	two := nodes(2, 1)
	two.Capacity = []float64{3}
	one := nodes(1, 4)
	one.MaxJobs = 2
	mixed := []epochs.NodeClass{limited, one}
	mixed[1].Capacity = []float64{1}
	for name, test := range map[string]struct {
		jobs    []epochs.Job
		classes []epochs.NodeClass
		fifo    bool
		want    map[string]stay
	}{
		"a small job overtakes a large one": {
			[]epochs.Job{asking(jobOf("1", 0, 4), 2), asking(jobOf("2", 1, 4), 2), asking(jobOf("3", 2, 1), 1)},
			[]epochs.NodeClass{limited},
			false,
			// 1 is alone for 2 s, then 3 for 2 s beside it: 1 has 1 s left at 4.
			map[string]stay{"1": {0, 0, 5}, "3": {0, 2, 4}, "2": {0, 5, 9}},
		},
		"first in, first out": {
			[]epochs.Job{asking(jobOf("1", 0, 4), 2), asking(jobOf("2", 1, 4), 2), asking(jobOf("3", 2, 1), 1)},
			[]epochs.NodeClass{limited},
			true,
			map[string]stay{"1": {0, 0, 4}, "2": {0, 4, 9}, "3": {0, 4, 6}},
		},
		"behind the first, another node had room all the time": {
			// 2 needs all of the first node; 3 fits the second node, too.
			[]epochs.Job{asking(jobOf("1", 0, 4), 2), asking(jobOf("2", 1, 4), 3), asking(jobOf("3", 2, 1), 1), asking(jobOf("4", 3, 1), 1)},
			mixed, true,
			map[string]stay{"1": {0, 0, 4}, "2": {0, 4, 8}, "3": {1, 4, 5}, "4": {1, 5, 6}},
		},
		"who can never be placed holds up nobody": {
			[]epochs.Job{asking(jobOf("1", 0, 4), 2), asking(jobOf("2", 1, 4), 2), asking(jobOf("3", 2, 1), 9), asking(jobOf("4", 3, 1), 3)},
			[]epochs.NodeClass{limited},
			true,
			map[string]stay{"1": {0, 0, 4}, "2": {0, 4, 8}, "4": {0, 8, 9}},
		},
		"as many jobs as there are places": {
			[]epochs.Job{jobOf("1", 0, 4), jobOf("2", 0, 2), jobOf("3", 0, 1), jobOf("4", 0, 1)},
			[]epochs.NodeClass{one},
			false,
			map[string]stay{"1": {0, 0, 4}, "2": {0, 0, 2}, "3": {0, 2, 3}, "4": {0, 3, 4}},
		},
		"two nodes become free at one instant": {
			[]epochs.Job{asking(jobOf("1", 0, 4), 3), asking(jobOf("2", 0, 4), 3), asking(jobOf("3", 1, 1), 3), asking(jobOf("4", 1, 1), 3)},
			[]epochs.NodeClass{two},
			true,
			map[string]stay{"1": {0, 0, 4}, "2": {1, 0, 4}, "3": {0, 4, 5}, "4": {1, 4, 5}},
		},
		"a completion makes room for an arrival of the same instant": {
			[]epochs.Job{asking(jobOf("1", 0, 4), 3), asking(jobOf("2", 4, 1), 3)},
			[]epochs.NodeClass{limited},
			false,
			map[string]stay{"1": {0, 0, 4}, "2": {0, 4, 5}},
		},
		"who waits comes before who arrives": {
			[]epochs.Job{asking(jobOf("1", 0, 4), 3), asking(jobOf("3", 3, 1), 3), asking(jobOf("2", 4, 1), 3)},
			[]epochs.NodeClass{limited},
			false,
			map[string]stay{"1": {0, 0, 4}, "3": {0, 4, 5}, "2": {0, 5, 6}},
		},
		"shorter names come first": {
			[]epochs.Job{asking(jobOf("10", 0, 1), 3), asking(jobOf("9", 0, 1), 3)},
			[]epochs.NodeClass{limited},
			false,
			map[string]stay{"9": {0, 0, 1}, "10": {0, 1, 2}},
		},
	} {
		r := replay(t, trace(test.jobs...), test.classes, placement.LeastDilation{}, epochs.Options{FIFO: test.fifo})
		if diff := cmp.Diff(test.want, r.stays()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestLMUFTLetsJobsWaitForALessBusyNode(t *testing.T) {
	t.Parallel()
	// One job of (0.5, 0.5) makes its node half busy.
	jobs := trace(jobOf("1", 0, 2, 2), jobOf("2", 1, 2, 2), jobOf("3", 2, 2, 2))
	want := map[string]stay{"1": {0, 0, 4}, "2": {0, 4, 8}, "3": {0, 8, 12}}
	r := replay(t, jobs, []epochs.NodeClass{nodes(1, 1, 1)}, placement.LMUFT{Threshold: 0.4}, epochs.Options{})
	if diff := cmp.Diff(want, r.stays()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if o := r.of(t, "3"); o.Wait() != 6 || o.Execution() != 4 || o.Response() != 10 || o.Dilation() != 1 {
		t.Errorf("job 3 waits %v, runs %v, takes %v, is dilated %v", o.Wait(), o.Execution(), o.Response(), o.Dilation())
	}
	// With a threshold of 0.6 the second may come, the third may not.
	r = replay(t, jobs, []epochs.NodeClass{nodes(1, 1, 1)}, placement.LMUFT{Threshold: 0.6}, epochs.Options{})
	if got := r.of(t, "2"); got.Wait() != 0 {
		t.Errorf("job 2 waits %v", got.Wait())
	}
	if got := r.of(t, "3"); got.Start != r.of(t, "1").End {
		t.Errorf("job 3 starts at %v, want when the first is done", got.Start)
	}
}

func TestClocksStandStillForNobody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		jobs []epochs.Job
		want map[string]stay
	}{
		"an idle period": {
			[]epochs.Job{jobOf("1", 10, 1, 1), jobOf("2", 1000, 1, 1)},
			map[string]stay{"1": {0, 10, 12}, "2": {0, 1000, 1002}},
		},
		"equal jobs that arrive together complete together": {
			[]epochs.Job{jobOf("1", 0, 1, 0), jobOf("2", 0, 1, 0), jobOf("3", 0, 1, 0)},
			map[string]stay{"1": {0, 0, 3}, "2": {0, 0, 3}, "3": {0, 0, 3}},
		},
		"different jobs that complete together": {
			// Both have 1 s left at the cpu when 2 arrives.
			[]epochs.Job{jobOf("1", 0, 3, 0), jobOf("2", 2, 1, 0)},
			map[string]stay{"1": {0, 0, 4}, "2": {0, 2, 4}},
		},
		"nothing is in common": {
			[]epochs.Job{jobOf("1", 0, 3, 0), jobOf("2", 0, 0, 4)},
			map[string]stay{"1": {0, 0, 3}, "2": {0, 0, 4}},
		},
		"no work": {
			[]epochs.Job{
				jobOf("1", 0, 3, 0),
				{Name: "2", Arrival: 1, Job: placement.Job{Type: &mix.JobType{Name: "empty"}}},
				{Name: "3", Arrival: 1, Job: placement.Job{Type: &mix.JobType{Name: "cpu", Vector: loading.Loadings(1)}}},
			},
			map[string]stay{"1": {0, 0, 3}, "2": {0, 1, 1}, "3": {0, 1, 1}},
		},
		"idle time": {
			[]epochs.Job{
				jobOf("1", 0, 3, 0),
				{Name: "2", Arrival: 1, Job: placement.Job{Type: &mix.JobType{Name: "sleeps"}, Neutral: 5}},
			},
			map[string]stay{"1": {0, 0, 3}, "2": {0, 1, 6}},
		},
		"before the beginning of time": {
			[]epochs.Job{jobOf("1", -5, 1, 1)},
			map[string]stay{"1": {0, -5, -3}},
		},
		"no jobs": {nil, map[string]stay{}},
	} {
		r := replay(t, trace(test.jobs...), []epochs.NodeClass{nodes(1, 1, 1)}, &placement.RoundRobin{}, epochs.Options{})
		if diff := cmp.Diff(test.want, r.stays()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if len(test.jobs) == 0 && r.Result.Makespan() != 0 {
			t.Errorf("%s: the makespan is %v", name, r.Result.Makespan())
		}
	}
}

func TestAFastNodeServesFasterAndSleepsAsLong(t *testing.T) {
	t.Parallel()
	// Of 4 s alone 2 are at the cpu and 2 idle; at twice the speed 1 and 2.
	job := epochs.Job{Name: "1", Job: placement.Job{Type: &mix.JobType{Name: "half idle", Vector: loading.Loadings(0.5)}, Neutral: 4}}
	fast, slow := nodes(1, 1), nodes(1, 1)
	fast.Speeds, slow.Speeds = []float64{2}, []float64{0.5}
	second := job
	second.Name = "2"
	r := replay(t, trace(job, second), []epochs.NodeClass{fast, slow}, &placement.RoundRobin{}, epochs.Options{})
	if diff := cmp.Diff(map[string]stay{"1": {0, 0, 3}, "2": {1, 0, 6}}, r.stays()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([][]float64{{1}, {4}}, r.Result.Busy); diff != "" {
		t.Errorf("busy: (-want +got)\n%s", diff)
	}
	for _, o := range r.Outcomes {
		if o.Dilation() != 1 {
			t.Errorf("job %s is alone and dilated %v times", o.Name, o.Dilation())
		}
	}
}

func TestJobsThatNoNodeCanTakeAreDropped(t *testing.T) {
	t.Parallel()
	small, gpu := nodes(1, 1), nodes(1, 1, 0, 1)
	small.Name, gpu.Name = "small", "gpu"
	small.Capacity, gpu.Capacity = []float64{2, 8}, []float64{4}
	jobs := trace(
		jobOf("1", 0, 1), asking(jobOf("2", 0, 1), 3), asking(jobOf("3", 0, 1), 1, 16),
		jobOf("4", 0, 1, 1), jobOf("5", 0, 1, 0, 1), asking(jobOf("6", 0, 1, 0, 1), 5), asking(jobOf("7", 0, 1), 6, 9), jobOf("8", 0, 1, 0, 0, 1),
	)
	r := replay(t, jobs, []epochs.NodeClass{small, gpu}, placement.LeastDilation{}, epochs.Options{
		Resource: func(i int) string { return []string{"cpu", "disk", "gpu", "tpu"}[i] },
		Capacity: func(i int) string { return []string{"cores", "bytes"}[i] },
	})
	got := map[string]string{}
	for _, d := range r.Drops {
		got[d.Name] = d.Reason
	}
	want := map[string]string{
		"4": `nodes of class "small" have no resource disk; nodes of class "gpu" have no resource disk`,
		"6": `nodes of class "small" have no resource gpu; nodes of class "gpu" have 4 of cores, it requests 5`,
		"7": `nodes of class "small" have 2 of cores, it requests 6; nodes of class "gpu" have 4 of cores, it requests 6`,
		"8": `nodes of class "small" have no resource tpu; nodes of class "gpu" have no resource tpu`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ran := map[string]int{}
	for name, stay := range r.stays() {
		ran[name] = stay.Node
	}
	if diff := cmp.Diff(map[string]int{"1": 0, "2": 1, "3": 1, "5": 1}, ran); diff != "" {
		t.Errorf("nodes: (-want +got)\n%s", diff)
	}
	if r.Result.Dropped != 4 || r.Result.Completed != 4 {
		t.Errorf("%+v", r.Result)
	}
}

// refuser refuses all jobs of one type.
type refuser struct{ name string }

func (refuser) Name() string { return "refuser" }

func (r refuser) Choose(_ float64, j *placement.Job, _ []*placement.NodeState) int {
	if j.Type.Name == r.name {
		return -1
	}
	return 0
}

func TestJobsThatThePolicyNeverTakesAreDropped(t *testing.T) {
	t.Parallel()
	jobs := trace(jobOf("bad", 0, 1), jobOf("1", 0, 2), jobOf("worse", 1, 1), jobOf("bad", 1, 1), jobOf("2", 1, 1), jobOf("3", 9, 1), jobOf("bad", 20, 1))
	for fifo, want := range map[bool]map[string]stay{
		false: {"1": {0, 0, 4}, "2": {0, 1, 4}, "worse": {0, 1, 4}, "3": {0, 9, 10}},
		true:  {"1": {0, 0, 2}, "2": {0, 2, 3}, "worse": {0, 3, 4}, "3": {0, 9, 10}},
	} {
		r := replay(t, jobs, []epochs.NodeClass{nodes(1, 1)}, refuser{"bad"}, epochs.Options{FIFO: fifo})
		if diff := cmp.Diff(want, r.stays()); diff != "" {
			t.Errorf("FIFO %v: (-want +got)\n%s", fifo, diff)
		}
		for _, d := range r.Drops {
			if d.Name != "bad" || d.Reason != "policy refuser does not take it even when nothing runs" {
				t.Errorf("FIFO %v: job %s was dropped: %s", fifo, d.Name, d.Reason)
			}
		}
		if len(r.Drops) != 3 || r.Result.Dropped != 3 || r.Result.Completed != 4 {
			t.Errorf("FIFO %v: %d jobs were dropped, %d completed", fifo, r.Result.Dropped, r.Result.Completed)
		}
	}
}

// loner places the first job on the first node and all others on the last, when
// nothing runs.
type loner struct{}

func (loner) Name() string { return "loner" }

func (loner) Choose(_ float64, j *placement.Job, nodes []*placement.NodeState) int {
	if j.Type.Name == "1" {
		return 0
	}
	for _, n := range nodes {
		if n.Running.Mix().Jobs() > 0 {
			return -1
		}
	}
	if len(nodes) == 1 && nodes[0].Index == 0 {
		return -1
	}
	return len(nodes) - 1
}

// What waits until nothing runs is placed then, on any node, not only on the one
// where something has completed.
func TestJobsThatWaitForAnIdleClusterAreNotDropped(t *testing.T) {
	t.Parallel()
	jobs := trace(jobOf("1", 0, 1), jobOf("2", 0, 2), jobOf("3", 0, 3))
	r := replay(t, jobs, []epochs.NodeClass{nodes(2, 1)}, loner{}, epochs.Options{})
	if diff := cmp.Diff(map[string]stay{"1": {0, 0, 1}, "2": {1, 1, 3}, "3": {1, 3, 6}}, r.stays()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOfOneInstantTheFirstNodeComesFirst(t *testing.T) {
	t.Parallel()
	var jobs []epochs.Job
	for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
		jobs = append(jobs, jobOf(name, 0, 1))
	}
	r := replay(t, trace(jobs...), []epochs.NodeClass{nodes(3, 1)}, &placement.RoundRobin{}, epochs.Options{})
	var names, of []string
	for _, o := range r.Outcomes {
		names = append(names, o.Name)
	}
	for _, e := range r.Epochs {
		of = append(of, strconv.Itoa(e.Node))
	}
	if diff := cmp.Diff([]string{"1", "4", "2", "5", "3", "6"}, names); diff != "" {
		t.Errorf("outcomes: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0", "1", "2"}, of); diff != "" {
		t.Errorf("epochs: (-want +got)\n%s", diff)
	}
}

func TestReasonsNameResourcesByTheirNumbersIfTheyHaveNoNames(t *testing.T) {
	t.Parallel()
	r := replay(t, trace(jobOf("1", 0, 1, 1)), []epochs.NodeClass{nodes(1, 1)}, placement.LeastDilation{}, epochs.Options{})
	if len(r.Drops) != 1 || !strings.HasSuffix(r.Drops[0].Reason, "have no resource 1") {
		t.Errorf("%+v", r.Drops)
	}
}
