package v1alpha1

// DevicesAnnotation says which devices a pod uses, as the names of NodeDevices and
// numbers from 0: "gpu-1", or "gpu-1,fpga-0" for several kinds. A pod without it is
// assumed to use the device with the fewest pods, as device plugins assign them.
const DevicesAnnotation = "loadline.dev/devices"

// DeviceSharing says how pods that use the same device share it.
//
// +kubebuilder:validation:Enum=Exclusive;TimeSliced;Concurrent
type DeviceSharing string

const (
	// SharingExclusive devices, such as whole GPUs and MIG slices, are not shared: no
	// pod slows another one down there.
	SharingExclusive DeviceSharing = "Exclusive"
	// SharingTimeSliced devices run the pods in turns: a pod waits while another one
	// runs. Where interference is listed, the curves of the profiles, measured on
	// such devices, say in place of a queue how much pods slow each other down.
	SharingTimeSliced DeviceSharing = "TimeSliced"
	// SharingConcurrent devices run all pods at once, as NVIDIA's MPS does: no pod
	// waits, and each is slowed down by the interference of the others.
	SharingConcurrent DeviceSharing = "Concurrent"
)

// DeviceResource is the name of a resource of a device.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as gpu"
// +kubebuilder:validation:XValidation:rule="!(self in ['cpu', 'disk', 'network', 'memory-bandwidth', 'llc'])",message="this is a resource of the node: give that of the device another name, such as gpu or gpu-memory-bandwidth"
type DeviceResource string

// NodeDevices are the devices of one kind of a node, all alike.
//
// +kubebuilder:validation:XValidation:rule="has(self.count) || has(self.extendedResource)",fieldPath=".count",reason=FieldValueRequired,message="say how many devices a node has under count, or under extendedResource as what it advertises them, such as nvidia.com/gpu"
// +kubebuilder:validation:XValidation:rule="!has(self.sharing) || self.sharing != 'Concurrent' || has(self.interference)",fieldPath=".interference",reason=FieldValueRequired,message="list what the pods of a Concurrent device share, such as gpu-memory-bandwidth: without it none would slow another one down"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || has(self.sharing) && self.sharing != 'Exclusive'",fieldPath=".replicas",message="replicas are for devices that are shared: set sharing to TimeSliced or Concurrent, or leave replicas out"
// +kubebuilder:validation:XValidation:rule="!has(self.extendedResource) || !self.extendedResource.contains('/mig-') || !has(self.sharing) || self.sharing == 'Exclusive'",fieldPath=".sharing",message="MIG slices are not shared: leave sharing out, or write Exclusive"
type NodeDevices struct {
	// name is the resource at which a device serves pods, as in the resources of
	// WorkloadProfiles, such as gpu. Each device is called by it and a number from 0:
	// gpu-0.
	// +required
	Name DeviceResource `json:"name,omitempty"`

	// count is how many such devices a node has. Defaults to how much of
	// extendedResource is allocatable on the node, over replicas.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 64",message="a node has between 1 and 64 devices of a kind; leave out a kind that it does not have"
	Count *int32 `json:"count,omitempty"`

	// extendedResource is what pods request to use a device, such as nvidia.com/gpu,
	// or nvidia.com/mig-1g.10gb for MIG slices. A pod that does not request it uses
	// none, whatever its profile says. Without it, pods whose profile lists the
	// device use one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$')",message="an extended resource is a domain, a slash and a name, such as nvidia.com/gpu"
	ExtendedResource string `json:"extendedResource,omitempty"`

	// replicas is as how many of extendedResource the device plugin advertises each
	// device, as in NVIDIA's configuration of time-slicing and MPS. Defaults to 1.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 1024",message="a device is advertised between 1 and 1024 times; leave replicas out where it is once"
	Replicas *int32 `json:"replicas,omitempty"`

	// sharing says how the pods of a device share it: Exclusive (the default) not at
	// all, TimeSliced in turns, Concurrent all at once.
	// +optional
	Sharing DeviceSharing `json:"sharing,omitempty"`

	// interference lists resources without a queue of which each device has one, as
	// in the interference of WorkloadProfiles, measured on devices that are shared in
	// this way. They make service at the device slower. A name per way of sharing,
	// such as gpu-mps-bandwidth, keeps vectors of different ways apart.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Interference []DeviceResource `json:"interference,omitempty"`
}
