package planning

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestAPlanThatDoesNotFitInMemoryIsNotMade(t *testing.T) {
	t.Parallel()
	const shipped = 512 * mebibyte / 10 * 9
	for name, test := range map[string]struct {
		pods  int
		limit int64
		want  string
	}{
		"without a limit":                        {1_000_000, 0, ""},
		"without a pod":                          {0, 67 * mebibyte, ""},
		"1,000 nodes as shipped":                 {31_000, shipped, ""},
		"5,000 nodes as shipped":                 {155_000, shipped, "a plan for 155000 pods takes 968 MiB of memory, and the manager may have 460: give its container a limit of 1580Mi"},
		"5,000 nodes with what their docs say":   {155_000, 1536 * mebibyte / 10 * 9, ""},
		"5,000 nodes with what the message says": {155_000, 1580 * mebibyte / 10 * 9, ""},
	} {
		got := ""
		if err := fits(test.pods, test.limit); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestPodsAreNotReadForAPlanThatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy())
	w.MemoryLimit, w.Count = 100*mebibyte, func(context.Context) (int, error) { return 100_000, nil }
	read := w.Pods
	w.Pods = func(context.Context) ([]corev1.Pod, error) {
		t.Error("pods are read")
		return nil, nil
	}
	if err := w.Propose(t.Context()); err == nil {
		t.Error("a plan is made")
	}
	broken := errors.New("the cache is broken")
	w.Count = func(context.Context) (int, error) { return 0, broken }
	if err := w.Propose(t.Context()); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	w.Count, w.Pods = func(context.Context) (int, error) { return 3, nil }, read
	if err := w.Propose(t.Context()); err != nil {
		t.Error(err)
	}
}
