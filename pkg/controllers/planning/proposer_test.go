package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/proposals"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	moveOfCart = "shop/cart: move to worker-2"
	limitOfAPI = "web/api: limit 300m → 1 of main"
)

// is fails the test unless some changes are proposed, and no others.
func (w *world) is(t *testing.T, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, w.proposed(t)); diff != "" {
		t.Errorf("proposed (-want +got):\n%s", diff)
	}
}

func TestThePlanOfAPolicyIsProposedWhateverItsMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{v1alpha1.RemediationAdvise, v1alpha1.RemediationApprove, v1alpha1.RemediationAutomatic} {
		w := newWorld(t, policy(func(s *v1alpha1.RemediationPolicySpec) {
			s.Mode, s.Allow = mode, []string{v1alpha1.ActionMove, v1alpha1.ActionRaiseLimit}
		}))
		w.propose(t)
		w.is(t, moveOfCart, limitOfAPI)
	}
}

func TestAProposalSaysWhatItDoesAndWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	r := w.of(t, "shop/cart")
	want := v1alpha1.RemediationSpec{
		Policy: "all", Pod: v1alpha1.RemediationPod{Name: "cart", UID: "uid-cart", Node: "worker-1"},
		Workload: &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"},
		Change:   v1alpha1.RemediationChange{Action: v1alpha1.ActionMove, ToNode: "worker-2"},
	}
	p := r.Spec.Prediction
	r.Spec.Prediction = v1alpha1.RemediationPrediction{}
	if diff := cmp.Diff(want, r.Spec); diff != "" || !strings.HasPrefix(r.Name, "cart-move-") {
		t.Errorf("%s: %s", r.Name, diff)
	}
	if win := p.Win.AsApproximateFloat64(); win < 5 || p.Low.AsApproximateFloat64() <= 0 || p.Low.Cmp(*p.Win) > 0 || p.Win.Cmp(*p.High) > 0 {
		t.Errorf("wins %s (%s to %s)", p.Win, p.Low, p.High)
	}
	if len(p.Pods) != 2 || p.Pods[0].Name != "cart" || p.Pods[0].Now.String() != "6600m" || p.Pods[0].Then.String() != "1" {
		t.Errorf("of pods is predicted %v", p.Pods)
	}
}

func TestNothingIsProposedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	first := w.all(t)
	w.pass(time.Minute)
	w.propose(t)
	if diff := cmp.Diff(first, w.all(t)); diff != "" {
		t.Error(diff)
	}
	// Two managers that see the same make the same.
	other := newWorld(t, policy())
	other.propose(t)
	if first[0].Name != other.all(t)[0].Name || first[1].Name != other.all(t)[1].Name {
		t.Errorf("the names are %s and %s, and of another manager %s and %s", first[0].Name, first[1].Name, other.all(t)[0].Name, other.all(t)[1].Name)
	}
}

func TestAProposalThatDoesNotWinAnyMoreIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	w.seen["worker-3"] = []usage.Pod{sees("api", 0.2, 0, 0)}
	w.pass(6 * time.Minute)
	w.propose(t)
	w.is(t, moveOfCart)
	if n := testutil.ToFloat64(w.Metrics.withdrawn); n != 1 {
		t.Errorf("%v are counted", n)
	}
	w.seen["worker-3"] = []usage.Pod{sees("api", 0.5, 0, 0.4)}
	w.pass(6 * time.Minute)
	w.propose(t)
	w.is(t, moveOfCart, limitOfAPI)
}

// A change that was started since it was read is not withdrawn.
func TestAChangeThatIsStartedMeanwhileStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	w.seen["worker-3"] = []usage.Pod{sees("api", 0.2, 0, 0)}
	w.pass(6 * time.Minute)
	w.Client = interceptor.NewClient(w.WithWatch, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
		w.become(t, w.of(t, "web/api"), w.running(time.Second))
		return c.Delete(ctx, o, options...)
	}})
	w.propose(t)
	w.is(t, moveOfCart, limitOfAPI)
}

