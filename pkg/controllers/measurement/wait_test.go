package measurement

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// waiting returns profiles with targets that wait, for the only node is not quiet.
func waiting(n int, edits ...func(*v1alpha1.Measurement)) []client.Object {
	objects := []client.Object{worker("worker-1", 1), service("cart-1", "cart", "worker-1")}
	for i := range n {
		p, job := filecomp(edits...), targetJob()
		p.Name, p.UID, job.Name = fmt.Sprint("waits-", i), types.UID(fmt.Sprint("waits-", i)), fmt.Sprint("waits-", i)
		if p.Spec.Measurement.Target != nil {
			p.Spec.Measurement.Target.Name = job.Name
		} else {
			p.Spec.Selector.MatchLabels["app"] = p.Name
			objects = append(objects, service(p.Name, p.Name, "worker-1"))
		}
		objects = append(objects, p, job)
	}
	return objects
}

// lookAtAll has the controller look at n profiles that wait, and returns when it will
// look again.
func (s *simulation) lookAtAll(n int) (again time.Duration) {
	s.t.Helper()
	for i := range n {
		result, err := s.reconciler.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "etl", Name: fmt.Sprint("waits-", i)}})
		s.must(err)
		again = result.RequeueAfter
	}
	return again
}

// For any number of waiting profiles, the state that they wait for is read once.
func TestProfilesThatWaitShareWhatIsRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edits       []func(*v1alpha1.Measurement)
		first, each func(n int) int // requests past the caches
	}{
		"with targets":    {nil, func(n int) int { return n + 1 }, func(int) int { return 1 }}, // the templates, and the pods of the node
		"of running pods": {[]func(*v1alpha1.Measurement){asService}, func(int) int { return 2 }, func(int) int { return 2 }},
	} {
		for _, n := range []int{1, 7} {
			t.Run(fmt.Sprintf("%s, %d", name, n), func(t *testing.T) {
				t.Parallel()
				s := newSimulation(t, waiting(n, test.edits...)...)
				reader := &counting{Reader: s.Client}
				s.reconciler.API = reader
				for look, want := range []int{test.first(n), test.each(n), test.each(n)} {
					reader.asked = 0
					if again := s.lookAtAll(n); again != recheckAfter {
						t.Errorf("look %d: the next is after %v, want %v", look, again, recheckAfter)
					}
					if reader.asked != want {
						t.Errorf("look %d: %d requests past the caches, want %d", look, reader.asked, want)
					}
					s.clock.SetTime(s.clock.Now().Add(recheckAfter + time.Second))
				}
			})
		}
	}
}

func TestOneOfTheProfilesThatWaitBeginsWhenANodeIsQuiet(t *testing.T) {
	t.Parallel()
	const n = 7
	s := newSimulation(t, waiting(n)...)
	s.lookAtAll(n)
	s.must(s.Delete(t.Context(), service("cart-1", "cart", "worker-1")))
	s.clock.SetTime(s.clock.Now().Add(recheckAfter + time.Second))
	s.lookAtAll(n)
	s.lookAtAll(n)
	var all v1alpha1.WorkloadProfileList
	s.must(s.List(t.Context(), &all))
	reasons := map[string]int{}
	for i := range all.Items {
		reasons[meta.FindStatusCondition(all.Items[i].Status.Conditions, v1alpha1.ConditionMeasured).Reason]++
	}
	if diff := cmp.Diff(map[string]int{v1alpha1.ReasonMeasuring: 1, v1alpha1.ReasonQueued: n - 1}, reasons); diff != "" {
		t.Errorf("unexpected reasons (-want +got):\n%s", diff)
	}
}

// behind is a cache that shows an old state of a profile.
type behind struct {
	client.Client
	was *v1alpha1.WorkloadProfile
}

func (b *behind) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if p, is := o.(*v1alpha1.WorkloadProfile); is {
		b.was.DeepCopyInto(p)
		return nil
	}
	return b.Client.Get(ctx, key, o, options...)
}

func TestWhatACacheDoesNotShowYetIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	for name, restarted := range map[string]bool{"the same manager": false, "another manager": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1), worker("worker-2", 1))
			before := s.profile()
			for range 3 {
				s.reconcile()
			}
			began := s.profile().Status.Measuring
			if began == nil || s.jobsMade() == 0 {
				t.Fatal("no measurement has begun")
			}
			made := s.jobsMade()
			if restarted {
				s.restart()
			}
			s.reconciler.Client = &behind{s.Client, before}
			for range 3 {
				s.reconcile()
			}
			if diff := cmp.Diff(began, s.profile().Status.Measuring); diff != "" || s.jobsMade() != made {
				t.Errorf("%d Jobs, want %d; the measurement changed (-want +got):\n%s", s.jobsMade(), made, diff)
			}
			if s.reconciler.Slots.Free("another", began.Node) {
				t.Errorf("node %s is free while it is measured on", began.Node)
			}
		})
	}
}

// jobsMade returns how many Jobs of measurements there are.
func (s *simulation) jobsMade() int {
	s.t.Helper()
	var jobs batchv1.JobList
	s.must(s.List(s.t.Context(), &jobs, client.HasLabels{probejob.MeasurementKey}))
	return len(jobs.Items)
}

func TestWhyAProfileWaitsIsWrittenOnceBesideWhatOthersWrite(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(), targetJob()) // no node
	before := s.profile()
	others := before.DeepCopy()
	others.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeclared}}
	s.must(s.Status().Patch(t.Context(), others, client.MergeFrom(before)))
	s.reconciler.Client = &behind{s.Client, before}
	for range 3 {
		s.reconcile()
	}
	if c := s.condition(); c.Reason != v1alpha1.ReasonNoNode || !meta.IsStatusConditionTrue(s.profile().Status.Conditions, v1alpha1.ConditionReady) {
		t.Errorf("the conditions are %+v", s.profile().Status.Conditions)
	}
	if emitted := s.emitted(); len(emitted) != 1 {
		t.Errorf("%d events, want 1: %v", len(emitted), emitted)
	}
}

func TestAChangedTargetIsReadByAProfileThatWaits(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, waiting(1)...)
	reader := &counting{Reader: s.Client}
	s.reconciler.API = reader
	job := targetJob()
	job.Name = "waits-0"
	for _, step := range []struct {
		change func()
		reason string
		asked  int
	}{
		{func() {}, v1alpha1.ReasonNoQuietNode, 2},
		{func() {}, v1alpha1.ReasonNoQuietNode, 0},
		{func() {
			s.must(s.Patch(t.Context(), job, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":false}}`))))
		}, v1alpha1.ReasonNoQuietNode, 1},
		{func() { s.must(s.Delete(t.Context(), job)) }, v1alpha1.ReasonTargetFailed, 0},
		{func() { job.ResourceVersion = ""; s.must(s.Create(t.Context(), job)) }, v1alpha1.ReasonNoQuietNode, 1},
	} {
		step.change()
		reader.asked = 0
		s.lookAtAll(1)
		var p v1alpha1.WorkloadProfile
		s.must(s.Get(t.Context(), client.ObjectKeyFromObject(job), &p)) // of the same name
		c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionMeasured)
		if c == nil || c.Reason != step.reason || reader.asked != step.asked {
			t.Errorf("%d requests past the caches, want %d, and the condition is %+v, want the reason %s", reader.asked, step.asked, c, step.reason)
		}
	}
}

func TestWhyAProfileWaitsIsWrittenWhenOtherStatusesAreNot(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(), targetJob()) // no node
	s.reconciler.Writers = statuses.NewWriters(1)
	writing, release := make(chan struct{}), make(chan struct{})
	others := &blocking{writing: writing, release: release}
	ended := make(chan error)
	after := s.profile()
	after.Status.Pods = new(int32(1))
	go func() {
		_, err := statuses.All(t.Context(), s.reconciler.Writers, others, s.events, []statuses.Change{{Before: s.profile(), After: after}})
		ended <- err
	}()
	<-writing
	if result := s.reconcile(); result.RequeueAfter != yieldFor || s.condition().Reason != "" {
		t.Errorf("while others write: the next look is after %v, and the condition is %+v", result.RequeueAfter, s.condition())
	}
	close(release)
	s.must(<-ended)
	if result := s.reconcile(); result.RequeueAfter != 0 || s.condition().Reason != v1alpha1.ReasonNoNode {
		t.Errorf("then: the next look is after %v, and the condition is %+v", result.RequeueAfter, s.condition())
	}
}

// blocking is a client whose writes take until they are released.
type blocking struct {
	client.SubResourceWriter
	writing, release chan struct{}
}

func (b *blocking) Status() client.SubResourceWriter { return b }

func (b *blocking) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	close(b.writing)
	<-b.release
	return nil
}
