package observability

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/gauge/metrics"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/test/kubelet"
)

// site is a cluster with two managers and two schedulers, of which one each leads,
// and a gauge, where something is going on.
type site struct {
	client.WithWatch
	plane                *controlplane.ControlPlane
	managers, schedulers []string // HOST:PORT of their metrics
	gauge                string   // likewise
	token                string   // of a service account that may read these
	plugin               string   // the path of kubectl-loadline
}

// The namespaces of a site.
const (
	shop    = "shop"    // pods, and a pool that is scaled
	replays = "replays" // a TraceReplay
	refused = "refused" // a measurement that a quota prevents
)

func startSite(t *testing.T) *site {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	dir := t.TempDir()
	binaries := map[string]string{}
	for _, name := range []string{"loadline-manager", "loadline-scheduler", "kubectl-loadline"} {
		path, err := local.Build(t.Context(), root(t), dir, name)
		must(t, err)
		binaries[name] = path
	}
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Log: os.Stderr})
	must(t, err)
	t.Cleanup(func() { must(t, plane.Stop()) })
	must(t, local.InstallCRDs(plane.RESTConfig(), root(t)))
	c, err := local.NewClient(plane.RESTConfig())
	must(t, err)
	s := &site{WithWatch: c, plane: plane, plugin: binaries["kubectl-loadline"]}
	s.makeReader(t)
	s.startGauge(t)
	for range 2 {
		s.startManager(t, binaries["loadline-manager"])
		s.startScheduler(t, binaries["loadline-scheduler"])
	}
	for _, name := range []string{shop, replays, refused} {
		must(t, s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
		// The controller manager makes it too; the API server admits no pod before.
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}}
		must(t, client.IgnoreAlreadyExists(s.Create(t.Context(), account)))
	}
	return s
}

// makeReader makes an account with the role that Prometheus is to have, and takes a token of it.
func (s *site) makeReader(t *testing.T) {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	content, err := os.ReadFile(filepath.Join(root(t), "config", "rbac", "metrics-reader.yaml"))
	must(t, err)
	s.apply(t, string(content), role)
	reader := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "prometheus"}}
	must(t, s.Create(t.Context(), reader))
	must(t, s.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: reader.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: reader.Namespace, Name: reader.Name}},
	}))
	request := &authenticationv1.TokenRequest{}
	must(t, s.SubResource("token").Create(t.Context(), reader, request))
	s.token = request.Status.Token
}

func (s *site) startManager(t *testing.T, binary string) {
	t.Helper()
	address := freeAddress(t)
	p, err := local.StartManager(t.Context(), binary, s.plane.Kubeconfig(),
		"--metrics-bind-address", address, "--leader-elect", "--leader-election-namespace", "default", "--gauges", "--remediation")
	must(t, err)
	s.managers = append(s.managers, address)
	stopAfter(t, p)
}

func (s *site) startScheduler(t *testing.T, binary string) {
	t.Helper()
	profiles, err := local.ShippedProfiles(root(t))
	must(t, err)
	profiles = ordered(profiles)
	config, err := local.SchedulerConfig(t.TempDir(), s.plane.Kubeconfig(), profiles)
	must(t, err)
	content, err := os.ReadFile(filepath.Clean(config))
	must(t, err)
	const lease = "{leaderElect: true, resourceName: loadline-scheduler, resourceNamespace: kube-system, leaseDuration: 60s, renewDeadline: 50s}"
	elected := strings.Replace(string(content), "{leaderElect: false}", lease, 1)
	must(t, os.WriteFile(config, []byte(elected), 0o600))
	p, err := local.StartScheduler(t.Context(), binary, config)
	must(t, err)
	s.schedulers = append(s.schedulers, strings.TrimPrefix(p.Address(), "https://"))
	stopAfter(t, p)
}

