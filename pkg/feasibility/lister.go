package feasibility

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// lister shows the plugins, which keep it, one placement at a time. Its cost is that of the changes since the snapshot.
type lister struct {
	shown *placement
	// nodes are all, and those with pods of some kinds. A node whose last such pod has gone stays among them, with none.
	nodes, withAffinity, withAntiAffinity, withWiderAntiAffinity *listing
}

var (
	_ fwk.SharedLister      = &lister{}
	_ fwk.NodeInfoLister    = &lister{}
	_ fwk.StorageInfoLister = &lister{}
)

// newLister returns what shows a placement without changes.
func newLister(p *placement) (*lister, error) {
	l := &lister{shown: p}
	for _, of := range []struct {
		list func() ([]fwk.NodeInfo, error)
		has  func(fwk.NodeInfo) bool
		into **listing
	}{
		{p.snapshot.List, func(fwk.NodeInfo) bool { return true }, &l.nodes},
		{p.snapshot.HavePodsWithAffinityList, func(n fwk.NodeInfo) bool { return len(n.GetPodsWithAffinity()) > 0 }, &l.withAffinity},
		{p.snapshot.HavePodsWithRequiredAntiAffinityList, func(n fwk.NodeInfo) bool { return len(n.GetPodsWithRequiredAntiAffinity()) > 0 }, &l.withAntiAffinity},
		{
			p.snapshot.HavePodsWithRequiredNonHostScopedAntiAffinityList,
			func(n fwk.NodeInfo) bool { return len(n.GetPodsWithRequiredNonHostScopedAntiAffinity()) > 0 }, &l.withWiderAntiAffinity,
		},
	} {
		originals, err := of.list()
		if err != nil {
			return nil, fmt.Errorf("listing the nodes of a snapshot: %w", err)
		}
		*of.into = newListing(originals, of.has)
	}
	return l, nil
}

// show has the plugins see a placement from now on.
func (l *lister) show(p *placement) {
	if l.shown == p {
		return
	}
	l.shown = p
	for _, of := range []*listing{l.nodes, l.withAffinity, l.withAntiAffinity, l.withWiderAntiAffinity} {
		of.show(p.nodes)
	}
}

func (l *lister) NodeInfos() fwk.NodeInfoLister           { return l }
func (l *lister) StorageInfos() fwk.StorageInfoLister     { return l }
func (l *lister) PodGroups() fwk.PodGroupLister           { return l.shown.snapshot.PodGroups() }
func (l *lister) PodGroupStates() fwk.PodGroupStateLister { return l.shown.snapshot.PodGroupStates() }

func (l *lister) CompositePodGroups() fwk.CompositePodGroupLister {
	return l.shown.snapshot.CompositePodGroups()
}

func (l *lister) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return l.shown.snapshot.CompositePodGroupStates()
}

func (l *lister) List() ([]fwk.NodeInfo, error) { return l.nodes.shown, nil }

func (l *lister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) { return l.withAffinity.shown, nil }

func (l *lister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return l.withAntiAffinity.shown, nil
}

func (l *lister) HavePodsWithRequiredNonHostScopedAntiAffinityList() ([]fwk.NodeInfo, error) {
	return l.withWiderAntiAffinity.shown, nil
}

func (l *lister) Get(name string) (fwk.NodeInfo, error) { return l.shown.node(name) }

// IsPVCUsedByPods reports whether a pod uses the claim of a key, namespace/name.
func (l *lister) IsPVCUsedByPods(key string) bool {
	namespace, name, _ := strings.Cut(key, "/")
	return l.shown.used(types.NamespacedName{Namespace: namespace, Name: name})
}

// listing is a list of nodes of a snapshot in which changed ones stand in for them.
type listing struct {
	originals, shown []fwk.NodeInfo
	has              func(fwk.NodeInfo) bool // reports whether a node belongs to the list
	position         map[string]int          // of each original
	replaced         []int                   // positions at which another one is shown
}

func newListing(originals []fwk.NodeInfo, has func(fwk.NodeInfo) bool) *listing {
	l := &listing{originals: originals, shown: slices.Clone(originals), has: has, position: make(map[string]int, len(originals))}
	for i, info := range originals {
		l.position[info.Node().Name] = i
	}
	return l
}

// show lists the originals, but for the changed nodes.
func (l *listing) show(changed map[string]fwk.NodeInfo) {
	l.shown = l.shown[:len(l.originals)]
	for _, i := range l.replaced {
		l.shown[i] = l.originals[i]
	}
	l.replaced = l.replaced[:0]
	for name, info := range changed {
		if i, there := l.position[name]; there {
			l.shown[i], l.replaced = info, append(l.replaced, i)
		} else if l.has(info) {
			l.shown = append(l.shown, info)
		}
	}
}
