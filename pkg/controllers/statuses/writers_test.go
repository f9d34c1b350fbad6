package statuses_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// server answers each write as a function says.
type server struct {
	client.SubResourceWriter
	answer func(name string) error
	asked  atomic.Int32
}

func (s *server) Status() client.SubResourceWriter { return s }

func (s *server) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.asked.Add(1)
	o.GetLabels()["answered"] = "yes" // the client decodes the answer into the object
	return s.answer(o.GetName())
}

// profiles returns n changes of profiles, named by their numbers.
func profiles(n int) []statuses.Change {
	changes := make([]statuses.Change, n)
	for i := range changes {
		before := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), Labels: map[string]string{}}}
		after := *before
		after.Status.Pods = new(int32(1))
		changes[i] = statuses.Change{Before: before, After: &after}
	}
	return changes
}

func all(ctx context.Context, w *statuses.Writers, s *server, changes []statuses.Change) (again bool, err error) {
	result, err := statuses.All(ctx, w, s, events.NewFakeRecorder(10), changes)
	return result.RequeueAfter > 0, err
}

func TestAsManyStatusesAreWrittenAtOnceAsTheLimitOfAllControllersLets(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 3, 16} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			s := &server{answer: func(string) error { <-release; return nil }}
			writers := statuses.NewWriters(limit)
			const controllers, each = 2, 40
			done := make(chan error)
			for range controllers {
				go func() {
					_, err := all(t.Context(), writers, s, profiles(each))
					done <- err
				}()
			}
			for answered := range controllers * each {
				synctest.Wait()
				if got, want := int(s.asked.Load()), min(answered+limit, controllers*each); got != want {
					t.Fatalf("limit %d, %d answered: %d asked, want %d", limit, answered, got, want)
				}
				release <- struct{}{}
			}
			for range controllers {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestWhatDidNotChangeIsNotWrittenAndWhatIsReadIsNotTouched(t *testing.T) {
	t.Parallel()
	changes := profiles(3)
	changes[1].After = changes[1].Before
	first := changes[0].Before
	s := &server{answer: func(string) error { return nil }}
	if again, err := all(t.Context(), nil, s, changes); again || err != nil {
		t.Errorf("again %v, error %v", again, err)
	}
	if got := s.asked.Load(); got != 2 {
		t.Errorf("%d requests for 2 changes", got)
	}
	if len(first.GetLabels()) > 0 {
		t.Error("the object of the cache was written to")
	}
}

func TestTheFirstErrorsAreReturnedAndConflictsAreNone(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{}, "", errors.New("changed"))
	tests := map[string]struct {
		n      int
		answer func(name string) error
		again  bool
		want   string
	}{
		"none":     {20, func(string) error { return nil }, false, ""},
		"conflict": {20, func(string) error { return conflict }, true, ""},
		"gone":     {20, func(string) error { return apierrors.NewNotFound(schema.GroupResource{}, "") }, false, ""},
		"some": {3, func(name string) error {
			return map[string]error{"0": errors.New("full"), "1": conflict, "2": errors.New("down")}[name]
		}, false, "writing the status of 0: full\nwriting the status of 2: down"},
		"many": {
			8, func(name string) error { return errors.New("down") }, false,
			"writing the status of 0: down\nwriting the status of 1: down\nwriting the status of 2: down\nwriting the status of 3: down\nwriting the status of 4: down\nand 3 more",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{answer: test.answer}
			again, err := all(t.Context(), statuses.NewWriters(4), s, profiles(test.n))
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(test.want, message); diff != "" || again != test.again {
				t.Errorf("again %v, unexpected error (-want +got):\n%s", again, diff)
			}
			if int(s.asked.Load()) != test.n {
				t.Errorf("%d of %d were tried", s.asked.Load(), test.n)
			}
		})
	}
}

func TestWhatWaitsForItsTurnStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &server{answer: func(string) error { cancel(); <-ctx.Done(); return ctx.Err() }}
	if _, err := all(ctx, statuses.NewWriters(1), s, profiles(100)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
