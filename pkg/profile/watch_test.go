package profile_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

func TestWatchKeepsTheIndexUpToDate(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.install()
	web := declared("web", demand("cpu", "0.5"))
	server.set("workloadprofiles", "ADDED", web)
	server.set("nodeprofiles", "ADDED", machines("big", servers("gpu", 8)))

	x, _ := server.watched(t)
	if got := cpuOf(x.Snapshot(), pod("web")); got != 0.5 {
		t.Errorf("once all profiles are read the loading of cpu is %v, want 0.5", got)
	}
	if n := len(x.Snapshot().Resources().Names()); n != 6 {
		t.Errorf("once all profiles are read there are %d resources, want 6", n)
	}
	server.set("workloadprofiles", "MODIFIED", changed(web, spends("0.25")))
	eventually(t, "the loading of cpu becomes 0.25", func() bool { return cpuOf(x.Snapshot(), pod("web")) == 0.25 })
	server.set("workloadprofiles", "DELETED", web)
	eventually(t, "the profile is gone", func() bool { return x.Snapshot().Workload(pod("web")) == nil })
}

func TestWatchBeginsOnceTheResourceDefinitionsAreInstalled(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.set("workloadprofiles", "ADDED", declared("web", demand("cpu", "0.5")))
	failures := make(chan string, 100)
	x, synced := server.watch(t, failures)

	for _, resource := range []string{"workloadprofiles", "nodeprofiles"} {
		seen := ""
		for !strings.Contains(seen, resource) {
			seen = receive(t, failures)
			if want := "Are Loadline's resource definitions installed"; !strings.Contains(seen, want) {
				t.Errorf("the log says %q and not %q", seen, want)
			}
		}
	}
	if synced[0]() || synced[1]() {
		t.Error("the profiles count as read, and there are none to read")
	}
	if w := x.Snapshot().Workload(pod("web")); w != nil {
		t.Errorf("a pod follows %+v before it can be known", w)
	}
	server.install()
	eventually(t, "the profiles are read", func() bool { return synced[0]() && synced[1]() })
	if got := cpuOf(x.Snapshot(), pod("web")); got != 0.5 {
		t.Errorf("the loading of cpu is %v, want 0.5", got)
	}
}

func TestTheIndexKeepsWhatItHasWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.install()
	server.set("workloadprofiles", "ADDED", declared("web", demand("cpu", "0.5")))
	x, failures := server.watched(t)

	server.uninstall() // breaks the watches, too
	receive(t, failures)
	if got := cpuOf(x.Snapshot(), pod("web")); got != 0.5 {
		t.Errorf("while the server is away the loading of cpu is %v, want 0.5", got)
	}
	server.set("workloadprofiles", "DELETED", declared("web"))
	server.set("workloadprofiles", "ADDED", declared("db", demand("disk", "1")))
	server.install()
	eventually(t, "the changes arrive", func() bool {
		s := x.Snapshot()
		return s.Workload(pod("web")) == nil && s.Workload(pod("db")) != nil
	})
}

// What is not read of a profile is not kept. Whatever a profile has, pods follow it as if
// all of it had been.
func TestWatchKeepsAllThatProfilesSay(t *testing.T) {
	t.Parallel()
	full := func(name string) *v1alpha1.WorkloadProfile {
		p := declared(name, demand("cpu", "0.5"), demand("gpu", "0.25"))
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		p.Spec.Interference = []v1alpha1.Interference{{Name: "cache", Pressure: quantity("0.5")}}
		p.Spec.NeutralMillis = new(int64(2000))
		p.Spec.SLA = &v1alpha1.SLA{ResponseTimeMillis: new(int64(5000)), Probability: quantity("0.9"), MaxDilation: quantity("1.5")}
		p.Spec.Importance = quantity("3")
		p.Spec.Arrival = &v1alpha1.Arrival{RatePerSecond: quantity("2")}
		p.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}
		return p
	}
	observedOn := func(class string) []v1alpha1.WorkloadObservation {
		return []v1alpha1.WorkloadObservation{{
			NodeProfile: class, Time: new(metav1.NewTime(noon)), Recommended: &v1alpha1.RecommendedLoading{CPULoading: quantity("0.75"), Threads: new(int32(2))},
		}}
	}
	more := measured(full("measured"), on("big", noon, found("cpu", "0.125", "0.25")))
	more.Status.Observations = observedOn("big")
	observed := full("observed")
	observed.Spec.Resources, observed.Spec.Observation = nil, &v1alpha1.Observation{Mode: v1alpha1.ModeApply}
	observed.Status.Observations = observedOn("big")
	advised := full("advised")
	advised.Spec.Resources, advised.Spec.Observation = nil, &v1alpha1.Observation{}
	advised.Status.Observations = observedOn("big")
	nodes := machines("big", servers("gpu", 8))
	nodes.Spec.Interference = []v1alpha1.ResourceDomains{{Name: "cache"}}

	server := newAPIServer(t)
	server.install()
	server.set("nodeprofiles", "ADDED", nodes)
	for _, p := range []*v1alpha1.WorkloadProfile{full("declared"), more, observed, advised} {
		server.set("workloadprofiles", "ADDED", p)
	}
	x, _ := server.watched(t)
	all := indexOf(nodes, full("declared"), more, observed, advised).Snapshot()
	for _, name := range []string{"declared", "measured", "observed", "advised"} {
		got, want := x.Snapshot().Workload(pod(name)), all.Workload(pod(name))
		if got == nil || want == nil {
			t.Fatalf("%s: watched it is %v, else %v", name, got, want)
		}
		says := func(w *profile.Workload) []any {
			return []any{w.Namespace, w.Name, w.MaxDilation, w.Importance, *w.SLA, w.NeutralSeconds, w.On(profile.AnyClass), w.On("big")}
		}
		if diff := cmp.Diff(says(want), says(got)); diff != "" {
			t.Errorf("%s says something else when it is watched (-want +got):\n%s", name, diff)
		}
	}

	more.Status.Measurements[0] = on("big", noon.Add(time.Hour), found("cpu", "0.375", "0.5"))
	server.set("workloadprofiles", "MODIFIED", more)
	eventually(t, "what was measured counts", func() bool {
		return x.Snapshot().Workload(pod("measured")).On("big").Vector[0].Loading == 0.375
	})
}

