package gauges

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"loadline.dev/loadline/pkg/gauge/usage"
)

func replica(name string) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "loadline-system", Name: name}}
}

// The API server has the pod slow, which never answers, the pod trickling, which never ends, and the pod leading, which
// answers.
func TestASlowReplicaIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "https:slow:") {
			_ = json.NewEncoder(w).Encode(usage.Collection{AgeSeconds: 1})
			_ = json.NewEncoder(w).Encode(usage.Report{Intervals: []usage.Interval{{Node: "worker-1", Seconds: 10, CPUs: 1}}})
			_ = http.NewResponseController(w).Flush()
		}
		if !strings.Contains(r.URL.Path, "https:leading:") {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	ask := func(patience time.Duration, replicas ...corev1.Pod) (*collected, error) {
		a := &Asker{Config: &rest.Config{Host: server.URL}, patience: patience}
		if err := a.prepare(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		return a.fromReplicas(t.Context(), replicas, nil, 6, "token")
	}
	if answer, err := ask(time.Hour, replica("slow"), replica("leading"), replica("trickling")); err != nil || answer.reports["worker-1"] == nil {
		t.Errorf("the leader does not count: %v, %v", answer, err)
	}
	for _, name := range []string{"slow", "trickling"} {
		if reports, err := ask(50*time.Millisecond, replica(name)); err == nil || !strings.Contains(err.Error(), "pod loadline-system/"+name) {
			t.Errorf("%s: %v, %v", name, reports, err)
		}
	}
}