// startGauge serves the metrics of a gauge that sees something else at each scrape: a pod that waits, one that its limit throttles,
// and a hypervisor that takes its part.
func (s *site) startGauge(t *testing.T) {
	t.Helper()
	registry := prom.NewRegistry()
	m, err := metrics.New(registry, metrics.Options{MaxPods: 10, Stale: time.Minute, Clock: clock.RealClock{}})
	must(t, err)
	const seconds = 2
	pod := func(name string, run, wait, throttled float64) usage.Pod {
		dilation := (run + wait + throttled) / run
		return usage.Pod{
			UID: "uid-of-" + name, Namespace: shop, Name: name, Seconds: seconds, Tasks: 1, Threads: 1, Dilation: dilation, CPULoading: run * dilation / seconds,
			Times: usage.Times{Run: run, Wait: wait, Throttled: throttled},
		}
	}
	pods := []usage.Pod{pod("batch", 1.8, 0.1, 0), pod("cart", 0.1, 0.9, 0), pod("search", 0.4, 0, 0.4)}
	m.Named(nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		end := time.Now()
		m.Sampled(&usage.Interval{
			Node: "node", Start: end.Add(-seconds * time.Second), End: end, Seconds: seconds, CPUs: 2, BusySeconds: 2.3, StolenSeconds: 0.2, CgroupVersion: 2, Pods: pods,
		}, time.Millisecond)
		promhttp.HandlerFor(m.Gatherer(registry), promhttp.HandlerOpts{}).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.gauge = server.Listener.Addr().String()
}

// ordered returns profiles whose queue is sorted by SLAOrder. A second is long for a
// pod to wait, so that one that fits nowhere soon shows as overdue.
func ordered(profiles string) string {
	return strings.NewReplacer(
		"  plugins:\n", "  plugins:\n    queueSort: {disabled: [{name: PrioritySort}], enabled: [{name: SLAOrder}]}\n",
		"  pluginConfig:\n", "  pluginConfig:\n  - {name: SLAOrder, args: {maxWaitSeconds: 1}}\n",
	).Replace(profiles)
}

func stopAfter(t *testing.T, p *local.Process) {
	t.Helper()
	t.Cleanup(func() {
		must(t, p.Stop())
		if t.Failed() {
			t.Logf("the log of %s:\n%s", p.Address(), p.Log())
		}
	})
}

// work has pods placed, a pool scaled, a trace replayed and a measurement fail,
// and returns when all is over.
func (s *site) work(t *testing.T) {
	t.Helper()
	nodes := make([]*corev1.Node, 4)
	for i := range nodes {
		role := "pods"
		if i == 0 {
			role = "measurements"
		}
		nodes[i] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{"role": role}}}
	}
	must(t, s.plane.AddNodes(t.Context(), nodes...))
	s.apply(t, fmt.Sprintf(`
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: sort, namespace: %s}
spec:
  selector: {matchLabels: {app: sort}}
  resources: [{name: cpu, loading: "0.9"}, {name: disk, loading: "0.1"}]
  sla: {responseTimeMillis: 3600000, probability: "0.5"}
`, shop), &v1alpha1.WorkloadProfile{})
	measured := s.startMeasurement(t)
	replay := s.startReplay(t)
	s.startPool(t)
	s.startPolicy(t)
	s.placePods(t)
	s.awaitCondition(t, replay, &replay.Status.Conditions, v1alpha1.ConditionComplete, v1alpha1.ReasonSucceeded)
	s.awaitCondition(t, measured, &measured.Status.Conditions, v1alpha1.ConditionMeasured, v1alpha1.ReasonTargetFailed)
}

// placePods creates pods, some of which have a profile, for half a minute, and
// then one that fits nowhere.
func (s *site) placePods(t *testing.T) {
	t.Helper()
	const pods = 150
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for i := range pods {
		app := "sort"
		if i%4 == 0 {
			app = "other"
		}
		must(t, s.Create(t.Context(), pod(fmt.Sprintf("%s-%03d", app, i), app, map[string]string{"role": "pods"})))
		<-ticks.C
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	placed, err := local.AwaitPods(ctx, s, shop, func(pods map[string]*corev1.Pod) bool { return local.AllBound(len(pods))(pods) })
	must(t, err)
	s.succeed(t, placed["sort-001"])
	must(t, s.Create(t.Context(), pod("nowhere", "other", map[string]string{"role": "none"})))
}

// succeed has a pod end, a second after its creation.
func (s *site) succeed(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", FinishedAt: metav1.NewTime(pod.CreationTimestamp.Add(time.Second)),
		}},
	}}
	must(t, s.Status().Patch(t.Context(), pod, client.MergeFrom(before)))
}

// pod returns a pod of the shop for loadline-scheduler.
func pod(name, app string, nodes map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulerName: "loadline", NodeSelector: nodes,
			Containers: []corev1.Container{{Name: "main", Image: "example.test/none"}},
		},
	}
}

