package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestWhatIsKeptOfGaugesIsEnough(t *testing.T) {
	t.Parallel()
	full := gauge(t, "10.1.2.3", "8443")
	full.Annotations = map[string]string{"large": "text"}
	want := gauge(t, "10.1.2.3", "8443")
	want.Spec = corev1.PodSpec{NodeName: full.Spec.NodeName, Containers: []corev1.Container{{Ports: full.Spec.Containers[0].Ports}}}
	for _, test := range []struct{ give, want any }{{full, want}, {node(), node()}} {
		got, err := slimGauge(test.give)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("unexpected object (-want +got):\n%s", diff)
		}
	}
}
