package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/chaos/invariant"
	"loadline.dev/loadline/hack/chaos/link"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// broken is an invariant that does not hold.
type broken struct {
	at         time.Time
	rule, text string
}

// String describes what is broken.
func (b broken) String() string {
	return fmt.Sprintf("%s: %s: %s", b.at.Format(time.TimeOnly), b.rule, b.text)
}

// disturbance is a time in which a client may have missed what happened at the API server.
type disturbance struct {
	client   string // "" for all
	from, to time.Time
}

// history sees all that happens, and judges it.
type history struct {
	mu           sync.Mutex
	rules        []invariant.Rule
	bounds       *invariant.BoundsKept
	broken       []broken
	disturbances []*disturbance
	watches      map[string][]*span     // by the client and the resource
	pods         map[string]*corev1.Pod // those of the cluster, by namespace and name
	done         map[string]int         // requests of Loadline's programs that changed something, by what they did
	changes      map[string]string      // the step that each Remediation was seen at last, by its UID
}

func newHistory() *history {
	h := &history{watches: map[string][]*span{}, pods: map[string]*corev1.Pod{}, done: map[string]int{}, changes: map[string]string{}}
	h.rules = invariant.Rules(h.disturbed, h.blind)
	for _, r := range h.rules {
		if b, is := r.(*invariant.BoundsKept); is {
			h.bounds = b
		}
	}
	return h
}

// watchedLists are the kinds that the history sees: those that later ones are judged by come first.
func watchedLists() []client.ObjectList {
	return []client.ObjectList{
		&corev1.NamespaceList{}, &corev1.NodeList{}, &v1alpha1.NodeProfileList{}, &v1alpha1.WorkloadProfileList{}, &v1alpha1.PoolPlanList{},
		&v1alpha1.RemediationList{}, &corev1.PodList{}, &appsv1.DeploymentList{},
	}
}

// follow sees all changes from now on until ctx ends, and returns once it has seen all objects.
func (h *history) follow(ctx context.Context, c client.WithWatch) error {
	for _, list := range watchedLists() {
		synced := make(chan struct{})
		f := &follower{client: c, list: list, see: h.event}
		go f.run(ctx, synced)
		select {
		case <-synced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (h *history) event(e invariant.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if pod, is := e.Object.(*corev1.Pod); is {
		if key := pod.Namespace + "/" + pod.Name; !e.Deleted {
			h.pods[key] = pod
		} else if there := h.pods[key]; there != nil && there.UID == pod.UID {
			delete(h.pods, key)
		}
	}
	if change, is := e.Object.(*v1alpha1.Remediation); is {
		h.changes[string(change.UID)] = remediations.Step(change)
	}
	for _, r := range h.rules {
		h.add(r.Name(), r.Event(e)...)
	}
}

// request sees a request that the API server answered.
func (h *history) request(r link.Passed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if what := invariant.Effect(&r); what != "" {
		h.done[what]++
	}
	for _, rule := range h.rules {
		h.add(rule.Name(), rule.Request(r)...)
	}
}

// report adds what is broken by other means.
func (h *history) report(rule string, texts ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(rule, texts...)
}

func (h *history) add(rule string, texts ...string) {
	for _, text := range texts {
		h.broken = append(h.broken, broken{time.Now(), rule, text})
	}
}

// take returns what was broken since it was called last, once all has been seen.
func (h *history) take() []broken {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rules {
		if late, is := r.(invariant.Late); is {
			h.add(r.Name(), late.Rest()...)
		}
	}
	taken := h.broken
	h.broken = nil
	return taken
}

// disturb begins a time in which a client, "" for all, may miss something, and returns what ends it.
func (h *history) disturb(who string) (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := &disturbance{client: who, from: time.Now()}
	h.disturbances = append(h.disturbances, d)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		d.to = time.Now()
	}
}

// disturbed reports whether a client may have missed something between two moments. It is called by rules, which hold the lock.
func (h *history) disturbed(who string, from, to time.Time) bool {
	for _, d := range h.disturbances {
		if (d.client == "" || d.client == who) && d.from.Before(to) && (d.to.IsZero() || d.to.After(from)) {
			return true
		}
	}
	return false
}

// span is from one moment to another one, the zero time if it has not come.
type span struct{ from, to time.Time }

// watching notes that a client watches the resource of a path, and returns what ends it.
func (h *history) watching(who, path string) (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := who + " " + path[strings.LastIndex(path, "/")+1:]
	w := &span{from: time.Now()}
	h.watches[key] = append(h.watches[key], w)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		w.to = time.Now()
	}
}

// bindsBy are what a scheduler must watch to know by how much bounds bind.
func bindsBy() []string { return []string{"namespaces", "nodes", "nodeprofiles", "workloadprofiles"} }

// blind reports whether a scheduler, "" for any, did not watch all that says which bounds there are, all the time between two moments. Where a watch
// was lost, it is some seconds until there is the next one: those of client-go wait for up to a minute after many failures. It is called by rules,
// which hold the lock.
func (h *history) blind(who string, from, to time.Time) bool {
	if who == "" {
		return slices.ContainsFunc(slices.Collect(maps.Keys(h.watches)), func(key string) bool {
			client, _, _ := strings.Cut(key, " ")
			return strings.HasPrefix(client, "scheduler") && h.blind(client, from, to)
		})
	}
	return slices.ContainsFunc(bindsBy(), func(resource string) bool {
		return !slices.ContainsFunc(h.watches[who+" "+resource], func(w *span) bool { return w.from.Before(from) && (w.to.IsZero() || w.to.After(to)) })
	})
}

// nodeOf returns the node of a pod, "" if it is on none.
func (h *history) nodeOf(pod string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.pods[pod]; p != nil {
		return p.Spec.NodeName
	}
	return ""
}

// podsOn returns the pods that run on a node.
func (h *history) podsOn(node string) []*corev1.Pod {
	return h.running(func(p *corev1.Pod) bool { return p.Spec.NodeName == node })
}

// running returns some of the pods that run.
func (h *history) running(some func(*corev1.Pod) bool) []*corev1.Pod {
	return h.those(func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil && some(p)
	})
}

// those returns some of the pods.
func (h *history) those(some func(*corev1.Pod) bool) (all []*corev1.Pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pods {
		if some(p) {
			all = append(all, p)
		}
	}
	return all
}

// effects returns what Loadline's programs changed, and how many Remediations are at each step.
func (h *history) effects() (done, changes map[string]int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changes = map[string]int{}
	for _, step := range h.changes {
		changes[step]++
	}
	return maps.Clone(h.done), changes
}

// judged returns how many placements were judged, and how many of them exceed a bound by what the scheduler could not see.
func (h *history) judged() (all, excused int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bounds.Judged, h.bounds.Excused
}
