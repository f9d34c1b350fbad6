package installation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestAGaugeServesOnThePortOfThatNameOrTheDefault(t *testing.T) {
	t.Parallel()
	for want, ports := range map[string][]corev1.ContainerPort{
		"9443": {{Name: "metrics", ContainerPort: 8080}, {Name: "https", ContainerPort: 9443}},
		"8443": {{Name: "metrics", ContainerPort: 8080}},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "sidecar"}, {Name: "gauge", Ports: ports}}}}
		if got := UsagePort(pod); got != want {
			t.Errorf("got %s of %v, want %s", got, ports, want)
		}
	}
}
