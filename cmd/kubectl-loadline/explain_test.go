package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/plugins/dilation"
)

// What explain says of nodes is what the scheduler plugin scores them by: the same
// costs, in the same order, for pods with and without a profile, measured and
// declared, on nodes of several classes and of none.
func TestTheRankingOfExplainIsThatOfTheSchedulerPlugin(t *testing.T) {
	t.Parallel()
	c := randomCluster(rand.New(rand.NewPCG(8, 6)))
	plugin := c.plugin(t)
	file := c.write(t)
	for _, pod := range c.pods {
		if pod.Status.Phase == corev1.PodSucceeded {
			continue
		}
		want := c.scores(t, plugin, pod)
		got := explained(t, file, pod)
		if len(got) != len(want) {
			t.Fatalf("%s: %d nodes, want %d", pod.Name, len(got), len(want))
		}
		for i, n := range got {
			if score := want[n.Node]; math.Abs(n.Cost-score) > 1e-12*math.Max(1, score) {
				t.Errorf("%s on %s: cost %v, the plugin has %v", pod.Name, n.Node, n.Cost, score)
			}
			if i > 0 && n.Rank > got[i-1].Rank && want[n.Node] <= want[got[i-1].Node] {
				t.Errorf("%s: %s ranks above %s, and scores %v and %v", pod.Name, got[i-1].Node, n.Node, want[got[i-1].Node], want[n.Node])
			}
		}
	}
}

// ranked is a node as explain -o json prints it.
type ranked struct {
	Node string
	Cost float64
	Rank int
}

// explained returns the nodes in the order that explain gives them.
func explained(t *testing.T, file string, pod *corev1.Pod) []ranked {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"explain", "pod", pod.Namespace + "/" + pod.Name, "-f", file, "--nodes", "-o", "json"}
	if code := cli.Run(t.Context(), "v1", args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
	}
	var answer struct{ Nodes []ranked }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Nodes
}

// testCluster is a cluster in which every pod fits on every node.
type testCluster struct {
	nodes     []*corev1.Node
	pods      []*corev1.Pod
	workloads []*v1alpha1.WorkloadProfile
	classes   []*v1alpha1.NodeProfile
}

// randomCluster makes a cluster up.
func randomCluster(random *rand.Rand) *testCluster {
	c := &testCluster{}
	for i, servers := range []map[string]int32{{"disk": 2, "gpu": 4}, {"cpu": 3, "disk": 8}} {
		p := &v1alpha1.NodeProfile{ObjectMeta: object("", fmt.Sprintf("class-%d", i))}
		p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"class": fmt.Sprint(i)}}
		for _, name := range []string{"cpu", "disk", "gpu"} {
			if n, ok := servers[name]; ok {
				p.Spec.Resources = append(p.Spec.Resources, v1alpha1.ResourceServers{Name: name, Servers: &n})
			}
		}
		c.classes = append(c.classes, p)
	}
	for i := range 12 {
		node := &corev1.Node{ObjectMeta: object("", fmt.Sprintf("node-%02d", i))}
		node.Labels = map[string]string{"class": fmt.Sprint(random.IntN(3))} // of the last there is no profile
		node.Status.Allocatable = corev1.ResourceList{"cpu": *resource.NewQuantity(1+random.Int64N(16), resource.DecimalSI)}
		c.nodes = append(c.nodes, node)
	}
	for i := range 6 {
		c.workloads = append(c.workloads, randomWorkload(random, i))
	}
	for i := range 60 {
		pod := &corev1.Pod{ObjectMeta: object([]string{"etl", "shop"}[random.IntN(2)], fmt.Sprintf("pod-%02d", i))}
		pod.Labels = map[string]string{"app": fmt.Sprint(random.IntN(8))} // for two of these there is no profile
		pod.Spec.Containers = []corev1.Container{{Name: "main"}}
		if random.IntN(3) == 0 { // less than any node has, so that all fit
			pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": *resource.NewMilliQuantity(1+random.Int64N(15), resource.DecimalSI)}
		}
		pod.Spec.NodeName = c.nodes[random.IntN(len(c.nodes))].Name
		pod.Status.Phase = corev1.PodRunning
		switch i % 10 {
		case 0:
			pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
		case 1:
			pod.Status.Phase = corev1.PodSucceeded
		}
		c.pods = append(c.pods, pod)
	}
	return c
}

