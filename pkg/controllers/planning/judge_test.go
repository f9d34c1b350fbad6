package planning

import (
	"context"
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// changed returns a world in which a change was proposed and made, and observed for a while since.
func changed(t *testing.T, action, of string, made func(*testing.T, *world), since time.Duration) (*world, *v1alpha1.Remediation) {
	t.Helper()
	w := newWorld(t, policy(allowing(action)))
	w.propose(t)
	r := w.of(t, of)
	w.clock.Step(10 * time.Second) // before it is started
	w.pass(10 * time.Second)
	made(t, w)
	w.become(t, r, w.running(10*time.Second))
	w.pass(since)
	return w, r
}

// limitRaised has the limit of web/api raised, so that nothing holds it back.
func limitRaised(t *testing.T, w *world) {
	t.Helper()
	change(t, w, &corev1.Pod{}, "web", "api", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1")
	})
	w.seen["worker-3"] = []usage.Pod{sees("api", 0.5, 0, 0)}
}

// cartMoved has another pod in the place of shop/cart, on worker-2.
func cartMoved(t *testing.T, w *world) {
	t.Helper()
	for _, err := range []error{w.Delete(t.Context(), pod("shop", "cart", "", "50m", "")), w.Create(t.Context(), pod("shop", "cart-anew", "worker-2", "50m", ""))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.seen["worker-1"] = []usage.Pod{sees("sort", 1, 0, 0)}
	w.seen["worker-2"] = []usage.Pod{sees("cart-anew", 0.6, 0, 0)}
}

func replaced(r *v1alpha1.Remediation, node string) {
	r.Status.Replacement = &v1alpha1.RemediationPod{Name: "cart-anew", UID: "uid-cart-anew", Node: node}
}

func TestARaisedLimitHasWonWhatItHeldBack(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", limitRaised, 5*time.Minute)
	j := w.judged(t, r)
	if j.Unknown != "" || j.CostsOthers != "" || !(j.Low > 0.3 && j.Low <= j.Win && j.Win <= j.High && j.High < 0.6) {
		t.Errorf("the judgement is %+v", j)
	}
}

// Of the time before nothing is kept of disks any more, so that what the pod waits there now says nothing of the change.
func TestAJudgementLeavesOutWaitingAtDisks(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", func(t *testing.T, w *world) {
		limitRaised(t, w)
		p := &w.seen["worker-3"][0]
		p.DiskLoading, p.Blocked, p.Disks = 0.5, 5, []usage.PodDisk{{Name: "vda", ReadOperations: 1000, ReadBytes: 4096000}}
		w.disks = map[string][]usage.Disk{"worker-3": {{
			Name: "vda", Number: "254:0", Reads: usage.Transfers{Operations: 5000, Bytes: 5000 * 4096, Seconds: 25}, BusySeconds: 10, QueuedSeconds: 25,
			Service: []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 1e-3, Intervals: 9}},
		}}}
	}, 5*time.Minute)
	if j := w.judged(t, r); j.Unknown != "" || !(j.Low > 0.3 && j.Win <= j.High && j.High < 0.6) {
		t.Errorf("the judgement is %+v", j)
	}
}

func TestAMoveHasWonWhatThePodWaited(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionMove, "shop/cart", cartMoved, 5*time.Minute)
	replaced(r, "worker-2")
	j := w.judged(t, r)
	if j.Unknown != "" || j.CostsOthers != "" || !(j.Low > 2 && j.Low <= j.Win && j.Win <= j.High && j.Win > 5) {
		t.Errorf("the judgement is %+v", j)
	}
}

