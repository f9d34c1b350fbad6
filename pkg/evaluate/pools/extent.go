package pools

import (
	"fmt"
	"strings"
)

// maxClusterPods is how many pods a cluster may have that keeps within the limits
// that Kubernetes is tested for: "Considerations for large clusters" of its
// documentation. A pool of more replicas is more often a rate per hour that was given
// per second, or a time in milliseconds given in seconds, than a wish.
const maxClusterPods = 150_000

// BeyondCluster names the pools that need more replicas, before their bounds, than a cluster may
// have pods, and the inputs to check; "" for none. A pool without listed replicas has one server in
// each.
func (a *Answer) BeyondCluster() string {
	var pools []string
	for i := range a.Pools {
		p := &a.Pools[i]
		replicas := p.Servers
		if p.Bounds != nil && p.Bounds.Replicas > 0 {
			replicas = up(p.Servers, max(p.Bounds.Servers/p.Bounds.Replicas, 1))
		}
		if replicas > maxClusterPods {
			pools = append(pools, fmt.Sprintf("pool %s needs %d replicas", p.Name, replicas))
		}
	}
	if len(pools) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, and a cluster of Kubernetes has up to %d pods: check the units of the rates and of the service times", strings.Join(pools, ", "), maxClusterPods)
}
