package epochs

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// NodeClass is a number of equal nodes of a cluster.
type NodeClass struct {
	// Name is for messages.
	Name string
	// Count is the number of nodes, at least 1.
	Count int
	// NodeClass holds their resources. Unlike elsewhere a number of servers may be 0,
	// or missing where other classes have one: the nodes do not have the resource,
	// and take no jobs that need it.
	mix.NodeClass
	// Capacity is the maximum of the sum of the requests of the jobs on one node, above 0; +Inf, and a missing entry, is no
	// limit.
	Capacity []float64
	// Allocatable is the amount of each capacity on one node, for policies that score by requests, where Capacity is no
	// limit; 0 means unknown.
	Allocatable []float64
	// MaxJobs is the maximum number of jobs on one node at once; 0 is no limit.
	MaxJobs int
	// Devices says that the servers of a resource are time-sliced devices: a job is assigned to one of them from its start to
	// its end. Nil is none.
	Devices *Devices
}

// Devices are the servers of a resource, see [NodeClass].
type Devices struct {
	// Resource is the index of the resource, and Request that of its requests, among the capacities; −1 where nothing limits
	// those.
	Resource, Request int
}

// nodeClass is a class in use.
type nodeClass struct {
	*NodeClass
	mixes   *mix.Mixes
	devices *placement.DeviceClass // nil for none
	lacks   []bool                 // per resource
	nodes   []*placement.NodeState
	suits   bool // the job that is being placed; see cluster.suits

	maxMixes int // the size of mixes beyond which it is emptied
}

// cluster is the nodes of a replay.
type cluster struct {
	classes []*nodeClass
	nodes   []*placement.NodeState
	class   []*nodeClass // per node

	resources  int  // per node
	capacities int  // per node
	limited    bool // some node may have to refuse a job for now
	all        bool // all classes suit the job that is being placed
}

// maxNodes bounds the nodes of a cluster.
const maxNodes = 1_000_000

func newCluster(classes []NodeClass, options queueing.Options) (*cluster, error) {
	c := &cluster{}
	if len(classes) == 0 {
		return nil, errors.New("nodes: there are none")
	}
	for i := range classes {
		c.resources = max(c.resources, len(classes[i].Servers))
		c.capacities = max(c.capacities, len(classes[i].Capacity), len(classes[i].Allocatable))
	}
	for i := range classes {
		class, err := newNodeClass(&classes[i], c.resources, options)
		if err != nil {
			return nil, fmt.Errorf("nodes[%d] (%s): %w", i, classes[i].Name, err)
		}
		if class.Count > maxNodes-len(c.nodes) {
			return nil, fmt.Errorf("nodes[%d] (%s): count: %d, with the %d nodes before, is more than %d", i, class.Name, class.Count, len(c.nodes), maxNodes)
		}
		c.add(class)
	}
	return c, nil
}

// add adds the nodes of a class.
func (c *cluster) add(class *nodeClass) {
	c.classes = append(c.classes, class)
	c.limited = c.limited || class.MaxJobs > 0
	capacity, allocatable := make([]float64, c.capacities), make([]float64, c.capacities)
	copy(allocatable, class.Allocatable)
	for i := range capacity {
		capacity[i] = math.Inf(1)
		if i < len(class.Capacity) && !math.IsInf(class.Capacity[i], 1) {
			capacity[i], allocatable[i] = class.Capacity[i], class.Capacity[i]
			c.limited = true
		}
	}
	for range class.Count {
		node := &placement.NodeState{
			Class: class.NodeClass.NodeClass, Mixes: class.mixes, Running: mix.NewRunning(class.mixes),
			Capacity: capacity, Allocatable: allocatable, Requested: make([]float64, c.capacities),
			Requesting: make([]int, c.capacities), MaxJobs: class.MaxJobs, Index: len(c.nodes),
		}
		if class.devices != nil {
			node.Devices = placement.NewDevices(class.devices)
		}
		c.nodes = append(c.nodes, node)
		c.class = append(c.class, class)
	}
	class.nodes = c.nodes[len(c.nodes)-class.Count:]
}

