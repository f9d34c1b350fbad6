package inflations_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/inflations"
	"loadline.dev/loadline/pkg/model/inflation"
)

var (
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key   = inflations.Key{Profile: types.NamespacedName{Namespace: "shop", Name: "cart"}, Class: "default"}
)

// service is a pod that does 100 units a second of 4 ms each, 1.3 times as much beside a thrasher.
type service struct {
	history  inflations.History
	pod      inflations.Pod
	count    float64
	thrasher string
	always   bool // the thrasher is there
}

func newService() *service {
	return &service{pod: inflations.Pod{UID: "uid-1", Name: "cart-1", Revision: "a"}, thrasher: "Deployment batch/thrash"}
}

// run has it serve from one half minute to another, with readings five seconds after the ends of spans.
func (s *service) run(from, to int) {
	const half = 30 * time.Second
	for i := from; i < to; i++ {
		start := begin.Add(time.Duration(i) * half)
		slower, beside := 1+0.01*math.Sin(float64(i*i)), map[string]inflations.Neighbour{"DaemonSet logs/agent": {CPU: 3, PodUID: "agent"}}
		if i/30%2 == 1 || s.always {
			slower *= 1.3
			beside[s.thrasher] = inflations.Neighbour{CPU: 30, PodUID: "thrash"}
		}
		rate := 100 + 20*math.Sin(float64(i)/20)
		s.history.Observe(key, s.pod, inflations.Span{Start: start, End: start.Add(half), CPU: 30 * rate * 0.004 * slower, Beside: beside})
		s.history.Read(s.pod.UID, start.Add(5*time.Second), s.count)
		s.count += 30 * rate
	}
}

// wantTooFew wants the intervals to be too few for an estimate.
func (s *service) wantTooFew(t *testing.T) {
	t.Helper()
	if _, err := s.history.Estimate(key); !errors.Is(err, inflation.ErrTooFew) {
		t.Errorf("got %v", err)
	}
}

func TestTheNeighbourThatMakesAServiceSlowerIsNamed(t *testing.T) {
	t.Parallel()
	s := newService()
	s.run(0, 240)
	e, err := s.history.Estimate(key)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(e.Inflation.Value-1.3) > 0.03 || math.Abs(e.Quiet.Value-0.004) > 0.0001 {
		t.Errorf("the inflation is %+v, and a unit takes %+v when quiet", e.Inflation, e.Quiet)
	}
	o := inflations.Observation("default", "shop", e)
	want := []v1alpha1.WorkNeighbour{{PodUID: "thrash"}} // of another namespace
	if diff := cmp.Diff(want, o.Neighbours.Named); diff != "" {
		t.Error(diff)
	}
	if o := inflations.Observation("default", "batch", e); o.Neighbours.Named[0].Workload != s.thrasher {
		t.Errorf("in its own namespace the neighbour is %+v", o.Neighbours.Named)
	}
	if inflations.Differs(&o, &o) {
		t.Error("an observation differs from itself")
	}
}

func TestAResetAndAGapOfTheCounterMakeNoWork(t *testing.T) {
	t.Parallel()
	s := newService()
	s.run(0, 60)
	s.count = 0 // the container was restarted
	s.run(60, 120)
	e, err := s.history.Estimate(key)
	if err != nil {
		t.Fatal(err)
	}
	if e.Slots < 58 || e.Slots > 60 || math.Abs(e.PerUnit-0.004) > 0.0002 {
		t.Errorf("%d slots, %v CPU seconds for each unit", e.Slots, e.PerUnit)
	}
	gap := newService()
	gap.run(0, 2)
	gap.run(40, 42)
	gap.wantTooFew(t)
}

func TestAnotherVersionOfThePodsBeginsAnew(t *testing.T) {
	t.Parallel()
	s := newService()
	s.run(0, 100)
	s.pod, s.count = inflations.Pod{UID: "uid-2", Name: "cart-2", Revision: "b"}, 0
	s.run(100, 110)
	s.wantTooFew(t)
}

