package measurement

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/model/loading"
)

// What whole measurements write, byte for byte. A change of behaviour shows in the files, which -update writes anew.
func TestWholeMeasurementsDoWhatTheirJournalsSay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edits   []func(*v1alpha1.Measurement)
		objects []client.Object
		change  func(*simulation)
		ends    string
		each    func(*simulation)
	}{
		"of a target": {objects: []client.Object{worker("worker-1", 1)}, ends: v1alpha1.ReasonMeasured},
		"of a service": {
			edits:   []func(*v1alpha1.Measurement){asService},
			objects: []client.Object{worker("worker-1", 1), worker("worker-2", 1), service("a", "filecomp", "worker-2")},
			ends:    v1alpha1.ReasonMeasured,
		},
		"by copies": {
			edits:   []func(*v1alpha1.Measurement){only("cpu", "disk"), func(m *v1alpha1.Measurement) { m.Method = v1alpha1.MethodCopies }},
			objects: []client.Object{worker("worker-1", 1)},
			change:  func(s *simulation) { s.target, s.noise = loading.Loadings(0.85, 0.15), 0.001 },
			ends:    v1alpha1.ReasonMeasured,
		},
		"beside neighbours": {
			edits:   []func(*v1alpha1.Measurement){correct},
			objects: []client.Object{neighbour(), worker("worker-1", 1), service("c", "cart", "worker-1")},
			change:  func(s *simulation) { s.target = loading.Loadings(0.5, 0.3) },
			ends:    v1alpha1.ReasonMeasured,
		},
		"whose manager is restarted": {
			edits: []func(*v1alpha1.Measurement){only("cpu")}, objects: []client.Object{worker("worker-1", 1)},
			ends: v1alpha1.ReasonMeasured, each: func(s *simulation) { s.restart() },
		},
		"too noisy to be precise": {
			edits:   []func(*v1alpha1.Measurement){only("cpu"), func(m *v1alpha1.Measurement) { m.MaxRounds = new(int32(4)) }},
			objects: []client.Object{worker("worker-1", 1)},
			change:  func(s *simulation) { s.noise = 0.08 }, ends: v1alpha1.ReasonImprecise,
		},
		"whose target fails": {
			edits: []func(*v1alpha1.Measurement){only("cpu")}, objects: []client.Object{worker("worker-1", 1)},
			change: func(s *simulation) {
				s.before = func(pod *corev1.Pod) bool {
					if pod.Spec.Containers[0].Name != probejob.ProbeContainer {
						s.fail(pod, 3, "no input")
						return false
					}
					return true
				}
			},
			ends: v1alpha1.ReasonTargetFailed,
		},
		"whose node boots time and again": {
			edits: []func(*v1alpha1.Measurement){only("cpu")}, objects: []client.Object{worker("worker-1", 1)},
			change: func(s *simulation) {
				s.says = func(_ *corev1.Pod, container, message string) string {
					if container == probejob.ProbeContainer {
						return strings.Replace(message, `"boot"`, `"another"`, 1)
					}
					return message
				}
			},
			ends: v1alpha1.ReasonInterrupted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t, append(test.objects, filecomp(test.edits...), targetJob())...)
			s.background["filecomp"], s.background["cart"] = loading.Loadings(0.3, 0.5), loading.Loadings(0.3, 0.2)
			if test.change != nil {
				test.change(s)
			}
			p := s.until(test.ends, func() {
				if test.each != nil {
					test.each(s)
				}
			})
			s.journal.Ended(s.registry, p)
			s.journal.Compare(filepath.Join("testdata", "journals", strings.ReplaceAll(name, " ", "-")+".txt"))
		})
	}
}
