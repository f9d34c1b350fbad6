package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"loadline.dev/loadline/hack/comparison"
)

// apiServer is as much of an API server as the descheduler asks: it lists nodes, pods and what else there is, says through metrics.k8s.io
// what they use, and grants every eviction. Nothing changes while it runs, so watches stay silent.
type apiServer struct {
	cluster *cluster
	use     map[int]float64 // processors that each pod keeps busy

	mu      sync.Mutex
	evicted []int // in the order in which they were

	server   http.Server
	listener net.Listener
}

// startAPIServer starts the API server of a cluster given how many processors its pods keep busy. The caller ends it with close.
func startAPIServer(ctx context.Context, c *cluster, use map[int]float64) (*apiServer, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &apiServer{cluster: c, use: use, listener: listener}
	a.server = http.Server{Handler: a.handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = a.server.Serve(listener) }() // it ends with close
	return a, nil
}

func (a *apiServer) close() error { return a.server.Close() }

// kubeconfig returns the content of a kubeconfig that leads to the server.
func (a *apiServer) kubeconfig() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://%s"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
`, a.listener.Addr())
}

// handler returns the routes.
func (a *apiServer) handler() http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern string, of func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { write(w, r, of) })
	}
	fixed := func(pattern string, object any) {
		answer(pattern, func(*http.Request) (any, error) { return object, nil })
	}
	fixed("GET /version", version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.0"})
	fixed("GET /api", metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	fixed("GET /apis", metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{group("policy/v1")}})
	fixed("GET /api/v1", metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
		APIResources: []metav1.APIResource{{Name: "pods/eviction", Namespaced: true, Kind: "Eviction", Group: "policy", Version: "v1"}},
	})
	namespace := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.cluster.scenario.Namespace()}}
	fixed("GET /api/v1/nodes", corev1.NodeList{TypeMeta: list("NodeList", "v1"), ListMeta: listed, Items: a.cluster.nodes})
	fixed("GET /api/v1/pods", corev1.PodList{TypeMeta: list("PodList", "v1"), ListMeta: listed, Items: a.cluster.objects()})
	fixed("GET /api/v1/namespaces", corev1.NamespaceList{TypeMeta: list("NamespaceList", "v1"), ListMeta: listed, Items: []corev1.Namespace{namespace}})
	fixed("GET /api/v1/persistentvolumeclaims", corev1.PersistentVolumeClaimList{TypeMeta: list("PersistentVolumeClaimList", "v1"), ListMeta: listed})
	fixed("GET /apis/policy/v1/poddisruptionbudgets", policyv1.PodDisruptionBudgetList{TypeMeta: list("PodDisruptionBudgetList", "policy/v1"), ListMeta: listed})
	fixed("GET /apis/scheduling.k8s.io/v1/priorityclasses", schedulingv1.PriorityClassList{TypeMeta: list("PriorityClassList", "scheduling.k8s.io/v1"), ListMeta: listed})
	fixed("POST /api/v1/namespaces/{namespace}/events", corev1.Event{TypeMeta: list("Event", "v1")})
	answer("GET /apis/metrics.k8s.io/v1beta1/nodes/{name}", a.nodeMetrics)
	answer("GET /apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods/{name}", a.podMetrics)
	answer("POST /api/v1/namespaces/{namespace}/pods/{name}/eviction", a.evict)
	return mux
}

// listed is what lists say of themselves.
var listed = metav1.ListMeta{ResourceVersion: "1"}

func list(kind, version string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: version}
}

func group(version string) metav1.APIGroup {
	name, number, _ := strings.Cut(version, "/")
	of := metav1.GroupVersionForDiscovery{GroupVersion: version, Version: number}
	return metav1.APIGroup{Name: name, Versions: []metav1.GroupVersionForDiscovery{of}, PreferredVersion: of}
}

// errNotFound is that of an object which is not there.
var errNotFound = errors.New("not found")

// write answers a request. A watch has nothing to say, until the client ends it; one that would list first is refused, so that clients list.
func write(w http.ResponseWriter, r *http.Request, of func(r *http.Request) (any, error)) {
	w.Header().Set("Content-Type", "application/json")
	code := http.StatusOK
	var object any
	var err error
	switch {
	case r.URL.Query().Get("sendInitialEvents") != "":
		code, object = http.StatusUnprocessableEntity, failure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case r.URL.Query().Get("watch") != "":
		w.WriteHeader(code)
		if http.NewResponseController(w).Flush() == nil {
			<-r.Context().Done()
		}
		return
	default:
		if object, err = of(r); err != nil {
			code, object = http.StatusNotFound, failure(http.StatusNotFound, metav1.StatusReasonNotFound)
		} else if r.Method == http.MethodPost {
			code = http.StatusCreated
		}
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) // the client has gone
}

func failure(code int32, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{TypeMeta: list("Status", "v1"), Status: metav1.StatusFailure, Code: code, Reason: reason, Message: string(reason)}
}

// measured are NodeMetrics and PodMetrics of metrics.k8s.io, as far as they have something to say.
type measured struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Timestamp  metav1.Time         `json:"timestamp"`
	Window     metav1.Duration     `json:"window"`
	Usage      corev1.ResourceList `json:"usage,omitempty"`
	Containers []containerMetrics  `json:"containers,omitempty"`
}

type containerMetrics struct {
	Name  string              `json:"name"`
	Usage corev1.ResourceList `json:"usage"`
}

func (a *apiServer) nodeMetrics(r *http.Request) (any, error) {
	n, known := a.cluster.index[r.PathValue("name")]
	if !known {
		return nil, errNotFound
	}
	var pods []int
	for i, at := range a.cluster.at {
		if at == n {
			pods = append(pods, i)
		}
	}
	return measured{
		TypeMeta: list("NodeMetrics", "metrics.k8s.io/v1beta1"), ObjectMeta: metav1.ObjectMeta{Name: r.PathValue("name")},
		Window: window, Usage: a.usage(pods...),
	}, nil
}

func (a *apiServer) podMetrics(r *http.Request) (any, error) {
	i, known := a.cluster.pods[r.PathValue("name")]
	if !known || a.cluster.at[i] == comparison.Nowhere {
		return nil, errNotFound
	}
	return measured{
		TypeMeta: list("PodMetrics", "metrics.k8s.io/v1beta1"), ObjectMeta: metav1.ObjectMeta{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")},
		Window: window, Containers: []containerMetrics{{"main", a.usage(i)}},
	}, nil
}

// window is the time over which use is the mean: that of the gauges' intervals.
var window = metav1.Duration{Duration: intervals * seconds * time.Second}

// usage returns what some pods use together. Of memory they use what they request.
func (a *apiServer) usage(pods ...int) corev1.ResourceList {
	cpu, memory := 0.0, int64(0)
	for _, i := range pods {
		cpu += a.use[i]
		memory += a.cluster.scenario.Pods[i].Application.MiB
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(1000*cpu+0.5), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory<<20, resource.BinarySI),
	}
}

func (a *apiServer) evict(r *http.Request) (any, error) {
	i, known := a.cluster.pods[r.PathValue("name")]
	if !known {
		return nil, errNotFound
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.evicted = append(a.evicted, i)
	return metav1.Status{TypeMeta: list("Status", "v1"), Status: metav1.StatusSuccess}, nil
}
