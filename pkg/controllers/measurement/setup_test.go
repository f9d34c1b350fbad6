package measurement

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// A node that comes, or a NodeProfile that changes, concerns the profiles that ask for a measurement, from when they are first looked at until
// they ask for none or are gone.
func TestChangesOfNodesConcernTheProfilesThatAskForAMeasurement(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *simulation){
		"it asks no more": func(t *testing.T, s *simulation) {
			p := s.profile()
			p.Spec.Measurement = nil
			if err := s.Update(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		},
		"it is gone": func(t *testing.T, s *simulation) {
			if err := s.Delete(t.Context(), s.profile()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := filecomp()
			other.Name, other.UID, other.Spec.Measurement = "other", "5678", nil
			s := newSimulation(t, filecomp(only("cpu")), other, targetJob(), worker("worker-1", 1))
			concerned := func(when string, want ...string) {
				t.Helper()
				for _, profile := range []string{"filecomp", "other"} {
					if _, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "etl", Name: profile}}); err != nil {
						t.Fatal(err)
					}
				}
				all := s.reconciler.wanted.all(t.Context(), client.Object(&v1alpha1.NodeProfile{}))
				if len(all) != len(want) || len(want) == 1 && all[0].Name != want[0] {
					t.Errorf("%s: %v, want %v", when, all, want)
				}
			}
			concerned("at first", "filecomp")
			change(t, s)
			concerned("then")
		})
	}
}
