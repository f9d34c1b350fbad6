package integration

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// The manager finds the gauge and the pods of its node by its own caches, with its own rights, and writes what it makes of them.
// Whether a profile drifts takes minutes to say; how well dilations are predicted is known after one round.
func TestTheManagerCollectsWhatGaugesObserve(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 1)
	profile := p.profile("job", map[string]string{"cpu": "0.6"})
	must(t, p.Create(t.Context(), profile))
	jobs := []*corev1.Pod{p.running(t, p.pod("one", "job"), ""), p.running(t, p.pod("two", "job"), ""), p.running(t, p.pod("three", "other"), "")}

	server := httptest.NewTLSServer(gaugeOf(p.nodes[0], jobs, "the token"))
	t.Cleanup(server.Close)
	token := p.gaugeAt(t, server)
	p.startManagerWithItsRole(t, "--gauges", "--gauge-namespace", p.namespace, "--gauge-token-file", token)
	p.await(t, profile, func() bool {
		a := profile.Status.Accuracy
		return a != nil && *a.Predictions == 2 && a.MeanRelativeError.AsApproximateFloat64() < 0.01
	})
}

// running makes a pod on the node of the place, and gives it another address once it runs.
func (p *place) running(t *testing.T, pod *corev1.Pod, address string) *corev1.Pod {
	t.Helper()
	pod.Spec.NodeName = p.nodes[0]
	must(t, p.Create(t.Context(), pod))
	p.await(t, pod, func() bool { return pod.Status.Phase == corev1.PodRunning })
	if address != "" {
		p.setAddress(t, pod, address)
	}
	return pod
}

// setAddress gives a pod that runs another address.
func (p *place) setAddress(t *testing.T, pod *corev1.Pod, address string) {
	t.Helper()
	before := pod.DeepCopy()
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	must(t, p.Status().Patch(t.Context(), pod, client.MergeFrom(before)))
}

// gaugeOf answers as a gauge with 16 processors does on whose node each pod has one thread that runs for half of its time, and
// never waits.
func gaugeOf(node string, pods []*corev1.Pod, token string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		last, err := strconv.Atoi(r.URL.Query().Get("last"))
		if err != nil || r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		var report usage.Report
		for range last {
			v := usage.Interval{Node: node, Seconds: 10, CPUs: 16}
			for _, pod := range pods {
				v.BusySeconds += 5
				v.Pods = append(v.Pods, usage.Pod{UID: string(pod.UID), Seconds: 10, Times: usage.Times{Run: 5}, Tasks: 1, Threads: 1, Dilation: 1, CPULoading: 0.5})
			}
			report.Intervals = append(report.Intervals, v)
		}
		_ = json.NewEncoder(w).Encode(report)
	}
}
