package live

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/gauge/access"
)

// What of a cluster has names that pages show.
var (
	podObjects         = access.Resource{Name: "pods"}
	nodeObjects        = access.Resource{Name: "nodes"}
	workloadProfiles   = access.Resource{Group: v1alpha1.GroupVersion.Group, Name: "workloadprofiles"}
	traceReplays       = access.Resource{Group: v1alpha1.GroupVersion.Group, Name: "tracereplays"}
	remediationObjects = access.Resource{Group: v1alpha1.GroupVersion.Group, Name: "remediations"}
)

// place is a namespace with objects of a resource.
type place struct {
	of        access.Resource
	namespace string
}

// places returns where there are objects that have a namespace: pods first, in the order of their names.
func (l *Look) places() []place {
	all := map[place]bool{}
	for i := range l.In.Pods {
		all[place{podObjects, l.In.Pods[i].Namespace}] = true
	}
	for i := range l.Workloads {
		all[place{workloadProfiles, l.Workloads[i].Namespace}] = true
	}
	for i := range l.Replays {
		all[place{traceReplays, l.Replays[i].Namespace}] = true
	}
	for i := range l.Remediations {
		all[place{remediationObjects, l.Remediations[i].Namespace}] = true
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.of.Group, b.of.Group), cmp.Compare(a.of.Name, b.of.Name), cmp.Compare(a.namespace, b.namespace))
	})
}

// prepared are rights that have to be asked for, where there is something to see.
type prepared interface {
	prepare(ctx context.Context, where []place) error
	lists(p place) bool
}

// prepare asks what a reader may list in some places. The error has a status.
func prepare(ctx context.Context, rights findings.Rights, where []place) error {
	if asked, is := rights.(prepared); is {
		return asked.prepare(ctx, where)
	}
	return nil
}

// mayList reports whether a reader may list the objects of a resource in a namespace. Without other rights they go with the pods there.
func mayList(rights findings.Rights, of access.Resource, namespace string) bool {
	if asked, is := rights.(prepared); is {
		return asked.lists(place{of, namespace})
	}
	return rights.Pods(namespace)
}

// lookFailed stands in place of an error of a look, which may have names.
const lookFailed = "The last look at the cluster failed: the log of loadline-ui says why."

// withoutReason returns the moment without the error of a look.
func (m *moment) withoutReason() *moment {
	if m == nil || m.problem == "" {
		return m
	}
	without := *m
	without.problem = lookFailed
	return &without
}
