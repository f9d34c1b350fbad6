package measurement

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/slots"
)

func TestATargetThatDoesNotEndIsGivenUp(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Hour
	days := func(m *v1alpha1.Measurement) {
		m.TimeoutSeconds, m.BudgetSeconds = new(int64(86_400)), new(int64(604_800))
	}
	s := newSimulation(t, filecomp(only("cpu"), days), targetJob(), worker("worker-1", 1))
	s.reconciler.Probes.MaxTime, s.neutral = limit, 1000*time.Hour
	for range 3 { // it begins
		s.reconcile()
		s.pass(2 * time.Second)
	}
	began := s.clock.Now()
	s.clock.SetTime(began.Add(limit + longest - time.Minute))
	s.reconcile()
	if s.profile().Status.Measuring == nil {
		t.Fatalf("it was given up early: %+v", s.condition())
	}
	s.clock.SetTime(began.Add(limit + longest + time.Minute))
	s.reconcile()
	if c := s.condition(); s.profile().Status.Measuring != nil || c.Reason != v1alpha1.ReasonImprecise || !strings.Contains(c.Message, "the 7200 s of --max-measurement-time of loadline-manager were used up") {
		t.Errorf("the condition is %+v", c)
	}
	if !s.reconciler.Slots.Free("another", "worker-1") {
		t.Error("it still has the node")
	}
	s.nothingLeft()
}

func TestAMeasurementLeavesItsNodeToANamespaceThatHasNone(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	own, other := slots.Owner{Namespace: "etl", UID: "sort"}, slots.Owner{Namespace: "shop", UID: "web"}
	for s.profile().Status.Measuring == nil || s.profile().Status.Measuring.Step == "alone" {
		s.reconcile()
		s.pass(10 * time.Second)
	}
	if !s.reconciler.Slots.Acquire(own, "worker-2") || s.reconciler.Slots.Acquire(other, "worker-3") {
		t.Fatal("the namespace does not have both slots")
	}
	for !strings.Contains(s.condition().Message, "it is another namespace's turn") {
		s.reconcile()
		s.reconciler.Slots.Acquire(other, "worker-3")
		s.pass(10 * time.Second)
		if s.clock.Now().Sub(noon) > time.Hour {
			t.Fatalf("it does not yield; the condition is %+v", s.condition())
		}
	}
	if !s.reconciler.Slots.Acquire(other, "worker-3") {
		t.Fatal("the other namespace did not get its slot")
	}
	s.reconcile()
	if c := s.condition(); c.Reason != v1alpha1.ReasonQueued || s.profile().Status.Measuring == nil {
		t.Errorf("the condition is %+v", c)
	}
	s.reconciler.Slots.Release(other.UID)
	vector(t, s.until(v1alpha1.ReasonMeasured), v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58})
	s.nothingLeft()
}

// A measurement whose node is gone says why it goes on at no other one, and keeps no other measurement from beginning meanwhile.
func TestAMeasurementWhoseNodeIsGoneLeavesItsSlot(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1), worker("worker-2", 1), service("stranger", "cart", "worker-2"))
	own, other := slots.Owner{Namespace: "etl", UID: "sort"}, slots.Owner{Namespace: "etl", UID: "web"}
	for s.profile().Status.Measuring == nil || s.profile().Status.Measuring.Step == "alone" {
		s.reconcile()
		s.pass(10 * time.Second)
	}
	if m := s.profile().Status.Measuring; m.Node != "worker-1" {
		t.Fatalf("it measures on %s", m.Node)
	}
	if !s.reconciler.Slots.Acquire(own, "worker-3") || s.reconciler.Slots.Acquire(other, "worker-4") {
		t.Fatal("the namespace does not have both slots")
	}
	s.must(s.Delete(t.Context(), worker("worker-1", 1)))
	s.lose("worker-1")
	for s.condition().Reason != v1alpha1.ReasonNoQuietNode {
		s.reconcile()
		s.pass(10 * time.Second)
		if s.clock.Now().Sub(noon) > time.Hour {
			t.Fatalf("it does not say what it waits for; the condition is %+v", s.condition())
		}
	}
	if c := s.condition(); !strings.Contains(c.Message, "on node worker-1 cannot go on there") || !strings.Contains(c.Message, "worker-2: pod etl/stranger runs there") {
		t.Errorf("the condition is %+v", c)
	}
	if !s.reconciler.Slots.Acquire(other, "worker-4") {
		t.Error("another measurement cannot begin")
	}
	s.reconcile()
	s.must(s.Delete(t.Context(), service("stranger", "cart", "worker-2")))
	for s.condition().Reason != v1alpha1.ReasonQueued {
		s.reconcile()
		s.pass(10 * time.Second)
		if s.clock.Now().Sub(noon) > time.Hour {
			t.Fatalf("while others measure the condition is %+v", s.condition())
		}
	}
	s.reconciler.Slots.Release(other.UID)
	vector(t, s.until(v1alpha1.ReasonMeasured), v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58})
	if m := s.profile().Status.Measurements; len(m) != 1 {
		t.Errorf("there are %d results", len(m))
	}
	s.nothingLeft()
}

// Hundreds of profiles of one namespace that wait are not looked at more often than fifty.
func TestLooksAtProfilesThatWaitAreSpaced(t *testing.T) {
	t.Parallel()
	const n = 200
	s := newSimulation(t, waiting(n)...)
	reader := &counting{Reader: s.Client}
	s.reconciler.API = reader
	s.lookAtAll(n)
	looked := 0
	for range 10 {
		s.clock.SetTime(s.clock.Now().Add(time.Second))
		for i := range n {
			request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "etl", Name: fmt.Sprint("waits-", i)}}
			if s.reconciler.pace.Left(request.NamespacedName, 1, s.clock.Now()) == 0 {
				looked++
			}
			_, err := s.reconciler.Reconcile(t.Context(), request)
			s.must(err)
		}
	}
	if looked > 50 {
		t.Errorf("%d looks in 10 s at %d profiles that wait, want 50 at most", looked, n)
	}
}