func TestOnlyWhatThePolicyLetsIsProposed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policies []client.Object
		change   func(*testing.T, *world)
		want     []string
	}{
		"no policy": {nil, nil, nil},
		"limits":    {[]client.Object{policy(allowing(v1alpha1.ActionRaiseLimit))}, nil, []string{limitOfAPI}},
		"moves":     {[]client.Object{policy(allowing(v1alpha1.ActionMove))}, nil, []string{moveOfCart}},
		"pods of a namespace": {[]client.Object{policy(func(s *v1alpha1.RemediationPolicySpec) {
			s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "web"}}
		})}, nil, nil},
		"pods that have been running for longer": {[]client.Object{policy(func(s *v1alpha1.RemediationPolicySpec) { s.MinPodAgeSeconds = new(int32(7200)) })}, nil, nil},
		"pods that are slowed down more": {
			[]client.Object{policy(func(s *v1alpha1.RemediationPolicySpec) { s.Above = new(resource.MustParse("3")) })}, nil, []string{moveOfCart},
		},
		"where the API server resizes no pods": {[]client.Object{policy()}, func(_ *testing.T, w *world) {
			w.Resizable = func(context.Context) (bool, error) { return false, nil }
		}, []string{moveOfCart}},
		"where moves come from another scheduler": {[]client.Object{policy(allowing(v1alpha1.ActionMove))}, func(t *testing.T, w *world) {
			t.Helper()
			for _, of := range [][2]string{{"shop", "cart"}, {"etl", "sort"}} {
				change(t, w, &corev1.Pod{}, of[0], of[1], func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" })
			}
		}, nil},
		"where a namespace is stopped": {[]client.Object{policy(allowing(v1alpha1.ActionRaiseLimit))}, func(t *testing.T, w *world) {
			t.Helper()
			w.label(t, "web")
		}, nil},
		"where all are stopped": {[]client.Object{policy()}, func(t *testing.T, w *world) {
			t.Helper()
			w.label(t, "loadline-system")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.policies...)
			if test.change != nil {
				test.change(t, w)
			}
			w.propose(t)
			w.is(t, test.want...)
		})
	}
}

// label has the pods of a namespace left alone.
func (w *world) label(t *testing.T, name string) {
	t.Helper()
	change(t, w, &corev1.Namespace{}, "", name, func(n *corev1.Namespace) {
		n.Labels = map[string]string{v1alpha1.RemediationLabel: v1alpha1.RemediationOff}
	})
}

// Each pod is changed as the policy says that it belongs to.
func TestAPodIsChangedByThePolicyThatItBelongsTo(t *testing.T) {
	t.Parallel()
	limits := policy(allowing(v1alpha1.ActionRaiseLimit))
	limits.Name = "limits"
	w := newWorld(t, limits, policy())
	w.propose(t)
	w.is(t, limitOfAPI) // the other one advises, and comes second
	if r := w.of(t, "web/api"); r.Spec.Policy != "limits" {
		t.Errorf("the policy is %s", r.Spec.Policy)
	}
	if err := w.Delete(t.Context(), limits); err != nil {
		t.Fatal(err)
	}
	w.propose(t)
	w.is(t, moveOfCart, limitOfAPI)
	if r := w.of(t, "web/api"); r.Spec.Policy != "all" {
		t.Errorf("the policy is %s", r.Spec.Policy)
	}
}

// While a change is running, nothing is proposed on its nodes, and what is proposed there waits as it is.
func TestNothingIsProposedWhereAChangeIsRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	cart := w.of(t, "shop/cart")
	w.become(t, cart, w.running(time.Minute))
	another := pod("web", "other", "worker-2", "10m", "100m")
	if err := w.Create(t.Context(), another); err != nil {
		t.Fatal(err)
	}
	w.seen["worker-2"] = []usage.Pod{sees("other", 0.5, 0, 0.6)}
	w.seen["worker-3"] = []usage.Pod{sees("api", 0.2, 0, 0)}
	w.pass(6 * time.Minute)
	w.propose(t)
	w.is(t, moveOfCart) // nothing on worker-2, and that on worker-3 is withdrawn

	w.become(t, w.of(t, "shop/cart"), w.ended(v1alpha1.ReasonUnproven, true))
	w.propose(t)
	w.is(t) // the nodes were not observed since
	w.pass(2 * time.Minute)
	w.propose(t)
	if all := w.proposed(t); !mostly(all, "web/other: limit 100m") {
		t.Errorf("proposed are %v", all)
	}
}

func TestAProposalOnANodeWithAChangeWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	api := w.of(t, "web/api")
	w.become(t, api, w.running(time.Minute))
	waiting := api.DeepCopy()
	waiting.ObjectMeta, waiting.Status = metav1.ObjectMeta{Namespace: "web", Name: "waiting"}, v1alpha1.RemediationStatus{}
	waiting.Spec.Change.Limit.To = new(resource.MustParse("2"))
	if err := w.Create(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	w.propose(t)
	w.is(t, moveOfCart, limitOfAPI, "web/api: limit 300m → 2 of main")
}

