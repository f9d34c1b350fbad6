package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
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

// A pod that reads is beside one that reads on the first node, and beside one that computes on the second. By the CPU that is observed alone it
// belongs to the first, by what is observed of the disk as well to the second: the API server stores that, and the scheduler goes by it.
func TestTheSchedulerPlacesByTheDiskThatAProfileFollows(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 2)
	nodes := p.oneCore()
	nodes.Spec.Resources = append(nodes.Spec.Resources, v1alpha1.ResourceServers{Name: "disk", Servers: new(int32(1))})
	must(t, p.Create(t.Context(), nodes))
	must(t, p.Create(t.Context(), p.profile("busy", map[string]string{"cpu": "0.6"})))
	reader := p.profile("reader", nil)
	reader.Spec.Observation = &v1alpha1.Observation{Mode: v1alpha1.ModeApply}
	must(t, p.Create(t.Context(), reader))
	p.recommends(t, reader, nodes.Name, &v1alpha1.RecommendedLoading{CPULoading: new(resource.MustParse("0.2")), Threads: new(int32(1))})
	p.startScheduler(t, onlyDilation)
	for i, app := range []string{"reader", "busy"} {
		pod := p.pod("runs-"+app, app)
		pod.Spec.NodeName = p.nodes[i]
		must(t, p.Create(t.Context(), pod))
	}
	if !p.comesTo(t, p.nodes[0], 0) {
		t.Error("by the CPU alone the reader never goes where less is computed")
	}
	p.recommends(t, reader, nodes.Name, &v1alpha1.RecommendedLoading{
		CPULoading: new(resource.MustParse("0.2")), DiskLoading: new(resource.MustParse("0.8")), Threads: new(int32(1)),
	})
	if !p.comesTo(t, p.nodes[1], 100) {
		t.Error("by both resources the reader never goes where nothing is read")
	}
}

// recommends writes what is observed of a profile on a class of nodes and recommended by that, as the manager does.
func (p *place) recommends(t *testing.T, w *v1alpha1.WorkloadProfile, class string, vector *v1alpha1.RecommendedLoading) {
	t.Helper()
	before := client.MergeFrom(w.DeepCopy())
	w.Status.Observations = []v1alpha1.WorkloadObservation{{
		NodeProfile: class, CPULoading: vector.CPULoading, CPULoadingSpread: new(resource.MustParse("0.01")), DiskLoading: vector.DiskLoading,
		Threads: new(resource.MustParse("1")), Pods: new(int32(1)), ObservedSeconds: new(int64(900)), Time: new(metav1.Now().Rfc3339Copy()), Recommended: vector,
	}}
	must(t, p.Status().Patch(t.Context(), w, before))
	if diff := cmp.Diff(vector, w.Status.Observations[0].Recommended); diff != "" {
		t.Fatalf("the API server stores another vector (-want +got):\n%s", diff)
	}
}

// comesTo reports whether the scheduler, which hears of profiles a moment later, comes to place a reader beside the two pods on a node. The
// number tells the pods of each call apart.
func (p *place) comesTo(t *testing.T, node string, number int) bool {
	t.Helper()
	for i := range 100 {
		name := fmt.Sprintf("reader-%d", number+i)
		must(t, p.Create(t.Context(), p.pod(name, "reader")))
		there := p.awaitBound(t, 3)[name] == node
		must(t, p.Delete(t.Context(), p.pod(name, "reader"), client.GracePeriodSeconds(0)))
		p.awaitBound(t, 2)
		if there && i > 0 {
			return true
		}
	}
	return false
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