// randomWorkload makes a profile up: one in three is measured on a class, and one of
// these is not declared; one is left to a measurement that is not there.
func randomWorkload(random *rand.Rand, i int) *v1alpha1.WorkloadProfile {
	w := &v1alpha1.WorkloadProfile{ObjectMeta: object([]string{"etl", "shop"}[i%2], fmt.Sprintf("profile-%d", i))}
	w.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}
	if i%2 == 1 {
		w.Spec.Importance = fraction(100 * random.Float64())
	}
	measured := i%3 == 0
	if measured || i == 5 {
		w.Spec.Measurement = &v1alpha1.Measurement{}
	}
	if i != 3 && i != 5 {
		for _, name := range []string{"cpu", "disk"} {
			d := v1alpha1.ResourceDemand{Name: name, Loading: fraction(random.Float64() / 2), Threads: new(1 + random.Int32N(3))}
			if random.IntN(2) == 0 {
				d.Pressure = fraction(random.Float64())
			}
			w.Spec.Resources = append(w.Spec.Resources, d)
		}
	}
	if measured {
		m := v1alpha1.MeasuredVector{NodeProfile: "class-1", Node: "node-00", Time: new(metav1.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), Question: "q", Method: "probes", Rounds: new(int32(3))}
		for _, name := range []string{"cpu", "gpu"} {
			m.Resources = append(m.Resources, v1alpha1.MeasuredLoading{
				Name: name, Loading: fraction(random.Float64() / 2), Pressure: fraction(random.Float64()), Threads: new(1 + random.Int32N(3)), Samples: new(int32(3)),
			})
		}
		w.Status.Measurements = []v1alpha1.MeasuredVector{m}
	}
	return w
}

func object(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), Generation: 1}
}

func fraction(f float64) *resource.Quantity { return new(resource.MustParse(fmt.Sprintf("%.4f", f))) }

// plugin returns the scheduler's, which has read the profiles of the cluster.
func (c *testCluster) plugin(t *testing.T) *dilation.Dilation {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(c.serveProfiles))
	t.Cleanup(func() {
		server.CloseClientConnections() // the plugin watches
		server.Close()
	})
	p, err := dilation.New(t.Context(), nil, schedulerHandle{config: &rest.Config{Host: server.URL}, nodes: len(c.nodes)})
	if err != nil {
		t.Fatal(err)
	}
	plugin, is := p.(*dilation.Dilation)
	if !is {
		t.Fatalf("the plugin is a %T", p)
	}
	return plugin
}

// serveProfiles is all of an API server that the plugin asks.
func (c *testCluster) serveProfiles(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var answer any
	switch query := r.URL.Query(); {
	case query.Get("sendInitialEvents") != "": // as servers do that cannot
		w.WriteHeader(http.StatusUnprocessableEntity)
		answer = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity}
	case query.Get("watch") != "": // nothing changes
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err == nil {
			<-r.Context().Done()
		}
		return
	case strings.HasSuffix(r.URL.Path, "/workloadprofiles"):
		list := &v1alpha1.WorkloadProfileList{TypeMeta: ofKind("WorkloadProfileList"), ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		for _, p := range c.workloads {
			list.Items = append(list.Items, *p)
		}
		answer = list
	default:
		list := &v1alpha1.NodeProfileList{TypeMeta: ofKind("NodeProfileList"), ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		for _, p := range c.classes {
			list.Items = append(list.Items, *p)
		}
		answer = list
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that is gone needs no answer
}

func ofKind(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind}
}

// schedulerHandle is what the plugin asks the scheduler for.
type schedulerHandle struct {
	fwk.Handle
	fwk.SharedLister
	fwk.NodeInfoLister
	config *rest.Config
	nodes  int
}

func (h schedulerHandle) KubeConfig() *rest.Config                { return h.config }
func (h schedulerHandle) SnapshotSharedLister() fwk.SharedLister  { return h }
func (schedulerHandle) EventRecorder() events.EventRecorderLogger { return nil }

// SharedInformerFactory returns one whose informers are never started.
func (h schedulerHandle) SharedInformerFactory() informers.SharedInformerFactory {
	return informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(h.config), 0)
}