func TestAChangeThatDidNotComeTrueIsNotProposedAgainForADay(t *testing.T) {
	t.Parallel()
	for _, outcome := range []string{v1alpha1.ReasonFailed, v1alpha1.ReasonRolledBack, v1alpha1.ReasonRejected} {
		w := newWorld(t, policy(allowing(v1alpha1.ActionRaiseLimit)))
		w.propose(t)
		w.become(t, w.of(t, "web/api"), w.ended(outcome, outcome != v1alpha1.ReasonRejected))
		w.pass(2 * time.Hour)
		w.propose(t)
		w.is(t)
		w.pass(23 * time.Hour)
		w.propose(t)
		w.is(t, limitOfAPI)
	}
}

func TestAChangeThatExpiredIsProposedAgainUnderAnotherName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy(allowing(v1alpha1.ActionRaiseLimit)))
	w.propose(t)
	w.become(t, w.of(t, "web/api"), w.ended(v1alpha1.ReasonExpired, false))
	w.propose(t)
	w.is(t, limitOfAPI)
	if all := w.all(t); len(all) != 2 {
		t.Errorf("there are %d Remediations", len(all))
	}
}

func TestAWorkloadIsLeftAloneAfterAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy(allowing(v1alpha1.ActionRaiseLimit)))
	earlier := raised("earlier")
	if err := w.Create(t.Context(), earlier); err != nil {
		t.Fatal(err)
	}
	w.become(t, earlier, w.ended(v1alpha1.ReasonSucceeded, true))
	w.pass(20 * time.Minute)
	w.propose(t)
	w.is(t)
	w.pass(15 * time.Minute)
	w.propose(t)
	w.is(t, limitOfAPI)
}

// raised is a change of another pod of the workload of web/api, on another node.
func raised(name string) *v1alpha1.Remediation {
	return &v1alpha1.Remediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name},
		Spec: v1alpha1.RemediationSpec{
			Policy: "all", Pod: v1alpha1.RemediationPod{Name: "api-2", UID: "uid-api-2", Node: "worker-9"},
			Workload: &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "api"},
			Change: v1alpha1.RemediationChange{
				Action: v1alpha1.ActionRaiseLimit, Container: "main", Limit: &v1alpha1.CPUChange{From: new(resource.MustParse("300m")), To: new(resource.MustParse("1"))},
			},
			Prediction: v1alpha1.RemediationPrediction{Win: remediations.Quantity(1), Low: remediations.Quantity(0.5), High: remediations.Quantity(1.5)},
		},
	}
}

// Proposals stay as they are while it is not known what they win.
func TestProposalsStayWhileTheirNodesAreNotObserved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	restarted := newWorld(t, policy())
	restarted.Client, restarted.API = w.WithWatch, w.WithWatch
	w.Collected = restarted.Collected
	delete(w.seen, "worker-3")
	w.clock.SetTime(noon.Add(24 * time.Hour)) // so that all that was observed is forgotten
	w.Collected.EndRound(nil)
	w.propose(t)
	w.is(t, moveOfCart, limitOfAPI)
}

func TestThereIsABoundOnProposals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy(allowing(v1alpha1.ActionRaiseLimit)))
	w.seen["worker-3"] = nil
	for i := range proposals.Most + 20 {
		name, node := fmt.Sprintf("api-%03d", i), fmt.Sprintf("node-%03d", i)
		p := pod("web", name, node, "100m", "300m")
		for _, o := range []client.Object{worker(node), p} {
			if err := w.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		w.seen[node] = []usage.Pod{sees(name, 0.5, 0, 0.4)}
	}
	w.pass(6 * time.Minute)
	w.propose(t)
	if n := len(w.all(t)); n != proposals.Most {
		t.Errorf("%d changes are proposed", n)
	}
	w.propose(t)
	if n := len(w.all(t)); n != proposals.Most {
		t.Errorf("%d changes are proposed in the end", n)
	}
}

func TestOneProposalThatIsRefusedDoesNotKeepOthersFromBeingMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.Client = interceptor.NewClient(w.WithWatch, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		if o.GetNamespace() == "shop" {
			return errors.New("refused")
		}
		return c.Create(ctx, o, options...)
	}})
	err := w.Propose(t.Context())
	if err == nil || !strings.Contains(err.Error(), "proposing Remediation shop/cart-move-") || testutil.ToFloat64(w.Metrics.errors.WithLabelValues(writing)) != 1 {
		t.Errorf("the error is %v", err)
	}
	w.is(t, limitOfAPI)
}

// refusing returns a client that cannot list the objects of one kind.
func refusing[L client.ObjectList](c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if _, is := list.(L); is {
			return errors.New("the server is gone")
		}
		return c.List(ctx, list, options...)
	}})
}

