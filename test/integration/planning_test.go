package integration

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// By what gauges observe, the manager proposes that the limit of a pod is raised which holds it back, has it raised, and says what that
// won, with its own rights. KWOK plays the kubelet, except that the test says when the pod was resized, and another process the gauge. All
// controllers that pods concern run, and share one cache of them.
func TestTheManagerRaisesALimitByWhatGaugesObserve(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	e := startEnvironment(t, controlplane.Options{AuditLog: log})
	p := e.newPlace(t, 1)
	e.createAll(t, "config/remediation/remediator.yaml")
	must(t, e.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "remediator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "loadline-manager-remediator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "loadline-manager"}},
	}))
	must(t, e.Create(t.Context(), &v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "all"},
		Spec: v1alpha1.RemediationPolicySpec{
			Mode: v1alpha1.RemediationAutomatic, Allow: []string{v1alpha1.ActionRaiseLimit}, MinPodAgeSeconds: new(int32(0)), ObserveSeconds: new(int32(30)),
		},
	}))
	pod := p.runsAt(t, "api")
	throttled := &throttledPod{uid: string(pod.UID), node: p.nodes[0]}
	server := httptest.NewTLSServer(throttled)
	t.Cleanup(server.Close)
	token := p.gaugeAt(t, server)
	p.startManagerWithItsRole(t, "--remediation", "--gauges", "--gauge-namespace", p.namespace, "--gauge-token-file", token)

	change := p.theRemediation(t)
	if c := &change.Spec.Change; change.Spec.Pod.Name != "api" || c.Action != v1alpha1.ActionRaiseLimit || c.Limit.From.String() != "300m" || c.Limit.To.String() != "1" {
		t.Errorf("proposed is %+v", change.Spec)
	}
	p.await(t, pod, func() bool { return pod.Spec.Containers[0].Resources.Limits.Cpu().String() == "1" })
	throttled.freed.Store(time.Now().UnixNano())
	p.followResize(t, pod)
	p.eventually(t, change, func() bool {
		return has(change.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, "won 0.4")
	})
	if caches := cachesOfAllPods(t, log); len(caches) != 1 {
		t.Errorf("the manager has %d caches of all pods, want one for all controllers: %s", len(caches), caches)
	}
}

// cachesOfAllPods returns the requests in an audit log by which caches began to read and watch the pods of all namespaces, whatever their labels.
func cachesOfAllPods(t *testing.T, path string) (requests []string) {
	t.Helper()
	log, err := os.Open(filepath.Clean(path))
	must(t, err)
	defer log.Close()
	for all := json.NewDecoder(log); ; {
		var event struct{ Stage, RequestURI string }
		err := all.Decode(&event)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the last line is being written
			return requests
		}
		must(t, err)
		u, err := url.Parse(event.RequestURI)
		must(t, err)
		if q := u.Query(); event.Stage == "ResponseStarted" && u.Path == "/api/v1/pods" && q.Get("sendInitialEvents") == "true" && !q.Has("labelSelector") {
			requests = append(requests, event.RequestURI)
		}
	}
}

// gaugeAt makes the pod of a gauge that answers as a server does, and returns the path of the token that it takes.
func (p *place) gaugeAt(t *testing.T, server *httptest.Server) (token string) {
	t.Helper()
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	number, err := strconv.ParseInt(port, 10, 32)
	must(t, err)
	gauge := p.pod("gauge", "gauge")
	gauge.Labels["app.kubernetes.io/part-of"], gauge.Labels["app.kubernetes.io/component"] = "loadline", "gauge"
	gauge.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "https", ContainerPort: int32(number)}}
	p.running(t, gauge, host)
	token = filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("the token"), 0o600))
	return token
}

// throttledPod answers as the gauge of a node on which one pod is throttled for two fifths of its time, until it is freed.
type throttledPod struct {
	uid, node string
	freed     atomic.Int64 // since 1970, in nanoseconds; 0 for not yet
}

func (p *throttledPod) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	last, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const period = 10 * time.Second
	now := time.Now()
	freed := time.Unix(0, p.freed.Load())
	if p.freed.Load() == 0 {
		freed = now
	}
	end := now.Truncate(period)
	report := usage.Report{AgeSeconds: now.Sub(end).Seconds()}
	for i := range min(last, 12) {
		end := end.Add(-time.Duration(min(last, 12)-1-i) * period)
		pod := usage.Pod{UID: p.uid, Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1, CPULoading: 0.5, Times: usage.Times{Run: 5}}
		if end.Add(-period).Before(freed) {
			pod.Dilation, pod.Times = 1/0.6, usage.Times{Run: 3, Throttled: 4}
		}
		report.Intervals = append(report.Intervals, usage.Interval{
			Node: p.node, Start: end.Add(-period), End: end, Seconds: period.Seconds(), CPUs: 16, BusySeconds: pod.Run, CgroupVersion: 2, Pods: []usage.Pod{pod},
		})
	}
	_ = json.NewEncoder(w).Encode(report)
}

// within is how long a plan, or a judgement, takes at most: gauges are asked every half of a minute, and plans are made every minute.
const within = 4 * time.Minute

// theRemediation waits until there is one in the namespace of the place.
func (p *place) theRemediation(t *testing.T) *v1alpha1.Remediation {
	t.Helper()
	var all v1alpha1.RemediationList
	must(t, wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, within, true, func(ctx context.Context) (bool, error) {
		err := p.List(ctx, &all, client.InNamespace(p.namespace))
		return len(all.Items) == 1, err
	}))
	return &all.Items[0]
}

// eventually polls for some minutes until an object is as wanted.
func (p *place) eventually(t *testing.T, o client.Object, wanted func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, within, true, func(ctx context.Context) (bool, error) {
		if err := p.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, err
		}
		return wanted(), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v; it is %+v", o.GetName(), err, o)
	}
}
