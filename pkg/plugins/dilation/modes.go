package dilation

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/node"
)

// modes are by how much the bounds of pods bind, by their namespaces. It is the handler of an informer of namespaces.
type modes struct {
	fallback configv1alpha1.GuardMode // of namespaces that do not say
	limits   config.Limits            // of what profiles promise
	log      klog.Logger
	changed  func()
	synced   cache.InformerSynced // nil where there is no informer

	mu      sync.Mutex // of those who write
	version atomic.Uint64
	labels  atomic.Pointer[map[string]configv1alpha1.GuardMode] // of namespaces that say
}

var _ cache.ResourceEventHandler = &modes{}

// newModes returns the modes before any namespace is known. The function that is called when one changes must return
// at once.
func newModes(args *config.DilationArgs, log klog.Logger, changed func()) *modes {
	m := &modes{fallback: args.GuardMode, limits: args.Limits, log: log, changed: changed}
	m.labels.Store(&map[string]configv1alpha1.GuardMode{})
	return m
}

// await waits until the namespaces were read that there were at start-up. It is quick: the scheduler does the same
// before it places anything.
func (m *modes) await(ctx context.Context) error {
	if m.synced != nil && !m.synced() && !cache.WaitForCacheSync(ctx.Done(), m.synced) {
		return fmt.Errorf("waiting for the namespaces to be read: %w", context.Cause(ctx))
	}
	return nil
}

// of returns the mode of a namespace.
func (m *modes) of(namespace string) configv1alpha1.GuardMode {
	if mode, said := (*m.labels.Load())[namespace]; said {
		return mode
	}
	return m.fallback
}

// off reports whether no bound binds in any namespace.
func (m *modes) off() bool {
	if m.fallback != configv1alpha1.GuardOff {
		return false
	}
	for _, mode := range *m.labels.Load() {
		if mode != configv1alpha1.GuardOff {
			return false
		}
	}
	return true
}

// OnAdd takes in a new namespace.
func (m *modes) OnAdd(obj any, _ bool) { m.set(obj) }

// OnUpdate takes in a changed namespace.
func (m *modes) OnUpdate(_, obj any) { m.set(obj) }

// OnDelete forgets a namespace.
func (m *modes) OnDelete(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	if ns, ok := obj.(*corev1.Namespace); ok {
		m.store(ns.Name, "")
	}
}

func (m *modes) set(obj any) {
	ns, ok := obj.(*corev1.Namespace)
	if !ok {
		m.log.Error(nil, "Ignored an object that is not a namespace", "type", fmt.Sprintf("%T", obj))
		return
	}
	mode, valid := node.GuardModeOf(ns.Labels)
	if !valid {
		m.log.Error(nil, "Ignored the label of a namespace: it must be off, warn or enforce",
			"namespace", ns.Name, "label", v1alpha1.GuardLabel, "value", ns.Labels[v1alpha1.GuardLabel], "mode", m.fallback)
	}
	m.store(ns.Name, mode)
}

// store keeps the mode that a namespace says, empty if it says none.
func (m *modes) store(namespace string, mode configv1alpha1.GuardMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.labels.Load()
	if old[namespace] == mode {
		return
	}
	labels := maps.Clone(old)
	if mode == "" {
		delete(labels, namespace)
	} else {
		labels[namespace] = mode
	}
	m.labels.Store(&labels)
	m.version.Add(1)
	m.changed()
}
