package calibration

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What whole calibrations write, byte for byte. A change of behaviour shows in the files, which -update writes anew.
func TestWholeCalibrationsDoWhatTheirJournalsSay(t *testing.T) {
	t.Parallel()
	found := func(t *testing.T, job string, servers int) corev1.PodStatus {
		t.Helper()
		return endsWell(left(t, job, servers))
	}
	// Each test gives the ends of the pods, one after the other; nil is a pod whose node is lost.
	for name, pods := range map[string]func(t *testing.T, n int, job string) *corev1.PodStatus{
		"of two resources": func(t *testing.T, _ int, job string) *corev1.PodStatus {
			t.Helper()
			return new(found(t, job, 4))
		},
		"of a resource that is not kept busy": func(t *testing.T, _ int, job string) *corev1.PodStatus {
			t.Helper()
			return new(found(t, job, 0))
		},
		"whose probe fails once": func(t *testing.T, n int, job string) *corev1.PodStatus {
			t.Helper()
			if n == 0 {
				return new(endsBadly(1, "no such device"))
			}
			return new(found(t, job, 2))
		},
		"whose first node is lost": func(t *testing.T, n int, job string) *corev1.PodStatus { return lostUntil(t, n, 1, job) },
		"whose nodes are all lost": func(t *testing.T, n int, job string) *corev1.PodStatus { return lostUntil(t, n, 100, job) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fast(), ready("worker-1"), ready("worker-2"))
			for n := 0; w.clock.Now().Before(noon.Add(30 * time.Minute)); {
				w.reconcile(t)
				w.collect(t)
				for i := range w.jobs(t) {
					w.play(t, pods(t, n, standardJobIn(&w.jobs(t)[i].Spec.Template.Spec)))
					n++
				}
				w.clock.SetTime(w.clock.Now().Add(10 * time.Second))
			}
			w.journal.Ended(w.counts, w.profile(t))
			w.journal.Compare(filepath.Join("testdata", "journals", strings.ReplaceAll(name, " ", "-")+".txt"))
		})
	}
}

func lostUntil(t *testing.T, n, lost int, job string) *corev1.PodStatus {
	t.Helper()
	if n < lost {
		return nil
	}
	return new(endsWell(left(t, job, 2)))
}

// play runs the pod of the only Job, lets the controller see it run, and ends it, with its node where there is no status.
func (w *world) play(t *testing.T, end *corev1.PodStatus) {
	t.Helper()
	pod := w.pod(t, runs())
	w.reconcile(t)
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	if end != nil {
		pod.Status = *end
		if err := w.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		return
	}
	node := ready(pod.Spec.NodeName)
	for _, status := range []corev1.ConditionStatus{corev1.ConditionUnknown, corev1.ConditionTrue} {
		node.ResourceVersion, node.Status.Conditions[0].Status = "", status
		if err := w.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		w.reconcile(t)
	}
}

// standardJobIn returns the standard job that a pod runs.
func standardJobIn(spec *corev1.PodSpec) string {
	command := strings.Fields(strings.Join(spec.Containers[0].Command, " "))
	for i, word := range command {
		if word == "--job" {
			return command[i+1]
		}
	}
	return ""
}
