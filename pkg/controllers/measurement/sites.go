package measurement

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/profile"
)

// site is where a measurement takes place.
type site struct {
	node *node
	// baseline is where probes run without the workload, nil where none need to.
	baseline *node
}

// baselineName returns the name of the node without the workload, "" for none.
func (s *site) baselineName() string {
	if s.baseline == nil {
		return ""
	}
	return s.baseline.name()
}

// obstacle says why there is no site, by one of the condition's reasons.
type obstacle struct {
	reason, message string
	// awaited are nodes that would do once others do not measure there any more.
	awaited []string
}

// limitReached says why a measurement waits that has found a node.
const limitReached = "waiting for other measurements to end: as many go on as --max-measurements of loadline-manager allows, or another namespace is next"

// maxLooks is at how many nodes of a class one plan looks at most.
const maxLooks = 50

// sites are the nodes that the spec chooses, and whether a measurement may take place there.
type sites struct {
	*task
	// nodes are those that the spec chooses, by name.
	nodes []*node
	// taken are nodes where others measure, and full reports whether others measure on the maximum
	// number of nodes.
	taken sets.Set[string]
	full  bool
	// followers are the running pods that follow the profile.
	followers map[types.UID]bool
}

// node returns a node by name, nil if it is not there or not chosen.
func (s *sites) node(name string) *node {
	i := slices.IndexFunc(s.nodes, func(n *node) bool { return n.name() == name })
	if i < 0 {
		return nil
	}
	return s.nodes[i]
}

// classes returns the classes of the nodes that can be measured on, in order.
// Without a target these are the classes of the nodes where the workload runs.
func (s *sites) classes() []string {
	classes := sets.New[string]()
	for _, n := range s.nodes {
		if ok, _ := n.usable(); ok && (s.settings.target != nil || n.followers > 0) {
			classes.Insert(n.class)
		}
	}
	return sets.List(classes)
}

// servers returns how many requests a resource serves at once where the
// measurement takes place.
func (s *sites) servers(r *probed) int {
	n := s.node(s.profile.Status.Measuring.Node)
	if n == nil {
		return 1
	}
	return max(1, n.servers[r.Name])
}

// choose returns where a class can be measured now, or why nowhere. The site of the
// measurement that is going on is preferred.
func (s *sites) choose(class string) (site, *obstacle) {
	var here, there string
	if m := s.profile.Status.Measuring; m != nil {
		here, there = m.Node, m.BaselineNode
	}
	if s.settings.target != nil {
		n, why := s.pick(class, here, false)
		return site{node: n}, why
	}
	n, why := s.pick(class, here, true)
	if why != nil {
		return site{}, why
	}
	if !slices.ContainsFunc(s.settings.resources, func(r probed) bool { return r.needsBaseline() }) {
		return site{node: n}, nil
	}
	b, why := s.pick(class, there, false)
	if why != nil {
		why.message = "probes that run without the workload find no place: " + why.message
	}
	return site{node: n, baseline: b}, why
}

// pick returns the node of a class that is best for steps with or without pods of
// the workload: the current one, else one with few such pods.
func (s *sites) pick(class, current string, withFollowers bool) (*node, *obstacle) {
	var best *node
	var no, busy, taken []string
	for _, n := range s.nodes {
		if n.class != class || withFollowers != (n.followers > 0) && s.settings.target == nil {
			continue
		}
		if ok, why := n.usable(); !ok {
			no = append(no, atNode(n.name(), why))
			continue
		}
		if len(s.settings.interference) > 0 && n.cores() < 2 {
			no = append(no, atNode(n.name(), "it has a single core, where pods take turns and do not interfere"))
			continue
		}
		if s.taken.Has(n.name()) {
			taken = append(taken, n.name())
			continue
		}
		if !n.looked {
			continue
		}
		if ok, why := n.quiet(s, withFollowers); !ok {
			busy = append(busy, atNode(n.name(), why))
			continue
		}
		if n.measuredByOthers() {
			taken = append(taken, n.name())
			continue
		}
		if best == nil || n.name() == current || best.name() != current && n.followers < best.followers {
			best = n
		}
	}
	switch {
	case best != nil && s.full && best.name() != current:
		return nil, &obstacle{reason: v1alpha1.ReasonQueued, message: limitReached}
	case best != nil:
		return best, nil
	case len(taken) > 0:
		return nil, &obstacle{reason: v1alpha1.ReasonQueued, message: "waiting for other measurements to end, which use " + probejob.Some(taken, "; "), awaited: taken}
	case len(busy) > 0:
		return nil, &obstacle{reason: v1alpha1.ReasonNoQuietNode, message: fmt.Sprintf(
			"other pods run on the nodes of class %s, %s; waiting for a quiet one, or set neighbours: correct to measure beside them", class, probejob.Some(busy, "; "))}
	case withFollowers:
		return nil, &obstacle{reason: v1alpha1.ReasonNoRunningPods, message: fmt.Sprintf("no pod that follows the profile runs on a usable node of class %s", class)}
	case len(no) > 0:
		return nil, &obstacle{reason: v1alpha1.ReasonNoNode, message: fmt.Sprintf("no node of class %s is usable, %s", class, probejob.Some(no, "; "))}
	default:
		return nil, &obstacle{reason: v1alpha1.ReasonNoNode, message: fmt.Sprintf("there is no node of class %s to measure on", class)}
	}
}

// unusable returns the nodes that cannot be measured on, with the reasons.
func (s *sites) unusable() []string {
	var all []string
	for _, n := range s.nodes {
		if ok, why := n.usable(); !ok {
			all = append(all, atNode(n.name(), why))
		}
	}
	return all
}

// candidates returns the nodes of a class that may be looked at, in the order in
// which to do so: another first one every minute, so that each has its turn where
// there are too many to look at all.
func (s *sites) candidates(class string) []*node {
	var all []*node
	for _, n := range s.nodes {
		if ok, _ := n.usable(); ok && n.class == class && !s.taken.Has(n.name()) {
			all = append(all, n)
		}
	}
	if len(all) > maxLooks {
		all = probejob.InTurn(all, maxLooks, s.now.Time, time.Minute)[:maxLooks]
	}
	return all
}

// see records the pods of a node.
func (s *sites) see(n *node, pods probejob.Pods, snapshot *profile.Snapshot) {
	n.looked, n.pods = true, pods
	if !s.settings.correct {
		return
	}
	others := slices.Concat(pods.Measured, pods.Foreign)
	for i := range others {
		pod := &others[i]
		if s.followers[pod.UID] {
			continue
		}
		if none, _ := probejob.Quiet(n.name(), others[i:i+1], s.home); !none {
			n.neighbours = append(n.neighbours, snapshot.VectorOn(n.class, pod))
		}
	}
}
