package profile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
)

// devices are those of one kind of a class of nodes.
type devices struct {
	name         string // of the resource at which they serve pods
	interference []string
	count        int // 0 for the number that a node advertises
	extended     corev1.ResourceName
	replicas     int
	sharing      loading.DeviceSharing
	declared     v1alpha1.DeviceSharing
}

// device adds the devices of a kind to the class.
func (c *NodeClass) device(d *v1alpha1.NodeDevices, path *field.Path) (errs field.ErrorList) {
	add := func(name v1alpha1.DeviceResource, path *field.Path) string {
		if slices.Contains(builtIn, string(name)) {
			errs = append(errs, field.Invalid(path, name, "is a resource of the node: give that of the device another name, such as gpu or gpu-memory-bandwidth"))
		}
		if slices.Contains(c.Named, string(name)) {
			errs = append(errs, field.Duplicate(path, name))
		}
		errs = append(errs, c.name(string(name), path)...)
		return string(name)
	}
	kind := devices{name: add(d.Name, path.Child("name")), extended: corev1.ResourceName(d.ExtendedResource), replicas: 1, declared: cmp.Or(d.Sharing, v1alpha1.SharingExclusive)}
	for i, name := range d.Interference {
		kind.interference = append(kind.interference, add(name, path.Child("interference").Index(i)))
	}
	switch {
	case d.Count != nil:
		kind.count = int(*d.Count)
		errs = append(errs, countErrors(kind.count, loading.MaxDevices, path.Child("count"))...)
	case d.ExtendedResource == "":
		errs = append(errs, field.Required(path.Child("count"), "say how many devices a node has, or under extendedResource as what it advertises them, such as nvidia.com/gpu"))
	}
	var err *field.Error
	if kind.sharing, err = sharingOf(d, path); err != nil {
		errs = append(errs, err)
	}
	if d.Replicas != nil {
		kind.replicas = int(*d.Replicas)
		errs = append(errs, countErrors(kind.replicas, maxReplicas, path.Child("replicas"))...)
		if kind.sharing == loading.WholeDevices {
			errs = append(errs, field.Invalid(path.Child("replicas"), *d.Replicas, "is for devices that are shared: set sharing to TimeSliced or Concurrent, or leave replicas out"))
		}
	}
	c.devices = append(c.devices, kind)
	return errs
}

// maxReplicas is as how many a device may be advertised.
const maxReplicas = 1024

func countErrors(n, limit int, path *field.Path) field.ErrorList {
	if n >= 1 && n <= limit {
		return nil
	}
	return field.ErrorList{field.Invalid(path, n, fmt.Sprintf("is not between 1 and %d", limit))}
}

// sharingOf returns how pods share one device: they queue, or slow each other down where interference is listed.
func sharingOf(d *v1alpha1.NodeDevices, path *field.Path) (loading.DeviceSharing, *field.Error) {
	sharing := cmp.Or(d.Sharing, v1alpha1.SharingExclusive)
	switch {
	case sharing == v1alpha1.SharingExclusive:
		return loading.WholeDevices, nil
	case sharing != v1alpha1.SharingTimeSliced && sharing != v1alpha1.SharingConcurrent:
		return 0, field.NotSupported(path.Child("sharing"), sharing, []v1alpha1.DeviceSharing{v1alpha1.SharingConcurrent, v1alpha1.SharingExclusive, v1alpha1.SharingTimeSliced})
	case strings.Contains(d.ExtendedResource, "/mig-"):
		return 0, field.Invalid(path.Child("sharing"), sharing, "MIG slices are not shared: leave sharing out, or write Exclusive")
	case len(d.Interference) > 0:
		return loading.Concurrent, nil
	case sharing == v1alpha1.SharingConcurrent:
		return 0, field.Required(path.Child("interference"), "list what the pods of a Concurrent device share, such as gpu-memory-bandwidth: without it none would slow another one down")
	default:
		return loading.TimeSliced, nil
	}
}

// countOn returns how many devices a node has, 0 if it advertises none.
func (d *devices) countOn(node *corev1.Node) int {
	if d.count > 0 || node == nil {
		return d.count
	}
	advertised := node.Status.Allocatable[d.extended]
	return int(min(max(0, advertised.Value()/int64(d.replicas)), loading.MaxDevices))
}

// usedBy reports whether a pod uses a device, given whether its vector does: where the pod's request is known, it decides.
func (d *devices) usedBy(pod *corev1.Pod, vector bool) bool {
	if pod == nil || d.extended == "" {
		return vector
	}
	return d.requestedBy(pod)
}

