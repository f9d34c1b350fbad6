package profile

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
)

// builtIn are the resources that every cluster has, with no profile at all.
var builtIn = []string{"cpu", "disk", "network", "memory-bandwidth"}

// Resources are the resources of a cluster: the names of the components of its
// vectors, in order. It is immutable.
type Resources struct {
	names []string
	index map[string]int
}

// NewResources returns the built-in resources, those that the profiles of a
// cluster's nodes name, and others.
func NewResources(nodes []*NodeClass, others ...string) *Resources {
	r := &Resources{names: slices.Concat(builtIn, others)}
	for _, class := range nodes {
		for name := range class.servers {
			r.names = append(r.names, name)
		}
	}
	slices.Sort(r.names[len(builtIn):])
	seen := sets.New[string]()
	r.names = slices.DeleteFunc(r.names, func(name string) bool {
		again := seen.Has(name)
		seen.Insert(name)
		return again
	})
	r.index = make(map[string]int, len(r.names))
	for i, name := range r.names {
		r.index[name] = i
	}
	return r
}

// Names returns the names, which must not be changed.
func (r *Resources) Names() []string { return r.names }

// NodeClass is a valid NodeProfile, ready for use.
type NodeClass struct {
	Name string

	servers map[string]int
	matcher matcher
}

func (c *NodeClass) rank() *matcher { return &c.matcher }

// EquallySpecific reports whether only age and name decide between c and other.
func (c *NodeClass) EquallySpecific(other *NodeClass) bool {
	return c.matcher.requirements == other.matcher.requirements
}

// NewNodeClass returns the profile ready for use, or what is wrong with it.
func NewNodeClass(p *v1alpha1.NodeProfile) (*NodeClass, field.ErrorList) {
	class := &NodeClass{Name: p.Name, servers: make(map[string]int, len(p.Spec.Resources))}
	m, errs := newMatcher(&p.ObjectMeta, p.Spec.Selector)
	class.matcher = m
	path := field.NewPath("spec", "resources")
	if len(p.Spec.Resources) == 0 {
		errs = append(errs, field.Required(path, "list at least one resource"))
	}
	for i := range p.Spec.Resources {
		r, path := &p.Spec.Resources[i], path.Index(i)
		for _, problem := range validation.IsDNS1035Label(r.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), r.Name, problem))
		}
		if _, again := class.servers[r.Name]; again {
			errs = append(errs, field.Duplicate(path.Child("name"), r.Name))
		}
		servers := 0
		if r.Servers != nil {
			servers = int(*r.Servers)
		}
		if servers < 1 || servers > contention.MaxServers {
			errs = append(errs, field.Invalid(path.Child("servers"), servers, fmt.Sprintf("is not between 1 and %d", contention.MaxServers)))
		}
		class.servers[r.Name] = servers
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return class, nil
}

// Servers returns how many servers each resource has on a node of class c, nil
// where no profile matches.
func (r *Resources) Servers(node *corev1.Node, c *NodeClass) []int {
	servers := make([]int, len(r.names))
	for i, name := range r.names {
		servers[i] = 1
		if name == string(corev1.ResourceCPU) {
			servers[i] = cores(node)
		}
		if c != nil {
			if n, ok := c.servers[name]; ok {
				servers[i] = n
			}
		}
	}
	return servers
}

// cores returns the allocatable cores of a node, rounded to whole ones, at
// least 1.
func cores(node *corev1.Node) int {
	allocatable := node.Status.Allocatable.Cpu().AsApproximateFloat64()
	return int(min(max(1, math.Round(allocatable)), contention.MaxServers))
}
