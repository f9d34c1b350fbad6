package measurement

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
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

// choose returns where a class can be measured now, or why nowhere. The site of the
// measurement that is going on is preferred.
func (in *input) choose(class string) (site, *obstacle) {
	var here, there string
	if m := in.profile.Status.Measuring; m != nil {
		here, there = m.Node, m.BaselineNode
	}
	if in.settings.target != nil {
		n, why := in.pick(class, here, false)
		return site{node: n}, why
	}
	n, why := in.pick(class, here, true)
	if why != nil {
		return site{}, why
	}
	if !slices.ContainsFunc(in.settings.resources, func(r probed) bool { return r.needsBaseline() }) {
		return site{node: n}, nil
	}
	b, why := in.pick(class, there, false)
	if why != nil {
		why.message = "probes that run without the workload find no place: " + why.message
	}
	return site{node: n, baseline: b}, why
}

// pick returns the node of a class that is best for steps with or without pods of
// the workload: the current one, else one with few such pods.
func (in *input) pick(class, current string, withFollowers bool) (*node, *obstacle) {
	var best *node
	var no, busy, taken []string
	for _, n := range in.nodes {
		if n.class != class || withFollowers != (n.followers > 0) && in.settings.target == nil {
			continue
		}
		if ok, why := n.usable(); !ok {
			no = append(no, on(n.name(), why))
			continue
		}
		if len(in.settings.interference) > 0 && n.cores() < 2 {
			no = append(no, on(n.name(), "it has a single core, where pods take turns and do not interfere"))
			continue
		}
		if in.taken.Has(n.name()) {
			taken = append(taken, n.name())
			continue
		}
		if !n.looked {
			continue
		}
		if ok, why := n.quiet(in, withFollowers); !ok {
			busy = append(busy, on(n.name(), why))
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
	case best != nil && in.full && best.name() != current:
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
func (in *input) unusable() []string {
	var all []string
	for _, n := range in.nodes {
		if ok, why := n.usable(); !ok {
			all = append(all, on(n.name(), why))
		}
	}
	return all
}

// limitReached says why a measurement waits that has found a node.
const limitReached = "waiting for other measurements to end: as many go on as --max-measurements of loadline-manager allows, or another namespace is next"

// candidates returns the nodes of a class that may be looked at, in the order in
// which to do so: another first one every minute, so that each has its turn where
// there are too many to look at all.
func (in *input) candidates(class string) []*node {
	var all []*node
	for _, n := range in.nodes {
		if ok, _ := n.usable(); ok && n.class == class && !in.taken.Has(n.name()) {
			all = append(all, n)
		}
	}
	if len(all) > maxLooks {
		turn := int(in.now.Unix()/60*maxLooks) % len(all)
		all = slices.Concat(all[turn:], all[:turn])[:maxLooks]
	}
	return all
}

// maxLooks is at how many nodes of a class one plan looks at most.
const maxLooks = 50
