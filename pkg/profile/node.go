package profile

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
)

// disk is the resource of what pods do at disks.
const disk = "disk"

// builtIn are the resources that every cluster has, with no profile at all.
var builtIn = []string{"cpu", disk, "network", "memory-bandwidth", "llc"}

// Resources are the resources of a cluster: the names of the components of its
// vectors, in order. It is immutable.
type Resources struct {
	names []string
	index map[string]int
	// served is where interference makes service slower, of the resources of devices. Of all others that is the processor.
	served map[string]int
}

// NewResources returns the built-in resources, those that the profiles of a
// cluster's nodes name, and others.
func NewResources(nodes []*NodeClass, others ...string) *Resources {
	r := &Resources{names: slices.Concat(builtIn, others)}
	for _, class := range nodes {
		r.names = append(r.names, class.Named...)
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
	r.served = r.servedBy(nodes)
	return r
}

// servedBy returns where interference makes service slower, of the names that are resources of devices and not of nodes.
func (r *Resources) servedBy(nodes []*NodeClass) map[string]int {
	served := map[string]int{}
	for _, class := range nodes {
		for _, d := range class.devices {
			for _, name := range d.interference {
				if at, is := served[name]; !is || r.index[d.name] < at {
					served[name] = r.index[d.name]
				}
			}
		}
	}
	for _, class := range nodes {
		for name := range class.Servers {
			delete(served, name)
		}
	}
	return served
}

// equal reports whether vectors for one mean the same for the other.
func (r *Resources) equal(other *Resources) bool {
	return slices.Equal(r.names, other.names) && maps.Equal(r.served, other.served)
}

// Names returns the names, which must not be changed.
func (r *Resources) Names() []string { return r.names }

// Processor returns the index of the resource that pods share by their requests and limits: cpu.
func (r *Resources) Processor() int { return r.index[string(corev1.ResourceCPU)] }

// NodeClass is a valid NodeProfile, ready for use. It must not be changed.
type NodeClass struct {
	Name string
	// Named are the resources that the nodes of the class have by their profile,
	// whether or not the number of servers is known.
	Named []string
	// Servers holds the known numbers: those that are declared, else those that
	// were calibrated. Of an interference resource it is the number of domains.
	Servers map[string]int

	devices []devices
	matcher matcher
}

func (c *NodeClass) rank() *matcher { return &c.matcher }

// Class returns the name for measurements made on nodes of class c, which is nil for the nodes that follow no profile.
func (c *NodeClass) Class() string {
	if c == nil {
		return v1alpha1.NoNodeProfile
	}
	return c.Name
}

// EquallySpecific reports whether only age and name decide between c and other.
func (c *NodeClass) EquallySpecific(other *NodeClass) bool {
	return c.matcher.requirements == other.matcher.requirements
}

// NewNodeClass returns the profile ready for use, or its errors. Calibrated servers count for as long as the profile asks
// for them.
func NewNodeClass(p *v1alpha1.NodeProfile) (*NodeClass, field.ErrorList) {
	class := &NodeClass{Name: p.Name, Servers: make(map[string]int, len(p.Spec.Resources))}
	var errs field.ErrorList
	class.matcher, errs = newMatcher(&p.ObjectMeta, p.Spec.Selector)
	path := field.NewPath("spec", "resources")
	if len(p.Spec.Resources)+len(p.Spec.Interference)+len(p.Spec.Devices) == 0 && p.Spec.Calibration == nil {
		errs = append(errs, field.Required(path, "list at least one resource, or say under spec.calibration which to measure"))
	}
	for i := range p.Spec.Resources {
		r, path := &p.Spec.Resources[i], path.Index(i)
		errs = append(errs, class.name(r.Name, path.Child("name"))...)
		if _, again := class.Servers[r.Name]; again {
			errs = append(errs, field.Duplicate(path.Child("name"), r.Name))
		}
		errs = append(errs, class.serve(r.Name, r.Servers, path.Child("servers"))...)
	}
	for i := range p.Spec.Interference {
		r, path := &p.Spec.Interference[i], field.NewPath("spec", "interference").Index(i)
		errs = append(errs, class.name(r.Name, path.Child("name"))...)
		if _, again := class.Servers[r.Name]; again {
			errs = append(errs, field.Duplicate(path.Child("name"), r.Name))
		}
		errs = append(errs, class.serve(r.Name, r.Domains, path.Child("domains"))...)
	}
	for i := range p.Spec.Devices {
		errs = append(errs, class.device(&p.Spec.Devices[i], field.NewPath("spec", "devices").Index(i))...)
	}
	errs = append(errs, class.calibrate(p)...)
	if len(errs) > 0 {
		return nil, errs
	}
	return class, nil
}

// calibrate adds the calibrated resources and their results.
func (c *NodeClass) calibrate(p *v1alpha1.NodeProfile) (errs field.ErrorList) {
	if p.Spec.Calibration == nil {
		return nil
	}
	for i := range p.Spec.Calibration.Resources {
		path := field.NewPath("spec", "calibration", "resources").Index(i)
		errs = append(errs, c.name(p.Spec.Calibration.Resources[i].Name, path.Child("name"))...)
	}
	for i := range p.Status.Resources {
		r := &p.Status.Resources[i]
		if _, declared := c.Servers[r.Name]; declared || r.Servers == nil {
			continue
		}
		path := field.NewPath("status", "resources").Index(i)
		errs = append(errs, c.name(r.Name, path.Child("name"))...)
		errs = append(errs, c.serve(r.Name, r.Servers, path.Child("servers"))...)
		if r.Time == nil {
			errs = append(errs, field.Required(path.Child("time"), "say when it was calibrated"))
		}
	}
	return errs
}

// name adds a resource that nodes of the class have.
func (c *NodeClass) name(name string, path *field.Path) (errs field.ErrorList) {
	for _, problem := range validation.IsDNS1035Label(name) {
		errs = append(errs, field.Invalid(path, name, problem))
	}
	c.Named = append(c.Named, name)
	return errs
}

// serve gives a resource its servers.
func (c *NodeClass) serve(name string, n *int32, path *field.Path) field.ErrorList {
	servers := 0
	if n != nil {
		servers = int(*n)
	}
	c.Servers[name] = servers
	if servers < 1 || servers > loading.MaxServers {
		return field.ErrorList{field.Invalid(path, servers, fmt.Sprintf("is not between 1 and %d", loading.MaxServers))}
	}
	return nil
}

// Servers returns how many servers each resource has on a node of class c, nil
// where no profile matches. Those of devices have one: see [Resources.Assign].
func (r *Resources) Servers(node *corev1.Node, c *NodeClass) []int {
	servers := make([]int, len(r.names))
	for i, name := range r.names {
		servers[i] = 1
		if name == string(corev1.ResourceCPU) {
			servers[i] = cores(node)
		}
		if c != nil {
			if n, ok := c.Servers[name]; ok {
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
	return int(min(max(1, math.Round(allocatable)), loading.MaxServers))
}