// A manager that begins anew knows from the status what was quiet, though a neighbour has been there ever since.
func TestWhatAStatusSaysIsRemembered(t *testing.T) {
	t.Parallel()
	first := newService()
	first.run(0, 240)
	e, err := first.history.Estimate(key)
	if err != nil {
		t.Fatal(err)
	}
	o := inflations.Observation(key.Class, "shop", e)
	now := begin.Add(2 * time.Hour)
	for name, test := range map[string]struct {
		change func(s *service, o *v1alpha1.WorkObservation)
		want   float64
	}{
		"as it is":              {func(*service, *v1alpha1.WorkObservation) {}, 1.3},
		"of other pods":         {func(_ *service, o *v1alpha1.WorkObservation) { o.Revision = "b" }, 1},
		"of a version before":   {func(_ *service, o *v1alpha1.WorkObservation) { o.Overhead = nil }, 1},
		"of this morning":       {func(_ *service, o *v1alpha1.WorkObservation) { o.Time = new(metav1.NewTime(now.Add(-7 * time.Hour))) }, 1},
		"of tomorrow":           {func(_ *service, o *v1alpha1.WorkObservation) { o.Time = new(metav1.NewTime(now.Add(7 * time.Hour))) }, 1},
		"that is impossible":    {func(_ *service, o *v1alpha1.WorkObservation) { o.Overhead = new(resource.MustParse("1e9")) }, 1},
		"of less than now":      {func(_ *service, o *v1alpha1.WorkObservation) { o.Minutes = new(int32(10)) }, 1},
		"where more is kept":    {func(s *service, _ *v1alpha1.WorkObservation) { s.run(200, 240) }, 1},
		"of nearly no interval": {func(_ *service, o *v1alpha1.WorkObservation) { o.Minutes = new(int32(-1)) }, 1},
	} {
		o, s := *o.DeepCopy(), newService()
		s.always = true
		test.change(s, &o)
		s.history.Remember(key, &o, now)
		s.run(240, 300)
		e, err := s.history.Estimate(key)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Inflation.Value-test.want) > 0.03 {
			t.Errorf("%s: the inflation is %+v, want %v", name, e.Inflation, test.want)
		}
		if after := inflations.Observation(key.Class, "shop", e); test.want > 1 && *after.Minutes < *o.Minutes+20 {
			t.Errorf("%s: after %d minutes they are %d", name, *o.Minutes, *after.Minutes)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	s := newService()
	for k := range 60 {
		s.pod.UID, s.pod.Name, s.count = fmt.Sprint("uid-", k), fmt.Sprint("cart-", k), 0
		s.thrasher = fmt.Sprint("Job batch/thrash-", k)
		s.run(0, 120)
	}
	e, err := s.history.Estimate(key)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Pods) > 40 || len(e.Neighbours) > 24 {
		t.Errorf("%d pods and %d neighbours are kept", len(e.Pods), len(e.Neighbours))
	}
	if keys := s.history.Keys(begin.Add(24 * time.Hour)); len(keys) > 0 {
		t.Errorf("%v are kept for a day", keys)
	}
	s.wantTooFew(t)
}

func TestAPodServesAsItsProfileSays(t *testing.T) {
	t.Parallel()
	s := newService()
	s.run(0, 240)
	e, err := s.history.Estimate(key)
	if err != nil {
		t.Fatal(err)
	}
	p := &v1alpha1.WorkloadProfile{Spec: v1alpha1.WorkloadProfileSpec{Work: &v1alpha1.Work{Unit: "request"}}}
	p.Status.Work = []v1alpha1.WorkObservation{inflations.Observation("default", "shop", e)}
	if got := inflations.Of(p, "cart-1", nil); got != nil {
		t.Errorf("without the condition: %+v", got)
	}
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionWorkObserved, Status: metav1.ConditionTrue}}
	thrash := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "thrash"}}
	for want, pods := range map[string]map[string]*corev1.Pod{"Pod batch/thrash": {"thrash": thrash}, "a pod of another namespace": nil} {
		got := inflations.Of(p, "cart-1", pods)
		if got == nil || got.Unit != "request" || math.Abs(got.Inflation-1.3) > 0.05 || !cmp.Equal(got.Beside, []string{want}) {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	p.Status.Work = append(p.Status.Work, p.Status.Work[0])
	if got := inflations.Of(p, "cart-2", nil); got != nil {
		t.Errorf("of a pod that was not read, on nodes of some class: %+v", got)
	}
}
