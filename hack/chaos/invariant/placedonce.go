package invariant

import "fmt"

// PlacedOnce says that a pod is placed on one node and stays there until it is gone.
type PlacedOnce struct {
	events
	nodes map[string]string // by the UID of the pod
}

// NewPlacedOnce returns the rule, which has seen nothing.
func NewPlacedOnce() *PlacedOnce { return &PlacedOnce{nodes: map[string]string{}} }

// Name says what is so.
func (*PlacedOnce) Name() string { return "no pod is placed twice" }

// Event compares the node of a pod with the one that it had.
func (p *PlacedOnce) Event(e Event) []string {
	pod := podOf(e)
	if pod == nil {
		return nil
	}
	uid := string(pod.UID)
	before, was := p.nodes[uid]
	switch {
	case e.Deleted:
		delete(p.nodes, uid)
	case was && before != pod.Spec.NodeName:
		return []string{fmt.Sprintf("pod %s/%s was on node %s and is on %q", pod.Namespace, pod.Name, before, pod.Spec.NodeName)}
	case pod.Spec.NodeName != "":
		p.nodes[uid] = pod.Spec.NodeName
	}
	return nil
}