// startPool makes a pool that needs more replicas than it has.
func (s *site) startPool(t *testing.T) {
	t.Helper()
	template := pod("checkout", "checkout", map[string]string{"role": "pods"})
	must(t, s.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "checkout"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
		},
	}))
	plan := &v1alpha1.PoolPlan{}
	s.apply(t, fmt.Sprintf(`
apiVersion: loadline.dev/v1alpha1
kind: PoolPlan
metadata: {name: shop}
spec:
  mode: apply
  classes:
  - {name: checkout, arrival: {ratePerSecond: "20"}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500}}
  pools:
  - {name: checkout, classes: [checkout], scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: %s, name: checkout}, maxServers: 40}
`, shop), plan)
	s.awaitCondition(t, plan, &plan.Status.Conditions, v1alpha1.ConditionReady, v1alpha1.ReasonPlanned)
}

// startPolicy has changes of pods shown, of which there are none.
func (s *site) startPolicy(t *testing.T) {
	t.Helper()
	policy := &v1alpha1.RemediationPolicy{}
	s.apply(t, "apiVersion: loadline.dev/v1alpha1\nkind: RemediationPolicy\nmetadata: {name: shop}", policy)
	s.awaitCondition(t, policy, &policy.Status.Conditions, v1alpha1.ConditionReady, v1alpha1.ReasonAdvising)
}

// startReplay has a made-up trace replayed by processes of this machine.
func (s *site) startReplay(t *testing.T) *v1alpha1.TraceReplay {
	t.Helper()
	node, err := kubelet.Start(t.Context(), s, kubelet.Options{
		Node: "kubelet", Namespace: replays, Dir: t.TempDir(), Commands: map[string]string{"kubectl-loadline": s.plugin},
	})
	must(t, err)
	t.Cleanup(func() { must(t, node.Stop()) })
	s.apply(t, fmt.Sprintf(`
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: job, namespace: %s}
spec:
  selector: {matchLabels: {app: job}}
  resources: [{name: cpu, loading: "0.6"}, {name: disk, loading: "0.3"}]
  neutralMillis: 1000
`, replays), &v1alpha1.WorkloadProfile{})
	replay := &v1alpha1.TraceReplay{}
	s.apply(t, fmt.Sprintf(`
apiVersion: loadline.dev/v1alpha1
kind: TraceReplay
metadata: {name: generated, namespace: %s}
spec:
  arrivals: {jobs: 100, interarrival: {meanMillis: 400}, types: [{profile: job}]}
  nodes: [{name: small, count: 3}]
  policies: [{name: round-robin}, {name: least-dilation}]
  seeds: 2
`, replays), replay)
	return replay
}

// startMeasurement asks for a measurement that cannot begin.
func (s *site) startMeasurement(t *testing.T) *v1alpha1.WorkloadProfile {
	t.Helper()
	must(t, s.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: refused, Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}))
	must(t, s.Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: refused, Name: "filecomp"},
		Spec: batchv1.JobSpec{Suspend: new(true), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "example.test/filecomp"}},
		}}},
	}))
	profile := &v1alpha1.WorkloadProfile{}
	s.apply(t, fmt.Sprintf(`
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: filecomp, namespace: %s}
spec:
  selector: {matchLabels: {app: filecomp}}
  measurement:
    target: {kind: Job, name: filecomp}
    resources: [{name: cpu}]
    nodes: {matchLabels: {role: measurements}}
`, refused), profile)
	return profile
}

// apply creates the object that a manifest is of.
func (s *site) apply(t *testing.T, manifest string, o client.Object) {
	t.Helper()
	must(t, yaml.UnmarshalStrict([]byte(manifest), o))
	must(t, s.Create(t.Context(), o))
}

// awaitCondition waits until a condition of an object has a reason.
func (s *site) awaitCondition(t *testing.T, o client.Object, conditions *[]metav1.Condition, kind, reason string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if err := s.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, err
		}
		c := meta.FindStatusCondition(*conditions, kind)
		return c != nil && c.Reason == reason, nil
	})
	if err != nil {
		t.Fatalf("waiting for %s of %s to be %s: %v; the conditions are %+v", kind, o.GetName(), reason, err, *conditions)
	}
}