// An API server takes longer to list the pods of a large cluster than there is between two plans.
func TestPodsAreNotListedPastTheCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.API = refusing[*corev1.PodList](w.WithWatch)
	w.propose(t)
	w.is(t, moveOfCart, limitOfAPI)
}

func TestFiltersAreSetUpWhereAPodMayBeMoved(t *testing.T) {
	t.Parallel()
	for want, allow := range map[bool][]string{true: nil, false: {v1alpha1.ActionRaiseLimit, v1alpha1.ActionRaiseRequest}} {
		w := newWorld(t, policy(func(s *v1alpha1.RemediationPolicySpec) { s.Allow = allow }))
		in, err := w.gather(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := in.options.Feasibility != nil; got != want {
			t.Errorf("where %v is allowed: %t", allow, got)
		}
	}
}

func TestErrorsOfReadingAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.API = refusing[*corev1.NodeList](w.WithWatch)
	if err := w.Propose(t.Context()); err == nil || err.Error() != "listing nodes: the server is gone" {
		t.Errorf("the error is %v", err)
	}
	if testutil.ToFloat64(w.Metrics.errors.WithLabelValues(reading)) != 1 {
		t.Error("it is not counted")
	}
}

func TestTheExcessIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.propose(t)
	now, left := testutil.ToFloat64(w.Metrics.excess.WithLabelValues("now")), testutil.ToFloat64(w.Metrics.excess.WithLabelValues("left"))
	if now < 5.5 || left > 0.1 {
		t.Errorf("%v now, and %v left", now, left)
	}
	if err := w.Delete(t.Context(), policy()); err != nil {
		t.Fatal(err)
	}
	w.propose(t)
	if n := testutil.CollectAndCount(w.Metrics.excess); n != 0 {
		t.Errorf("%d numbers without a policy", n)
	}
}

// What changes won calibrates what others are predicted to win.
func TestEarlierChangesCalibratePredictions(t *testing.T) {
	t.Parallel()
	low := func(ratio float64) float64 {
		w := newWorld(t, policy(allowing(v1alpha1.ActionRaiseLimit)))
		for i := range 20 {
			earlier := raised(fmt.Sprintf("earlier-%d", i))
			earlier.Spec.Workload.Name = "other"
			if err := w.Create(t.Context(), earlier); err != nil {
				t.Fatal(err)
			}
			status := w.ended(v1alpha1.ReasonSucceeded, true)
			won := remediations.Quantity(ratio)
			status.Realized = &v1alpha1.RealizedWin{Win: won, Low: won, High: won, Ratio: won}
			w.become(t, earlier, status)
		}
		w.pass(6 * time.Minute)
		w.propose(t)
		return w.of(t, "web/api").Spec.Prediction.Low.AsApproximateFloat64()
	}
	if less, more := low(0.6), low(1); !(less < more) {
		t.Errorf("where changes won less than was predicted, the interval begins at %v, and else at %v", less, more)
	}
}

// It proposes every minute once the gauges were asked, and ends with its context.
func TestItProposesEveryMinuteOnceGaugesWereAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Collected = collected.New(w.clock)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	listed := make(chan struct{}, 10)
	w.Client = interceptor.NewClient(w.WithWatch, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		listed <- struct{}{}
		return c.List(ctx, list, options...)
	}})
	go func() { ended <- w.Start(ctx) }()
	step := func(by time.Duration) {
		t.Helper()
		err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) { return w.clock.HasWaiters(), nil })
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Step(by)
	}
	step(soon)
	step(0) // it waits again
	if len(listed) > 0 {
		t.Error("it has proposed before the gauges were asked")
	}
	w.Collected.EndRound(nil)
	step(soon)
	<-listed
	step(every)
	<-listed
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// In a large cluster less of the past is looked at, and still as much as it takes.
func TestSightsOfManyNodesAreShorter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	number := func() int { return len(slices.Collect(sights(w.Collected, nil, w.clock.Now()))[0].Intervals) }
	if n := number(); n != 13 { // nine as the gauges have them, and four of a minute
		t.Errorf("of three nodes, %d intervals are looked at", n)
	}
	for i := range allIntervals / fewest {
		w.seen[fmt.Sprintf("other-%04d", i)] = nil
	}
	w.pass(2 * time.Minute)
	all := slices.Collect(sights(w.Collected, nil, w.clock.Now()))
	if n := number(); n != fewest || all[0].Problem != "" {
		t.Errorf("of %d nodes, %d intervals are looked at: %s", len(all), n, all[0].Problem)
	}
}
