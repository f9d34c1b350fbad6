package slots_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/slots"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// in returns an owner of a namespace.
func in(namespace string, uid types.UID) slots.Owner {
	return slots.Owner{Namespace: namespace, UID: uid}
}

func TestOneMeasurementAtATimeUsesANode(t *testing.T) {
	t.Parallel()
	type step struct {
		owner types.UID
		nodes []string // nil to release
		want  bool
	}
	tests := map[string]struct {
		limit int
		steps []step
	}{
		"a node is used by one":                  {3, []step{{"a", []string{"n1"}, true}, {"b", []string{"n1"}, false}, {"b", []string{"n2"}, true}}},
		"asking again changes nothing":           {1, []step{{"a", []string{"n1"}, true}, {"a", []string{"n1"}, true}, {"b", []string{"n2"}, false}}},
		"what is released is free":               {1, []step{{"a", []string{"n1"}, true}, {"a", nil, true}, {"b", []string{"n1"}, true}}},
		"the limit is on nodes":                  {2, []step{{"a", []string{"n1", "n2"}, true}, {"b", []string{"n3"}, false}}},
		"a pair above the limit is let in alone": {1, []step{{"a", []string{"n1", "n2"}, true}, {"b", []string{"n3"}, false}}},
		"a pair waits for the others":            {2, []step{{"a", []string{"n1"}, true}, {"b", []string{"n2", "n3"}, false}, {"a", nil, true}, {"b", []string{"n2", "n3"}, true}}},
		"an owner moves":                         {1, []step{{"a", []string{"n1"}, true}, {"a", []string{"n2"}, true}, {"a", []string{"n1"}, true}}},
		"a node that was left is free":           {2, []step{{"a", []string{"n1"}, true}, {"a", []string{"n2"}, true}, {"b", []string{"n1"}, true}}},
		"who may not move stays":                 {2, []step{{"a", []string{"n1"}, true}, {"b", []string{"n2"}, true}, {"a", []string{"n2"}, false}, {"b", []string{"n1"}, false}}},
		"the same node twice is one":             {2, []step{{"a", []string{"n1", "n1"}, true}, {"b", []string{"n2"}, true}}},
		"releasing what is not held is nothing":  {1, []step{{"a", nil, true}, {"b", []string{"n1"}, true}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := slots.New(test.limit, clocktesting.NewFakePassiveClock(noon))
			for i, step := range test.steps {
				if step.nodes == nil {
					s.Release(step.owner)
					continue
				}
				if got := s.Acquire(in("shop", step.owner), step.nodes...); got != step.want {
					t.Errorf("step %d: %s gets %v: %v, want %v", i+1, step.owner, step.nodes, got, step.want)
				}
			}
		})
	}
}

func TestNamespacesTakeTurns(t *testing.T) {
	t.Parallel()
	const gets, waits = true, false
	type step struct {
		owner  string // namespace/uid
		node   string // "" to release
		want   bool
		passes time.Duration // before the step
	}
	tests := map[string]struct {
		limit int
		steps []step
	}{
		"the one that waits goes before the one that had its turn": {1, []step{
			{owner: "a/1", node: "n1", want: gets},
			{owner: "b/1", node: "n1", want: waits},
			{owner: "a/1"},
			{owner: "a/2", node: "n1", want: waits},
			{owner: "b/1", node: "n1", want: gets},
		}},
		"of those that wait, the one that was served the longest ago": {1, []step{
			{owner: "a/1", node: "n1", want: gets},
			{owner: "a/1"},
			{owner: "b/1", node: "n1", want: gets, passes: time.Second},
			{owner: "a/2", node: "n1", want: waits},
			{owner: "c/1", node: "n1", want: waits},
			{owner: "b/1"},
			{owner: "a/2", node: "n1", want: waits},
			{owner: "c/1", node: "n1", want: gets},
			{owner: "c/1"},
			{owner: "b/2", node: "n1", want: waits},
			{owner: "a/2", node: "n1", want: gets},
		}},
		"of those that were never served, the first by name": {1, []step{
			{owner: "z/1", node: "n1", want: gets},
			{owner: "c/1", node: "n1", want: waits},
			{owner: "b/1", node: "n1", want: waits},
			{owner: "z/1"},
			{owner: "c/1", node: "n1", want: waits},
			{owner: "b/1", node: "n1", want: gets},
		}},
		"the last slot is not for who has one": {2, []step{
			{owner: "a/1", node: "n1", want: gets},
			{owner: "c/1", node: "n2", want: gets},
			{owner: "b/1", node: "n3", want: waits},
			{owner: "c/1"},
			{owner: "a/2", node: "n2", want: waits},
			{owner: "b/1", node: "n3", want: gets},
		}},
		"a slot that no other waits for is": {2, []step{{owner: "a/1", node: "n1", want: gets}, {owner: "a/2", node: "n2", want: gets}}},
		"who waits for a node that is taken keeps no other from another": {3, []step{
			{owner: "c/1", node: "n1", want: gets},
			{owner: "b/1", node: "n1", want: waits},
			{owner: "a/1", node: "n2", want: gets},
			{owner: "a/2", node: "n3", want: gets},
		}},
		"who does not ask any more keeps no other waiting": {1, []step{
			{owner: "a/1", node: "n1", want: gets},
			{owner: "b/1", node: "n1", want: waits},
			{owner: "a/1"},
			{owner: "a/2", node: "n1", want: gets, passes: time.Minute},
		}},
		"who asks, and never takes what is free, neither": {2, []step{
			{owner: "a/1", node: "n1", want: gets},
			{owner: "c/1", node: "n2", want: gets},
			{owner: "b/1", node: "n1", want: waits},
			{owner: "a/1"},
			{owner: "a/2", node: "n1", want: waits},
			{owner: "b/1", node: "n2", want: waits, passes: 30 * time.Second},
			{owner: "a/2", node: "n1", want: gets, passes: 15 * time.Second},
		}},
		"what an owner has it keeps": {1, []step{
			{owner: "a/1", node: "n1", want: gets}, {owner: "b/1", node: "n1", want: waits}, {owner: "a/1", node: "n1", want: gets},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clocktesting.NewFakePassiveClock(noon)
			s := slots.New(test.limit, clock)
			for i, step := range test.steps {
				clock.SetTime(clock.Now().Add(step.passes))
				owner := in(step.owner[:1], types.UID(step.owner))
				if step.node == "" {
					s.Release(owner.UID)
					continue
				}
				if got := s.Acquire(owner, step.node); got != step.want {
					t.Errorf("step %d: %s gets %s: %v, want %v", i+1, step.owner, step.node, got, step.want)
				}
			}
		})
	}
}