// Another manager leads since the change was made, and gauges told it all that they keep: that is enough.
func TestAChangeIsJudgedByWhatGaugesRecall(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", limitRaised, 5*time.Minute)
	if nodes, err := NodesUnderWay(t.Context(), w); err != nil || !maps.Equal(nodes, map[string]bool{"worker-3": true}) {
		t.Errorf("the nodes with changes under way are %v, %v", nodes, err)
	}
	want := w.judged(t, r)
	all, _ := w.Collected.Report("worker-3", usage.MaxIntervals)
	last := all.Intervals[max(0, len(all.Intervals)-collect.MaxRecalled):]
	w.Collected = collected.New(w.clock)
	w.Collected.Add(&collect.Observed{Gauge: collect.Gauge{ID: "gauge", Node: "worker-3"}, Intervals: last, Ended: w.clock.Now()})
	if got := w.judged(t, r); got.Unknown != "" || math.Abs(got.Win-want.Win) > 0.01 {
		t.Errorf("the judgement is %+v, and by all that was observed %+v", got, want)
	}
	w.become(t, r, w.ended(v1alpha1.ReasonSucceeded, true))
	if nodes, err := NodesUnderWay(t.Context(), w); err != nil || len(nodes) > 0 {
		t.Errorf("the nodes with changes under way are %v, %v", nodes, err)
	}
}

// A limit that was raised to no avail has won nothing.
func TestAChangeThatHelpedNothingHasWonNothing(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", func(t *testing.T, w *world) {
		t.Helper()
		limitRaised(t, w)
		w.seen["worker-3"] = []usage.Pod{sees("api", 0.5, 0.5, 0)}
	}, 5*time.Minute)
	if j := w.judged(t, r); j.Unknown != "" || j.Win > 0 {
		t.Errorf("the judgement is %+v", j)
	}
}

func TestAPodThatPaysMoreThanWasPredictedIsNamed(t *testing.T) {
	t.Parallel()
	pays := func(predicted, dilation float64) string {
		w, r := changed(t, v1alpha1.ActionMove, "shop/cart", func(t *testing.T, w *world) {
			t.Helper()
			cartMoved(t, w)
			if err := w.Create(t.Context(), pod("web", "victim", "worker-2", "100m", "")); err != nil {
				t.Fatal(err)
			}
			w.seen["worker-2"] = append(w.seen["worker-2"], sees("victim", 0.9, 1-1/dilation, 0))
		}, 5*time.Minute)
		replaced(r, "worker-2")
		r.Spec.Prediction.Pods = append(r.Spec.Prediction.Pods, v1alpha1.PredictedPod{
			Namespace: "web", Name: "victim", Now: remediations.Quantity(1), Then: remediations.Quantity(predicted),
		})
		j := w.judged(t, r)
		if j.Unknown != "" {
			t.Errorf("the judgement is %+v", j)
		}
		return j.CostsOthers
	}
	if costs := pays(1, 8); !strings.Contains(costs, "the dilation of web/victim is at 8.00 in place of") {
		t.Errorf("of a pod that pays more is said %q", costs)
	}
	if costs := pays(8, 8); costs != "" {
		t.Errorf("of a pod that pays as predicted is said %q", costs)
	}
	if costs := pays(1, 1.1); costs != "" {
		t.Errorf("of a pod that is hardly slower is said %q", costs)
	}
}

func TestWhatIsNotKnownYetIsAskedAgain(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", limitRaised, 20*time.Second)
	j := w.judged(t, r)
	if j.Final || j.Unknown != "node worker-3: 2 of the 3 intervals that it takes were collected since the change was made" {
		t.Errorf("the judgement is %+v", j)
	}
	w.pass(time.Minute)
	if j := w.judged(t, r); j.Unknown != "" {
		t.Errorf("a minute later the judgement is %+v", j)
	}
}

func TestWhatCannotBeKnownIsFinal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		since func(*testing.T, *world, *v1alpha1.Remediation)
		want  string
		final bool
	}{
		"a manager that was restarted": {func(_ *testing.T, w *world, _ *v1alpha1.Remediation) {
			w.Collected = collected.New(w.clock)
			w.pass(5 * time.Minute)
		}, "node worker-3: 0 of the 2 intervals that it takes are kept of the time before the change", true},
		"a manager that was just restarted": {func(_ *testing.T, w *world, _ *v1alpha1.Remediation) {
			w.Collected = collected.New(w.clock)
		}, "node worker-3: nothing was collected from its gauge", false},
		"a node that is gone": {func(t *testing.T, w *world, _ *v1alpha1.Remediation) {
			t.Helper()
			if err := w.Delete(t.Context(), worker("worker-3")); err != nil {
				t.Fatal(err)
			}
		}, "node worker-3 is gone", true},
		"a pod that is gone": {func(t *testing.T, w *world, _ *v1alpha1.Remediation) {
			t.Helper()
			if err := w.Delete(t.Context(), pod("web", "api", "", "1", "")); err != nil {
				t.Fatal(err)
			}
		}, "web/api is gone", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", limitRaised, 5*time.Minute)
			test.since(t, w, r)
			if j := w.judged(t, r); !strings.HasPrefix(j.Unknown, test.want) || j.Final != test.final {
				t.Errorf("the judgement is %+v", j)
			}
		})
	}
}

func TestAPodThatIsNotObservedIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", func(_ *testing.T, w *world) { w.seen["worker-3"] = nil }, 5*time.Minute)
	if j := w.judged(t, r); j.Final || j.Unknown != "web/api has not been observed for long enough" {
		t.Errorf("the judgement is %+v", j)
	}
}

// What was observed before an earlier change of the node does not count.
func TestTheTimeBeforeAChangeBeginsAfterAnEarlierOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ago     time.Duration
		outcome string
		final   bool
	}{
		"an earlier one":             {10 * time.Minute, v1alpha1.ReasonSucceeded, false},
		"one just before":            {5*time.Minute + 30*time.Second, v1alpha1.ReasonUnproven, true},
		"one just before, undone":    {5*time.Minute + 30*time.Second, v1alpha1.ReasonRolledBack, false},
		"one that was made later":    {time.Minute, v1alpha1.ReasonSucceeded, false},
		"one that is running as yet": {10 * time.Minute, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", limitRaised, 5*time.Minute)
			other := raised("other")
			other.Spec.Pod.Node = "worker-3"
			if err := w.Create(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			status := w.running(test.ago)
			if test.outcome != "" {
				status.Conditions = w.ended(test.outcome, true).Conditions
			}
			w.become(t, other, status)
			if j := w.judged(t, r); j.Final != test.final || (j.Unknown != "") != test.final {
				t.Errorf("the judgement is %+v", j)
			}
		})
	}
}

func TestAMoveToTheSameNodeIsNotJudged(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionMove, "shop/cart", cartMoved, 5*time.Minute)
	replaced(r, "worker-1")
	if j := w.judged(t, r); !j.Final || j.Unknown == "" {
		t.Errorf("the judgement is %+v", j)
	}
}

func TestAnErrorOfTheAPIServerIsReturned(t *testing.T) {
	t.Parallel()
	w, r := changed(t, v1alpha1.ActionRaiseLimit, "web/api", limitRaised, 5*time.Minute)
	j := w.judge()
	j.API = interceptor.NewClient(w.WithWatch, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("the server is gone")
	}})
	if _, err := j.Judge(t.Context(), r); err == nil || err.Error() != "listing pods: the server is gone" {
		t.Errorf("the error is %v", err)
	}
}

// Intervals that began before the change was made, or ended after it was started, count for neither, also by a clock of the node that is wrong.
func TestIntervalsAreBeforeOrSinceByBothClocks(t *testing.T) {
	t.Parallel()
	now := noon
	r := usage.Report{AgeSeconds: 5}
	for i := range 6 { // with a gap of 8 seconds before the last two
		end := noon.Add(time.Hour).Add(-time.Duration(5-i) * 10 * time.Second)
		if i < 4 {
			end = end.Add(-8 * time.Second)
		}
		r.Intervals = append(r.Intervals, usage.Interval{Start: end.Add(-10 * time.Second), End: end, Seconds: 10})
	}
	// The last one ended 5 seconds ago; by their lengths, the fourth began 35 seconds ago, and by the clock of the node 43.
	for ago, want := range map[int]int{5: 0, 15: 1, 24: 1, 25: 2, 35: 2, 43: 3, 44: 3, 53: 4} {
		if got := len(since(&r, now.Add(-time.Duration(ago)*time.Second), now)); got != want {
			t.Errorf("%d began since %d seconds ago, want %d", got, ago, want)
		}
	}
	for ago, want := range map[int]int{5: 6, 6: 5, 25: 4, 26: 3, 33: 3, 65: 0} {
		if got := len(until(&r, now.Add(-time.Duration(ago)*time.Second), now)); got != want {
			t.Errorf("%d had ended %d seconds ago, want %d", got, ago, want)
		}
	}
}
