package tracereplay

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// step is a plan in the form in which tests compare it.
type step struct {
	Condition string   // status, reason and message
	Runs      string   // total, succeeded, active, failed
	Writes    []string // ConfigMaps and their keys
	Starts    string   // a Job and its runs
	Removes   []string
	Best      string
}

func told(p *plan) step {
	s := step{Best: p.status.Best}
	if c := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionComplete); c != nil {
		s.Condition = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
	}
	if r := p.status.Runs; r != nil {
		s.Runs = fmt.Sprint(*r.Total, *r.Succeeded, *r.Active, *r.Failed)
	}
	for _, w := range p.writes {
		keys := slices.Collect(maps.Keys(w.after.Data))
		if w.before != nil {
			keys = slices.DeleteFunc(keys, func(key string) bool { return w.before.Data[key] == w.after.Data[key] })
		}
		s.Writes = append(s.Writes, fmt.Sprint(w.after.Name, " ", slices.Sorted(slices.Values(keys))))
	}
	if p.start != nil {
		s.Starts = p.start.Name + " " + strings.Join(strings.Fields(p.start.Spec.Template.Annotations[runsKey]), ",")
	}
	for _, o := range p.remove {
		s.Removes = append(s.Removes, o.GetName())
	}
	return s
}

func TestAReplayGoesStepByStepFromItsQuestionToItsReport(t *testing.T) {
	t.Parallel()
	const badLine = "week.csv, line 7: arrival 17.2 is before the previous arrival 17.9"
	all := []string{"compare-question", "compare-results-0", "compare-runs-1"}
	_, withoutProfile := ask(compare(), nil, nil).replayer()
	if withoutProfile == nil {
		t.Fatal("jobs can do without their profile")
	}
	for name, test := range map[string]struct {
		in   func(t *testing.T) *input
		want step
	}{
		"nothing was made: the question is written and all runs begin, the first seed of every policy first": {
			func(*testing.T) *input { return asked() },
			step{
				Condition: "False Running: 0 of 4 runs ended", Runs: "4 0 0 0",
				Writes: []string{"compare-question [replay.yaml]"}, Starts: "compare-runs-1 0,2,1,3",
			},
		},
		"a WorkloadProfile is missing: nothing begins": {
			func(*testing.T) *input { in := asked(); in.workloads = nil; return in },
			step{Condition: "False Invalid: " + withoutProfile.Error()},
		},
		"the trace is missing: nothing begins": {
			func(*testing.T) *input { in := asked(); in.obstacle = "waiting for ConfigMap traces"; return in },
			step{Condition: "False Pending: waiting for ConfigMap traces"},
		},
		"two runs have ended: their results are stored, and the others waited for": {
			func(t *testing.T) *input {
				return begun(t).pod(0, succeeded(result(t, 0))).pod(1, succeeded(result(t, 2))).pod(2, corev1.PodStatus{Phase: corev1.PodRunning})
			},
			step{Condition: "False Running: 2 of 4 runs ended", Runs: "4 2 1 0", Writes: []string{"compare-results-0 [run-0 run-2]"}},
		},
		"one of the two is stored: only the other is written": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, succeeded(result(t, 0)))
				in.begin(t)
				return in.pod(1, succeeded(result(t, 2)))
			},
			step{Condition: "False Running: 2 of 4 runs ended", Runs: "4 2 0 0", Writes: []string{"compare-results-0 [run-2]"}},
		},
		"the profile is gone once the runs have begun: they go on with the profile as it was": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, corev1.PodStatus{Phase: corev1.PodRunning})
				in.workloads = nil
				return in
			},
			step{Condition: "False Running: 0 of 4 runs ended", Runs: "4 0 1 0"},
		},
		"an image cannot be had: the condition says so": {
			func(t *testing.T) *input {
				return begun(t).pod(0, corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
					Name:  containerName,
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}},
				}}})
			},
			step{Condition: "False Running: 0 of 4 runs ended; pod compare-runs-1-0 waits: " +
				`the image "example.test/loadline" of container replay cannot be pulled: no such image`, Runs: "4 0 1 0"},
		},
		"no node has room: the condition says so": {
			func(t *testing.T) *input {
				return begun(t).pod(0, corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
					{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"},
				}})
			},
			step{Condition: "False Running: 0 of 4 runs ended; pod compare-runs-1-0 waits: the pod cannot be scheduled: 0/3 nodes are available", Runs: "4 0 1 0"},
		},
		"all runs have ended well: the report is written and the rest removed": {
			func(t *testing.T) *input {
				in := begun(t)
				for index, run := range []int{0, 2, 1, 3} {
					in.pod(index, succeeded(result(t, run)))
				}
				return in
			},
			step{
				Condition: "True Succeeded: 4 runs ended well; the mean response time is least with least-dilation", Runs: "4 4 0 0",
				Best: "least-dilation", Writes: []string{"compare-report [report.html results.json]"}, Removes: []string{"compare-question", "compare-runs-1"},
			},
		},
		"the Job is done but a pod is gone with its result: that run alone is done again": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, succeeded(result(t, 0))).pod(1, succeeded("no result")).pod(3, succeeded(result(t, 3)))
				return in.finish("")
			},
			step{
				Condition: "False Running: 2 of 4 runs ended", Runs: "4 2 0 0",
				Writes: []string{"compare-results-0 [run-0 run-3]"}, Starts: "compare-runs-2 2,1",
			},
		},
		"results are lost time and again: the replay ends without them": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, succeeded(result(t, 0))).pod(1, succeeded(result(t, 2))).pod(3, succeeded(result(t, 3)))
				for range maxRounds - 1 {
					in.finish("")
					in.begin(t)
				}
				return in.finish("")
			},
			step{
				Condition: "True PartlyFailed: 3 of 4 runs ended well, of which the results are: round-robin with seed 2: its result was lost 3 times", Runs: "4 3 0 1",
				Best: "least-dilation", Writes: []string{"compare-report [report.html results.json]"},
				Removes: []string{"compare-question", "compare-results-0", "compare-runs-1", "compare-runs-2", "compare-runs-3"},
			},
		},
		"some runs failed: the replay ends with the others' results and the reasons": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, succeeded(result(t, 0))).pod(2, succeeded(result(t, 1)))
				return in.pod(1, failedWith(137, "OOMKilled", "")).pod(3, failedWith(1, "Error", "")).finish("1,3")
			},
			step{
				Condition: "True PartlyFailed: 2 of 4 runs ended well, of which the results are: " +
					"least-dilation with seed 1: container replay was killed at its memory limit of 512Mi (OOMKilled); " +
					"raise --replay-memory of loadline-manager (replay.memory in the chart); " +
					"least-dilation with seed 2: container replay ended with exit code 1",
				Runs: "4 2 0 2", Best: "round-robin", Writes: []string{"compare-report [report.html results.json]"}, Removes: []string{"compare-question", "compare-runs-1"},
			},
		},
		"a run fails and is tried again: that is no failure yet": {
			func(t *testing.T) *input {
				return begun(t).pod(0, failedWith(1, "Error", "Error: out of luck")).pod(1, corev1.PodStatus{Phase: corev1.PodRunning})
			},
			step{Condition: "False Running: 0 of 4 runs ended", Runs: "4 0 1 0"},
		},
		"the input is bad for one policy: the others are waited for": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, failedWith(2, "Error", "Error: "+badLine)).pod(1, corev1.PodStatus{Phase: corev1.PodRunning})
				in.jobs[0].Status.FailedIndexes = new("0")
				return in
			},
			step{Condition: "False Running: 1 of 4 runs ended, 1 of them badly", Runs: "4 0 1 1"},
		},
		"the input is bad for every policy: the replay ends at once and says why": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, failedWith(2, "Error", "Error: "+badLine)).pod(1, failedWith(2, "Error", "Error: "+badLine+"\n"))
				in.jobs[0].Status.FailedIndexes = new("0-1")
				return in.pod(2, corev1.PodStatus{Phase: corev1.PodRunning})
			},
			step{
				Condition: "False Failed: no run ended well: round-robin with seed 1 and 1 more: " + badLine +
					"; round-robin with seed 2 and 1 more: not tried, for no policy can do with this input",
				Runs: "4 0 0 4", Removes: []string{"compare-question", "compare-runs-1"},
			},
		},
		"the pods of failed runs are gone: the condition says at least that": {
			func(t *testing.T) *input { return begun(t).finish("0-3") },
			step{
				Condition: "False Failed: no run ended well: round-robin with seed 1 and 3 more: its pods failed, and are gone with the reason",
				Runs:      "4 0 0 4", Removes: []string{"compare-question", "compare-runs-1"},
			},
		},
		"what a run says is too long for a condition, and no text: it is cut off and repaired": {
			func(t *testing.T) *input {
				return begun(t).pod(0, failedWith(1, "Error", "\xff"+strings.Repeat("x", 2000))).finish("0-3")
			},
			step{
				Condition: "False Failed: no run ended well: round-robin with seed 1: \\xff" + strings.Repeat("x", 973) + "…",
				Runs:      "4 0 0 4", Removes: []string{"compare-question", "compare-runs-1"},
			},
		},
		"a run was evicted without a container's end: its pod says why": {
			func(t *testing.T) *input {
				in := begun(t)
				for index := range 4 {
					in.pod(index, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "the node was low on memory"})
				}
				return in.finish("0-3")
			},
			step{
				Condition: "False Failed: no run ended well: round-robin with seed 1 and 3 more: the pod was evicted: the node was low on memory",
				Runs:      "4 0 0 4", Removes: []string{"compare-question", "compare-runs-1"},
			},
		},
		"the Job was deleted by hand: what is missing is done again": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, succeeded(result(t, 0)))
				in.begin(t)
				in.jobs, in.pods = nil, nil
				return in
			},
			step{Condition: "False Running: 1 of 4 runs ended", Runs: "4 1 0 0", Starts: "compare-runs-1 2,1,3"},
		},
		"the controller died between the status and the removal: what is left is removed": {
			func(t *testing.T) *input {
				in := begun(t).pod(0, succeeded(result(t, 0)))
				in.begin(t)
				in.replay.Status = v1alpha1.TraceReplayStatus{CompletionTime: new(noon)}
				return in
			},
			step{Removes: all},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, told(mustDecide(t, test.in(t)))); diff != "" {
				t.Errorf("unexpected plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAReplayInWhichNoNodeCanTakeAnyJobSaysSo(t *testing.T) {
	t.Parallel()
	onGPUs := profiled()
	onGPUs.Spec.Resources = append(onGPUs.Spec.Resources, v1alpha1.ResourceDemand{Name: "gpu", Loading: new(resource.MustParse("0.1"))})
	in := asked()
	in.workloads = []v1alpha1.WorkloadProfile{onGPUs}
	in.begin(t)
	for index, run := range []int{0, 2, 1, 3} {
		in.pod(index, succeeded(resultOf(t, run, onGPUs)))
	}
	p := mustDecide(t, in)
	want := "True Succeeded: 4 runs ended well, but no job was done: there was none, or no node can take any; the report says why"
	if got := told(p); got.Condition != want || !slices.Equal(got.Writes, []string{"compare-report [report.html results.json]"}) {
		t.Errorf("the condition is %q, and %v is written", got.Condition, got.Writes)
	}
	if dropped := *p.status.Results[0].Dropped; dropped != 100 {
		t.Errorf("%d of the 100 jobs of two seeds were dropped", dropped)
	}
	if page := p.writes[0].after.Data["report.html"]; !strings.Contains(page, "gpu") {
		t.Errorf("the page does not name the resource that no node has:\n%s", page)
	}
}

func TestTimesAreThoseOfTheFirstRunAndOfTheEnd(t *testing.T) {
	t.Parallel()
	in := begun(t)
	if s := in.replay.Status.StartTime; s == nil || !s.Equal(&noon) {
		t.Fatalf("it started at %v, want noon", s)
	}
	for index, run := range []int{0, 2, 1, 3} {
		in.pod(index, succeeded(result(t, run)))
	}
	in.now = metav1.NewTime(noon.AddDate(0, 0, 1))
	p := mustDecide(t, in)
	if !p.status.StartTime.Equal(&noon) || !p.status.CompletionTime.Equal(&in.now) {
		t.Errorf("it ran from %v to %v, want from noon to noon the next day", p.status.StartTime, p.status.CompletionTime)
	}
	if diff := cmp.Diff([]float64{3, 3, 3, 3}, p.seconds); diff != "" {
		t.Errorf("unexpected durations (-want +got):\n%s", diff)
	}
}

func TestResultsAreSpreadOverConfigMapsThatHoldThem(t *testing.T) {
	t.Parallel()
	further := map[int]string{}
	for run := range shards * perShard {
		further[run] = strings.Repeat("x", 4096)
	}
	writes := storeResults(compare(), nil, further)
	if len(writes) != shards {
		t.Fatalf("%d ConfigMaps, want %d", len(writes), shards)
	}
	for _, w := range writes {
		size := 0
		for key, value := range w.after.Data {
			size += len(key) + len(value)
		}
		if len(w.after.Data) != perShard || size > 1<<20 {
			t.Errorf("%s has %d results in %d bytes, want %d in less than 1 MiB", w.after.Name, len(w.after.Data), size, perShard)
		}
	}
}

func TestMeasuredVectorsAreReplayed(t *testing.T) {
	t.Parallel()
	in := asked()
	w := &in.workloads[0]
	w.Spec.Resources, w.Spec.NeutralMillis, w.Spec.Measurement = nil, nil, &v1alpha1.Measurement{}
	w.Status.Measurements = []v1alpha1.MeasuredVector{{
		NodeProfile: v1alpha1.NoNodeProfile, Node: "node", Time: new(noon), Question: "1", Method: v1alpha1.MethodProbes, NeutralMillis: new(int64(1000)),
		Resources: []v1alpha1.MeasuredLoading{{
			Name: "cpu", Loading: new(resource.MustParse("0.8")), Pressure: new(resource.MustParse("0.8")), Threads: new(int32(1)),
		}},
	}}
	if p := mustDecide(t, in); p.start == nil {
		t.Fatalf("the replay does not begin: %s", told(p).Condition)
	}
	in.begin(t)
	read, err := readQuestion(in.question, in.replay)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.replayer(); err != nil {
		t.Errorf("the runs cannot do with the question: %v", err)
	}
}

func TestAQuestionThatNoConfigMapHoldsIsInvalid(t *testing.T) {
	t.Parallel()
	in := asked()
	in.replay.Spec.Arrivals, in.replay.Spec.Trace = nil, &v1alpha1.ReplayTrace{ConfigMap: &v1alpha1.ConfigMapKey{Name: "traces", Key: "week.csv"}}
	for i := range 5000 {
		w := profiled()
		w.Name = fmt.Sprintf("job-%d", i)
		in.workloads = append(in.workloads, w)
	}
	p := mustDecide(t, in)
	got := told(p).Condition
	if !strings.HasPrefix(got, "False Invalid: the replay and the 5001 profiles of its namespace take ") || p.start != nil {
		t.Errorf("the condition is %q", got)
	}
}