// However many owners of a namespace wait, the only one of another has its turn next.
func TestTenThousandThatWaitKeepNoOtherNamespaceWaiting(t *testing.T) {
	t.Parallel()
	s := slots.New(2, clocktesting.NewFakePassiveClock(noon))
	crowd := func(i int) slots.Owner { return in("crowd", types.UID(fmt.Sprint(i))) }
	for i := range 10_000 {
		s.Acquire(crowd(i), fmt.Sprintf("n%d", i%50))
	}
	if s.Acquire(in("shop", "web"), "n9") {
		t.Fatal("more was given than there is")
	}
	s.Release(crowd(0).UID)
	for i := 2; i < 10_000; i++ {
		if s.Acquire(crowd(i), fmt.Sprintf("n%d", i%50)) {
			t.Fatalf("owner %d of the crowd was next", i)
		}
	}
	if !s.Acquire(in("shop", "web"), "n9") {
		t.Error("the other namespace was not next")
	}
}

func TestWhoHasMoreYieldsToWhoWaits(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(noon)
	s := slots.New(2, clock)
	a, b, other := in("crowd", "a"), in("crowd", "b"), in("shop", "web")
	s.Acquire(a, "n1")
	s.Acquire(b, "n2")
	yields := func() []bool { return []bool{s.Yields(a.UID), s.Yields(b.UID), s.Yields(other.UID)} }
	expect := func(when string, want ...bool) {
		t.Helper()
		if diff := cmp.Diff(want, yields()); diff != "" {
			t.Errorf("%s, they yield (-want +got):\n%s", when, diff)
		}
	}
	expect("while no other waits", false, false, false)
	s.Acquire(other, "n3")
	expect("while another namespace waits for a slot", true, true, false)
	s.Release(a.UID)
	expect("once one of them has left", false, false, false)
	s.Acquire(other, "n3")
	s.Acquire(a, "n1")
	expect("while each namespace has one", false, false, false)
	s.Release(other.UID)
	s.Acquire(other, "n2")
	expect("while another waits for the node of the only one", false, false, false)
	clock.SetTime(clock.Now().Add(time.Hour))
	s.Acquire(other, "n2")
	expect("when it has had the node for an hour", false, true, false)
	clock.SetTime(clock.Now().Add(time.Minute))
	expect("when the other does not ask any more", false, false, false)
}

func TestAnOwnerHasANodeAndHadOneAMomentAgo(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(noon)
	s := slots.New(2, clock)
	web := in("shop", "web")
	has := func(owner slots.Owner, node string, want bool) {
		t.Helper()
		if s.Has(owner, node) != want {
			t.Errorf("%s of %s has %s: %v, want %v", owner.UID, owner.Namespace, node, !want, want)
		}
	}
	has(web, "n1", false)
	s.Acquire(web, "n1")
	has(web, "n1", true)
	has(web, "n2", false)
	has(in("other", "web"), "n1", false)
	s.Acquire(web, "n2")
	has(web, "n1", true)
	clock.SetTime(clock.Now().Add(slots.Lingering + time.Second))
	has(web, "n1", false)
	has(web, "n2", true)
	s.Release(web.UID)
	has(web, "n2", true)
	clock.SetTime(clock.Now().Add(slots.Lingering + time.Second))
	has(web, "n2", false)
}

func TestWhatIsGoneHoldsNothing(t *testing.T) {
	t.Parallel()
	s := slots.New(10, clocktesting.NewFakePassiveClock(noon))
	old := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "a"}}
	renewed := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "c"}}
	s.Acquire(in("shop", "a"), "n1")
	s.WhenGone().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: old, ObjectNew: old}, nil)
	if s.Free("c", "n1") {
		t.Error("a change released the node")
	}
	s.WhenGone().Delete(t.Context(), ctrlevent.DeleteEvent{Object: old}, nil)
	if !s.Free("c", "n1") {
		t.Error("the node of a profile that was deleted is held")
	}
	s.Acquire(in("shop", "a"), "n1")
	s.WhenGone().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: old, ObjectNew: renewed}, nil)
	if !s.Free("c", "n1") {
		t.Error("the node of a profile that was made anew is held")
	}
}