// apiServer answers list and watch requests for profiles once these are
// installed, and "not found" before.
type apiServer struct {
	*httptest.Server

	mu        sync.Mutex
	installed bool
	objects   map[string]map[string]runtime.Object // by resource and name
	changes   map[string][]metav1.WatchEvent       // by resource; the nth made version n
	watches   map[chan metav1.WatchEvent]string    // the resources of open watches
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{
		objects: map[string]map[string]runtime.Object{}, changes: map[string][]metav1.WatchEvent{}, watches: map[chan metav1.WatchEvent]string{},
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.uninstall()
		s.Close()
	})
	return s
}

func (s *apiServer) install() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.installed = true
}

func (s *apiServer) uninstall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.installed = false
	for events := range s.watches {
		close(events)
	}
	clear(s.watches)
}

// set changes the stored objects and notifies the watches.
func (s *apiServer) set(resource, change string, object runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]runtime.Object{}
	}
	object = object.DeepCopyObject()
	kind := map[string]string{"workloadprofiles": "WorkloadProfile", "nodeprofiles": "NodeProfile"}[resource]
	object.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	name := ""
	if o, ok := object.(metav1.Object); ok {
		o.SetResourceVersion(strconv.Itoa(len(s.changes[resource]) + 1))
		name = o.GetName()
	}
	s.objects[resource][name] = object
	if change == "DELETED" {
		delete(s.objects[resource], name)
	}
	event := metav1.WatchEvent{Type: change, Object: runtime.RawExtension{Object: object}}
	s.changes[resource] = append(s.changes[resource], event)
	for events, of := range s.watches {
		if of == resource {
			events <- event
		}
	}
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	resource, known := strings.CutPrefix(r.URL.Path, "/apis/loadline.dev/v1alpha1/")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch query := r.URL.Query(); {
	case !known || !s.installed:
		answer(w, http.StatusNotFound, metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
	case query.Get("sendInitialEvents") != "": // as servers do that cannot
		answer(w, http.StatusUnprocessableEntity, metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		})
	case query.Get("watch") != "":
		events := make(chan metav1.WatchEvent, 100)
		s.watches[events] = resource
		seen, _ := strconv.Atoi(query.Get("resourceVersion"))
		for _, missed := range s.changes[resource][seen:] { // since the list
			events <- missed
		}
		s.mu.Unlock()
		stream(w, r, events)
		s.mu.Lock()
		delete(s.watches, events)
	default:
		answer(w, http.StatusOK, map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(),
			"kind":       map[string]string{"workloadprofiles": "WorkloadProfileList", "nodeprofiles": "NodeProfileList"}[resource],
			"metadata":   metav1.ListMeta{ResourceVersion: strconv.Itoa(len(s.changes[resource]))},
			"items":      slices.Collect(maps.Values(s.objects[resource])),
		})
	}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs no answer
}

// stream sends events until there are no more or the client goes away.
func stream(w http.ResponseWriter, r *http.Request, events chan metav1.WatchEvent) {
	w.WriteHeader(http.StatusOK)
	for {
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		select {
		case e, more := <-events:
			if !more || json.NewEncoder(w).Encode(e) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// watch returns an index that watches the server and sends its log messages to failures.
func (s *apiServer) watch(t *testing.T, failures chan<- string) (*profile.Index, []cache.InformerSynced) {
	t.Helper()
	log := funcr.New(func(_, args string) {
		select {
		case failures <- args:
		default: // the reader has enough
		}
	}, funcr.Options{})
	x := profile.NewIndex([]config.RequestRule{cpuRule}, log)
	synced, err := x.Watch(t.Context(), &rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return x, synced
}

// watched returns an index that has read all profiles of the server.
func (s *apiServer) watched(t *testing.T) (x *profile.Index, failures chan string) {
	t.Helper()
	failures = make(chan string, 100)
	x, synced := s.watch(t, failures)
	eventually(t, "the profiles are read", func() bool { return synced[0]() && synced[1]() })
	return x, failures
}

const patience = time.Minute

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, patience, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

func receive(t *testing.T, c <-chan string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case s := <-c:
		return s
	case <-ctx.Done():
		t.Fatal("waiting for the index to say that it cannot watch: ", ctx.Err())
		return ""
	}
}