func (h schedulerHandle) NodeInfos() fwk.NodeInfoLister { return h }

// Get finds none: the nodes that are scored are made anew each time.
func (schedulerHandle) Get(name string) (fwk.NodeInfo, error) {
	return nil, fmt.Errorf("there is no node %q", name)
}

func (h schedulerHandle) List() ([]fwk.NodeInfo, error) { return make([]fwk.NodeInfo, h.nodes), nil }

// scores returns the costs that the plugin's scores of all nodes stand for, of a pod
// that is on none.
func (c *testCluster) scores(t *testing.T, plugin *dilation.Dilation, pod *corev1.Pod) map[string]float64 {
	t.Helper()
	var nodes []fwk.NodeInfo
	for _, node := range c.nodes {
		var there []*corev1.Pod
		for _, other := range c.pods {
			if other != pod && other.Spec.NodeName == node.Name && other.Status.Phase == corev1.PodRunning {
				there = append(there, other)
			}
		}
		info := framework.NewNodeInfo(there...)
		info.SetNode(node)
		nodes = append(nodes, info)
	}
	state := framework.NewCycleState()
	if status := plugin.PreScore(t.Context(), state, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	costs := map[string]float64{}
	for _, node := range nodes {
		score, status := plugin.Score(t.Context(), state, pod, node)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		costs[node.Node().Name] = math.Float64frombits(uint64(score))
	}
	return costs
}

// write writes the cluster to a file, as kubectl get -o json prints it.
func (c *testCluster) write(t *testing.T) string {
	t.Helper()
	list := corev1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}}
	add := func(o client.Object, kind metav1.TypeMeta) {
		o.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
		list.Items = append(list.Items, runtime.RawExtension{Object: o})
	}
	for _, node := range c.nodes {
		add(node, metav1.TypeMeta{APIVersion: "v1", Kind: "Node"})
	}
	for _, pod := range c.pods {
		add(pod, metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"})
	}
	for _, p := range c.workloads {
		add(p, ofKind("WorkloadProfile"))
	}
	for _, p := range c.classes {
		add(p, ofKind("NodeProfile"))
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The test would prove little if nodes cost the same, or if some kind of pod were
// missing.
func TestTheRandomClusterHasPodsAndNodesOfEveryKind(t *testing.T) {
	t.Parallel()
	c := randomCluster(rand.New(rand.NewPCG(8, 6)))
	plugin := c.plugin(t)
	distinct, profiled, pending := 0, 0, 0
	for _, pod := range c.pods {
		var costs []float64
		for _, cost := range c.scores(t, plugin, pod) {
			costs = append(costs, cost)
		}
		slices.SortFunc(costs, cmp.Compare[float64])
		if costs[0] != costs[len(costs)-1] {
			distinct++
		}
		if slices.ContainsFunc(c.workloads, func(w *v1alpha1.WorkloadProfile) bool {
			return w.Namespace == pod.Namespace && w.Spec.Selector.MatchLabels["app"] == pod.Labels["app"]
		}) {
			profiled++
		}
		if pod.Spec.NodeName == "" {
			pending++
		}
	}
	if distinct < 50 || profiled < 10 || profiled > 50 || pending < 5 {
		t.Errorf("of %d pods %d have nodes to choose from, %d follow a profile and %d wait for a node", len(c.pods), distinct, profiled, pending)
	}
}
