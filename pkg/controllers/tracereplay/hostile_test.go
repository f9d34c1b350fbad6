package tracereplay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/slots"
)

func TestAPodWakesTheReplayThatItNames(t *testing.T) {
	t.Parallel()
	named := func(annotations map[string]string) []reconcile.Request {
		return replayOfPod(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{replayKey: "x"}, Annotations: annotations}})
	}
	if diff := cmp.Diff([]reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "compare"}}}, named(map[string]string{replayKey: "compare"})); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
	for _, annotations := range []map[string]string{nil, {replayKey: ""}, {replayKey: "a/b"}, {replayKey: "Compare"}} {
		if got := named(annotations); got != nil {
			t.Errorf("%v wakes %v", annotations, got)
		}
	}
}

// A user who may write in a namespace can write, or make first, the objects that the controller
// makes for a replay there.
func TestWhatTheControllerCannotHaveMadeIsNamedAndNotTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	rewritten := func(change func(*v1alpha1.TraceReplay)) func(*testing.T) *input {
		return func(t *testing.T) *input {
			t.Helper()
			in := begun(t)
			forged := in.replay.DeepCopy()
			change(forged)
			question, err := ask(forged, in.workloads, in.nodes).configMap(in.replay)
			if err != nil {
				t.Fatal(err)
			}
			in.question = question
			return in
		}
	}
	job := func(runs string) func(*testing.T) *input {
		return func(t *testing.T) *input {
			t.Helper()
			in := begun(t)
			in.jobs[0].Spec.Template.Annotations[runsKey] = runs
			return in
		}
	}
	failing := func(indexes string) func(*testing.T) *input {
		return func(t *testing.T) *input { t.Helper(); return begun(t).finish(indexes) }
	}
	const ofJob = `Job "compare-runs-1" is not as it was made for this TraceReplay: `
	for name, test := range map[string]struct {
		in   func(*testing.T) *input
		says string
	}{
		"a question with a thousand million runs": {rewritten(func(r *v1alpha1.TraceReplay) { r.Spec.Seeds = new(int32(1_000_000_000)) }), "key replay.yaml: it has another spec"},
		"a question with another policy":          {rewritten(func(r *v1alpha1.TraceReplay) { r.Spec.Policies = r.Spec.Policies[:1] }), "key replay.yaml: it has another spec"},
		"a question that is none":                 {func(t *testing.T) *input { t.Helper(); in := begun(t); in.question.Data = nil; return in }, `ConfigMap "compare-question" is not as it was made for this TraceReplay: key replay.yaml: unexpected EOF; delete it`},
		"a Job without runs of numbers":           {job("one\n"), ofJob + "annotation loadline.dev/runs of its pods: line 1 is not the number of a run"},
		"a Job with a run that there is not":      {job("0\n4\n"), ofJob + "annotation loadline.dev/runs of its pods: line 2: 4 is not another one of the 4 runs; delete it"},
		"a Job with a negative run":               {job("-1\n"), "line 1: -1 is not another one"},
		"a Job with more runs than there are":     {job(strings.Repeat("1\n", 5)), "line 5: 1 is not another one"},
		"a Job with an index that it has not":     {failing("0-2000000000"), ofJob + "status.failedIndexes: 0-2000000000 are not among the Job's 4 indexes"},
		"a Job with indexes that are none":        {failing("a"), "status.failedIndexes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := decide(test.in(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := told(p); !strings.HasPrefix(got.Condition, "False Pending: ") || !strings.Contains(got.Condition, test.says) || got.Starts != "" || len(got.Writes) > 0 || p.again != recheckAfter {
				t.Errorf("the plan is %+v, to look again after %v", got, p.again)
			}
		})
	}
}

func TestResultsOfRunsThatThereAreNotDoNotCount(t *testing.T) {
	t.Parallel()
	stored := &corev1.ConfigMap{Data: map[string]string{"run-0": result(t, 0), "run-4": result(t, 0), "run--1": result(t, 0)}}
	if got := readResults([]*corev1.ConfigMap{stored}, 4); len(got) != 1 || got[0] == nil {
		t.Errorf("%d results", len(got))
	}
}

func TestAReplayEndsWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	const why = "it had not ended after 24h0m0s, the --replay-timeout of loadline-manager"
	in := asked()
	in.begin(t)
	if got := *in.jobs[0].Spec.ActiveDeadlineSeconds; got != 86_400 {
		t.Errorf("the deadline of the first Job is %d s", got)
	}
	lost := begun(t).finish("")
	lost.now = metav1.NewTime(noon.Add(20 * time.Hour))
	if got := *mustDecide(t, lost).start.Spec.ActiveDeadlineSeconds; got != 4*3600 {
		t.Errorf("the deadline of a second Job after 20 h is %d s", got)
	}
	lost.now = metav1.NewTime(noon.Add(24 * time.Hour))
	overdue := begun(t).finish("")
	overdue.jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonDeadlineExceeded}}
	for name, in := range map[string]*input{"between two Jobs": lost, "in a Job": overdue} {
		p := mustDecide(t, in)
		if got := told(p); !strings.HasPrefix(got.Condition, "False Failed: no run ended well: ") || !strings.Contains(got.Condition, why) || got.Starts != "" || p.status.CompletionTime == nil {
			t.Errorf("%s: the plan is %+v", name, got)
		}
	}
}

// another is a replay like compare in some namespace.
func another(namespace, name string) *v1alpha1.TraceReplay {
	r := compare()
	r.Namespace, r.Name, r.UID = namespace, name, types.UID(namespace+"/"+name)
	return r
}

func TestReplaysTakeTurnsByNamespaces(t *testing.T) {
	t.Parallel()
	objects := []client.Object{another("etl", "r0")}
	for i := range 60 {
		objects = append(objects, another("shop", fmt.Sprintf("r%d", i)))
	}
	for _, namespace := range []string{"shop", "etl"} {
		p := profiled()
		p.Namespace = namespace
		objects = append(objects, &p)
	}
	c := newWorld(t, objects...)
	c.Slots = slots.NewShared(2, testingclock.NewFakePassiveClock(noon.Time))
	look := func(namespace, name string) {
		t.Helper()
		if _, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		look("shop", fmt.Sprintf("r%d", i))
	}
	look("etl", "r0")
	var jobs batchv1.JobList
	if err := c.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range jobs.Items {
		names = append(names, jobs.Items[i].Namespace+"/"+jobs.Items[i].Name)
	}
	if diff := cmp.Diff([]string{"etl/r0-runs-1", "shop/r0-runs-1"}, names); diff != "" {
		t.Errorf("unexpected Jobs (-want +got):\n%s", diff)
	}
	var waits v1alpha1.TraceReplay
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "r1"}, &waits); err != nil {
		t.Fatal(err)
	}
	if got := waits.Status.Conditions[0]; got.Reason != v1alpha1.ReasonPending || got.Message != queued {
		t.Errorf("the condition of one that waits is %+v", got)
	}
	c.Slots = slots.NewShared(2, testingclock.NewFakePassiveClock(noon.Time)) // the manager starts again
	look("shop", "r1")
	if err := c.List(t.Context(), &jobs); err != nil || len(jobs.Items) != 2 {
		t.Errorf("after a restart there are %d Jobs: %v", len(jobs.Items), err)
	}
}

func TestAReplayGivesItsSlotBack(t *testing.T) {
	t.Parallel()
	c := newWorld(t, compare(), new(profiled()))
	c.reconcile(t)
	if c.Slots.Free("other", "1234") {
		t.Fatal("it goes on without a slot")
	}
	job := c.job(t, "compare-runs-1")
	for index, run := range []int{0, 2, 1, 3} {
		c.run(t, job, index, run)
	}
	c.reconcile(t)
	if !c.Slots.Free("other", "1234") {
		t.Error("it has ended, and still has a slot")
	}
}
