package savings

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/pkg/text"
)

// Prospect is what there is to save in a cluster.
type Prospect struct {
	*Contention
	// Here says what the map has there; nil where the cluster is outside of it, and Outside then says by what.
	Here    *Excess `json:"onMap,omitempty"`
	Outside string  `json:"outsideMap,omitempty"`
	// Saves is how much of its excess dilation the cluster would be without, if as much of it were saved as is on the map; absent
	// where the cluster is outside, or most of its pods were placed by dilation.
	Saves *float64 `json:"saves,omitempty"`
}

// On returns what there is to save in a cluster, by a map.
func (c *Contention) On(m *Map) *Prospect {
	p := &Prospect{Contention: c}
	here, outside := m.At(c.Point)
	switch {
	case outside != nil:
		p.Outside = outside.Error()
	case c.placed():
		p.Here = &here
	default:
		p.Here, p.Saves = &here, new(max(0, here.SavedPart())*c.ExcessDilation)
	}
	return p
}

// placed reports whether most pods were placed by dilation.
func (c *Contention) placed() bool { return 2*c.ByDilation > c.Pods }

// String says it in a sentence.
func (p *Prospect) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Excess dilation here is %s", text.Decimal(p.ExcessDilation, 2))
	where := fmt.Sprintf(", load %s, %s pods a core, unlikeness %s", percent(p.Load), text.Decimal(p.PodsPerCore, 1), text.Decimal(p.Unlikeness, 2))
	switch {
	case p.placed() && p.Here != nil:
		fmt.Fprintf(&b, "%s, and %d of %s were placed by Loadline: on simulated clusters like this it left %s of the %s that kube-scheduler came to",
			where, p.ByDilation, text.Counted(p.Pods, "pod"), text.Decimal(p.Here.Loadline, 2), text.Decimal(p.Here.KubeScheduler, 2))
	case p.ExcessDilation < Little:
		b.WriteString(": there is little to win")
	case p.Here == nil:
		fmt.Fprintf(&b, "%s: what there is to win is not known (%s)", where, p.Outside)
	case *p.Saves < Little:
		fmt.Fprintf(&b, "%s: on simulated clusters like this Loadline took %s of it away, so there is little to win", where, text.Decimal(*p.Saves, 2))
	default:
		fmt.Fprintf(&b, "%s: on simulated clusters like this Loadline took %s of it away", where, text.Decimal(*p.Saves, 2))
	}
	if p.WithoutProfile > 0 {
		fmt.Fprintf(&b, "; %d of %s follow no profile and count by their requests", p.WithoutProfile, text.Counted(p.Pods, "pod"))
	}
	if p.Nodes < p.AllNodes {
		fmt.Fprintf(&b, "; %d of %s were looked at", p.Nodes, text.Counted(p.AllNodes, "node"))
	}
	return b.String()
}