func newNodeClass(c *NodeClass, resources int, options queueing.Options) (*nodeClass, error) {
	if c.Count < 1 {
		return nil, fmt.Errorf("count: %d is not at least 1", c.Count)
	}
	if c.MaxJobs < 0 {
		return nil, fmt.Errorf("maxJobs: %d is negative", c.MaxJobs)
	}
	for i, capacity := range c.Capacity {
		if !(capacity > 0) {
			return nil, fmt.Errorf("capacity[%d]: %v is not above 0", i, capacity)
		}
	}
	for i, allocatable := range c.Allocatable {
		if !(allocatable >= 0) || math.IsInf(allocatable, 1) {
			return nil, fmt.Errorf("allocatable[%d]: %v is not a finite number of at least 0", i, allocatable)
		}
	}
	if len(c.Speeds) > len(c.Servers) {
		return nil, fmt.Errorf("speeds: %d for %d resources", len(c.Speeds), len(c.Servers))
	}
	own := *c
	n := &nodeClass{NodeClass: &own, lacks: make([]bool, resources)}
	own.Servers = make([]int, resources)
	copy(own.Servers, c.Servers)
	for i, servers := range own.Servers {
		if servers == 0 {
			n.lacks[i], own.Servers[i] = true, 1 // which no job uses
		}
	}
	if err := n.addDevices(); err != nil {
		return nil, err
	}
	var err error
	n.mixes, err = mix.NewMixes(own.NodeClass, options)
	return n, err
}

// addDevices adds a resource with one server for each device, behind those that all nodes have.
func (n *nodeClass) addDevices() error {
	d := n.Devices
	if d == nil {
		return nil
	}
	if d.Resource < 0 || d.Resource >= len(n.Servers) || n.lacks[d.Resource] {
		return fmt.Errorf("devices: resource: %d is not one of those that the nodes have", d.Resource)
	}
	n.devices = &placement.DeviceClass{Resource: d.Resource, Request: d.Request, First: len(n.Servers), Count: n.Servers[d.Resource], Room: math.Inf(1)}
	if n.devices.Count > loading.MaxDevices {
		return fmt.Errorf("devices: %d are more than %d", n.devices.Count, loading.MaxDevices)
	}
	if d.Request >= len(n.Capacity) {
		return fmt.Errorf("devices: request: %d is not one of %d capacities", d.Request, len(n.Capacity))
	}
	if d.Request >= 0 {
		n.devices.Room = n.Capacity[d.Request] / float64(n.devices.Count)
	}
	n.Servers = append(n.Servers, slices.Repeat([]int{1}, n.devices.Count)...)
	if d.Resource < len(n.Speeds) && n.Speeds[d.Resource] != 1 {
		speeds := slices.Repeat([]float64{1}, len(n.Servers))
		copy(speeds, n.Speeds)
		for i := n.devices.First; i < len(speeds); i++ {
			speeds[i] = speeds[d.Resource]
		}
		n.Speeds = speeds
	}
	return nil
}

// has reports whether the nodes of the class have all resources of a job, and
// otherwise returns the first that they lack.
func (n *nodeClass) has(j *placement.Job) (resource int, ok bool) {
	for i, d := range j.Type.Vector {
		if (d.Loading > 0 || d.Pressure > 0) && (i >= len(n.lacks) || n.lacks[i]) {
			return i, false
		}
	}
	return 0, true
}

// suits finds the classes with sufficient resources for a job, if no other job ran on their nodes, and reports whether there
// are any.
func (c *cluster) suits(j *placement.Job) (anywhere bool) {
	c.all = true
	for _, class := range c.classes {
		_, class.suits = class.has(j)
		class.suits = class.suits && class.nodes[0].FitsEver(j)
		c.all = c.all && class.suits
		anywhere = anywhere || class.suits
	}
	return anywhere
}

// err returns the first error of a prediction.
func (c *cluster) err() error {
	for _, class := range c.classes {
		if err := class.mixes.Err(); err != nil {
			return err
		}
	}
	return nil
}