func (d *devices) requestedBy(pod *corev1.Pod) bool {
	requested := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})[d.extended]
	return requested.Sign() > 0
}

// RequestedDevices returns the extended resources of devices of any class of nodes that a pod requests, in order.
func (s *Snapshot) RequestedDevices(pod *corev1.Pod) (names []string) {
	for _, c := range s.withDevices {
		for i := range c.devices {
			if d := &c.devices[i]; d.extended != "" && d.requestedBy(pod) {
				names = append(names, string(d.extended))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// DeviceKinds returns the kinds of devices of the nodes of the class. A count of 0 stands for the number that a node advertises.
func (c *NodeClass) DeviceKinds() (all []DeviceKind) {
	for i := range c.devices {
		all = append(all, c.devices[i].kind(c.devices[i].count))
	}
	return all
}

// HasDevices reports whether nodes of the class, nil for those that follow no profile, have devices.
func (c *NodeClass) HasDevices() bool { return c != nil && len(c.devices) > 0 }

// Advertises reports whether nodes of the class, nil for those that follow no profile, have devices of an extended resource.
func (c *NodeClass) Advertises(extended corev1.ResourceName) bool {
	return c.devicesOf(extended) != nil
}

// Shares reports whether pods share devices of an extended resource on nodes of the class, nil for those that follow no profile.
func (c *NodeClass) Shares(extended corev1.ResourceName) bool {
	d := c.devicesOf(extended)
	return d != nil && d.sharing != loading.WholeDevices
}

// devicesOf returns the devices of an extended resource, nil if there are none.
func (c *NodeClass) devicesOf(extended corev1.ResourceName) *devices {
	if c == nil {
		return nil
	}
	for i := range c.devices {
		if d := &c.devices[i]; d.extended == extended {
			return d
		}
	}
	return nil
}

// Device is a device of a node that its pods share.
type Device struct {
	Kind   string // name of the resource at which it serves pods
	Number int    // from 0
}

// String returns the name of the device, such as gpu-0.
func (d Device) String() string { return fmt.Sprintf("%s-%d", d.Kind, d.Number) }

// DeviceKind is the devices of one kind that a node has.
type DeviceKind struct {
	Name    string                 `json:"name"`
	Count   int                    `json:"count"`
	Sharing v1alpha1.DeviceSharing `json:"sharing"`
	// Interference are the resources at which the pods of one device slow each other down, where they do so.
	Interference []string `json:"interference,omitempty"`
}

// kind returns the kind of the devices on a node with the given number of them.
func (d *devices) kind(count int) DeviceKind {
	k := DeviceKind{Name: d.name, Count: count, Sharing: d.declared}
	if d.sharing == loading.Concurrent {
		k.Interference = d.interference
	}
	return k
}

// Assignment is the pods of a node, each assigned to the devices that it uses. Nil is that of a node without devices.
type Assignment struct {
	// Vectors are the vectors of the pods, at their devices.
	Vectors []loading.Vector
	// Devices are those that each pod uses of kinds that are shared.
	Devices [][]Device
	// Assumed says of each pod whether its devices are assumed.
	Assumed []bool

	kinds  []*devices
	model  []loading.Devices
	tying  *loading.Assignments
	served map[int]*devices // by the indices of resources
}

// At returns the device at which a pod of a vector is at a resource, false where the resource is the node's.
func (t *Assignment) At(v loading.Vector, resource int) (Device, bool) {
	if !t.IsOfDevice(resource) || v[resource].Device == 0 {
		return Device{}, false
	}
	return Device{t.served[resource].name, v[resource].Device - 1}, true
}

// IsOfDevice reports whether a resource is one of devices of the node.
func (t *Assignment) IsOfDevice(resource int) bool { return t != nil && t.served[resource] != nil }

// Kinds returns the kinds of devices that the node has.
func (t *Assignment) Kinds() (all []DeviceKind) {
	if t == nil {
		return nil
	}
	for k, kind := range t.kinds {
		all = append(all, kind.kind(t.model[k].Count))
	}
	return all
}

// newAssignment returns that of a node of a class without pods.
func (r *Resources) newAssignment(node *corev1.Node, c *NodeClass) *Assignment {
	t := &Assignment{served: map[int]*devices{}}
	if c != nil {
		for i := range c.devices {
			d := &c.devices[i]
			count := d.countOn(node)
			if count == 0 {
				continue
			}
			model := loading.Devices{Count: count, Sharing: d.sharing, Resource: r.index[d.name]}
			t.served[model.Resource] = d
			for _, name := range d.interference {
				model.Effects = append(model.Effects, r.index[name])
				t.served[r.index[name]] = d
			}
			t.kinds, t.model = append(t.kinds, d), append(t.model, model)
		}
	}
	t.tying = loading.NewAssignments(t.model)
	return t
}

// Assign assigns the pods of a node of a class, with their vectors, to devices: those that annotations name, and else, in the
// order in which the pods were created, the ones that have the fewest then. A pod of nil has no annotation, and uses the
// devices that its vector does.
//
// The error names the pods whose annotations are invalid. They count as pods without annotations, so that the result is usable all
// the same.
func (r *Resources) Assign(node *corev1.Node, c *NodeClass, pods []*corev1.Pod, vectors []loading.Vector) (*Assignment, error) {
	t := r.newAssignment(node, c)
	t.Vectors, t.Devices, t.Assumed = slices.Clone(vectors), make([][]Device, len(pods)), make([]bool, len(pods))
	if len(t.kinds) == 0 {
		return t, nil
	}
	var errs []error
	named, later := make([][]int, len(pods)), make([]int, 0, len(pods))
	for j, pod := range pods {
		var err error
		if named[j], err = t.namedBy(pod); err != nil {
			errs = append(errs, fmt.Errorf("pod %s/%s: annotation %s: %w", pod.Namespace, pod.Name, v1alpha1.DevicesAnnotation, err))
		}
		if len(named[j]) == 0 {
			later = append(later, j)
		} else {
			errs = append(errs, t.assign(j, pod, named[j]))
		}
	}
	slices.SortStableFunc(later, func(a, b int) int { return created(pods[a], pods[b]) })
	for _, j := range later {
		errs = append(errs, t.assign(j, pods[j], nil))
	}
	return t, errors.Join(errs...)
}

// created compares when pods were created; one of nil comes first, as one that does not say.
func created(a, b *corev1.Pod) int {
	return timeOf(a).Compare(timeOf(b))
}

func timeOf(pod *corev1.Pod) time.Time {
	if pod == nil {
		return time.Time{}
	}
	return pod.CreationTimestamp.Time
}

// assign assigns a pod to the devices of some numbers, from 1, by kind. Where one is 0, or there are none, that is the device with
// the fewest pods.
func (t *Assignment) assign(j int, pod *corev1.Pod, named []int) error {
	numbers := make([]int, len(t.kinds))
	copy(numbers, named)
	for k, kind := range t.kinds {
		assumed := numbers[k] == 0
		if assumed {
			if !kind.usedBy(pod, t.model[k].Uses(t.Vectors[j])) {
				continue
			}
			numbers[k] = t.tying.LeastUsed(k)
		}
		if kind.sharing != loading.WholeDevices {
			t.Devices[j] = append(t.Devices[j], Device{kind.name, numbers[k] - 1})
			t.Assumed[j] = t.Assumed[j] || assumed && t.model[k].Count > 1
		}
	}
	var err error
	t.Vectors[j], err = t.tying.Assign(t.Vectors[j], numbers)
	return err
}

// namedBy returns the numbers, from 1, of the devices that the annotation of a pod names, by kind, nil if it names none.
func (t *Assignment) namedBy(pod *corev1.Pod) ([]int, error) {
	if pod == nil || pod.Annotations[v1alpha1.DevicesAnnotation] == "" {
		return nil, nil
	}
	numbers := make([]int, len(t.kinds))
	for part := range strings.SplitSeq(pod.Annotations[v1alpha1.DevicesAnnotation], ",") {
		part = strings.TrimSpace(part)
		at := strings.LastIndex(part, "-")
		number, err := strconv.Atoi(part[at+1:])
		if at < 0 || err != nil {
			return nil, fmt.Errorf("%q is not the name of a device, such as gpu-0", part)
		}
		k := slices.IndexFunc(t.kinds, func(d *devices) bool { return d.name == part[:at] })
		if k < 0 || number < 0 || number >= t.model[k].Count {
			return nil, fmt.Errorf("%q is not one of the devices of the node: %s", part, t.names())
		}
		if numbers[k] != 0 {
			return nil, fmt.Errorf("%q is a second device of its kind: a pod uses one", part)
		}
		numbers[k] = number + 1
	}
	return numbers, nil
}

// names returns which devices the node has: "gpu-0 to gpu-3".
func (t *Assignment) names() string {
	var names []string
	for k, kind := range t.kinds {
		name := Device{kind.name, 0}.String()
		if n := t.model[k].Count; n > 1 {
			name += " to " + Device{kind.name, n - 1}.String()
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Prices returns the prices of a node of a class with these pods, by the profiles that they follow. The error is that of
// [Resources.Assign], and the prices are usable all the same.
func (s *Snapshot) Prices(node *corev1.Node, c *NodeClass, f *Followed) (*price.Prices, error) {
	vectors := make([]loading.Vector, len(f.Pods))
	for j, pod := range f.Pods {
		vectors[j] = s.vectorOf(pod, f.Workloads[j], c.Class())
	}
	return s.resources.Prices(node, c, f.Pods, vectors, func(j int) (loading.Share, float64) {
		return Share(f.Pods[j]), s.ImportanceOf(f.Workloads[j])
	})
}

// Prices is [Snapshot.Prices] for pods with these vectors on nodes of the class, of which share returns the share of the processor and the
// importance, by index.
func (r *Resources) Prices(node *corev1.Node, c *NodeClass, pods []*corev1.Pod, vectors []loading.Vector, share func(pod int) (loading.Share, float64)) (*price.Prices, error) {
	load := price.NewSharedLoad(r.Servers(node, c), r.Processor())
	assigned, err := r.Assign(node, c, pods, vectors)
	for j, v := range assigned.Vectors {
		s, importance := share(j)
		load.AddImportant(v, s, importance)
	}
	load.AssignNext(assigned.tying.Next())
	return load.Prices(), err
}

// Candidate returns a pod as [Snapshot.Prices] of nodes of a class, nil for none, are for it.
func (s *Snapshot) Candidate(c *NodeClass, pod *corev1.Pod) *price.Candidate {
	return s.candidate(c, pod, s.VectorOn(c.Class(), pod))
}

// candidate returns a pod with a vector, at the first device of each kind that it uses: prices are those of the device that a
// candidate gets.
func (s *Snapshot) candidate(c *NodeClass, pod *corev1.Pod, v loading.Vector) *price.Candidate {
	v = s.resources.first(c, pod, v)
	return price.NewShareCandidate(v, s.resources.Processor(), Share(pod)).Important(s.Importance(pod))
}

// first returns the vector of a pod that is at the first device of each kind that it uses. It is v itself where that makes
// no difference.
func (r *Resources) first(c *NodeClass, pod *corev1.Pod, v loading.Vector) loading.Vector {
	if !c.HasDevices() {
		return v
	}
	one := *c // with a device of each kind
	one.devices = slices.Clone(c.devices)
	for i := range one.devices {
		one.devices[i].count = 1
	}
	t := r.newAssignment(nil, &one)
	t.Vectors, t.Devices, t.Assumed = []loading.Vector{v}, make([][]Device, 1), make([]bool, 1)
	if err := t.assign(0, pod, nil); err != nil {
		return v // there is a device of each kind
	}
	return t.Vectors[0]
}

// Candidates are a pod as the prices of nodes are for it.
type Candidates struct {
	byClass  map[string]func() *price.Candidate // of classes on which it is another one than elsewhere, made once asked for
	others   *price.Candidate
	Profiled bool // whether the pod's vectors are those of a profile
}

// On returns the candidate for nodes of a class, nil for those that follow no profile.
func (c *Candidates) On(class *NodeClass) *price.Candidate {
	if candidate, is := c.byClass[class.Class()]; is {
		return candidate()
	}
	return c.others
}

// Candidates returns a pod as [Snapshot.Prices] are for it, on nodes of any class.
func (s *Snapshot) Candidates(pod *corev1.Pod) *Candidates {
	elsewhere := s.VectorOn(AnyClass, pod)
	all := &Candidates{}
	vectors := map[string]loading.Vector{}
	if w := s.Workload(pod); w != nil && w.Elsewhere() != nil {
		all.Profiled = true
		elsewhere = w.Elsewhere().Vector
		for _, v := range w.Found() {
			vectors[v.Class] = v.Vector
		}
	}
	for _, c := range s.withDevices {
		v, found := vectors[c.Name]
		if !found {
			v = elsewhere
		}
		if at := s.resources.first(c, pod, v); found || &at[0] != &v[0] {
			vectors[c.Name] = at
		}
	}
	all.others = s.candidate(nil, pod, elsewhere)
	if len(vectors) > 0 {
		all.byClass = make(map[string]func() *price.Candidate, len(vectors))
	}
	for name, v := range vectors {
		all.byClass[name] = sync.OnceValue(func() *price.Candidate {
			return price.NewShareCandidate(v, s.resources.Processor(), Share(pod)).Important(s.Importance(pod))
		})
	}
	return all
}
