package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeProfile says how many servers each resource has on a class of nodes: how
// many requests it serves at once. Resources that no profile names have one
// server, and cpu has one per allocatable core.
//
// A node that several profiles match follows the one whose selector has the
// most requirements; among equals the oldest one, then the first by name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ndp,categories=loadline
// +kubebuilder:printcolumn:name="CPU",type=string,JSONPath=`.status.servers[?(@.name=="cpu")].servers`
// +kubebuilder:printcolumn:name="Disk",type=string,JSONPath=`.status.servers[?(@.name=="disk")].servers`
// +kubebuilder:printcolumn:name="Network",type=string,JSONPath=`.status.servers[?(@.name=="network")].servers`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Calibrated",type=string,JSONPath=`.status.conditions[?(@.type=="Calibrated")].reason`
// +kubebuilder:printcolumn:name="Conflicted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Conflicted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NodeProfile struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which nodes form the class and what they serve.
	// +required
	Spec NodeProfileSpec `json:"spec,omitzero"`

	// status says how the profile is used.
	// +optional
	Status NodeProfileStatus `json:"status,omitempty,omitzero"`
}

// NodeProfileSpec is what an operator declares about a class of nodes.
//
// +kubebuilder:validation:XValidation:rule="has(self.resources) || has(self.calibration) || has(self.interference) || has(self.devices)",fieldPath=".resources",reason=FieldValueRequired,message="list the resources and their servers, or say under calibration which of them to measure"
// +kubebuilder:validation:XValidation:rule="!has(self.interference) || !has(self.resources) || self.interference.all(i, !self.resources.exists(r, r.name == i.name))",fieldPath=".interference",message="a resource has servers, or is shared without a queue: list it under resources or under interference, and not under both"
// +kubebuilder:validation:XValidation:rule="!has(self.devices) || self.devices.all(d, (!has(self.resources) || !self.resources.exists(r, r.name == d.name)) && (!has(self.interference) || !self.interference.exists(i, i.name == d.name)))",fieldPath=".devices",message="a resource is the node's or a device's: list it under devices, or under resources or interference, and not under both"
type NodeProfileSpec struct {
	// selector chooses the nodes of the class by their labels. An empty
	// selector ({}) chooses all nodes.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] == (has(e.values) && size(e.values) > 0))",message="operators In and NotIn need values; Exists and DoesNotExist take none"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || size(self.matchLabels) <= 8",message="a selector has at most 8 matchLabels"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || size(self.matchExpressions) <= 8",message="a selector has at most 8 matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.map(e, has(e.values) ? size(e.values) : 0).sum() <= 64",message="the matchExpressions of a selector have at most 64 values in all"
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// resources lists the resources whose number of servers differs from the
	// default. It takes precedence over what a calibration finds.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Resources []ResourceServers `json:"resources,omitempty"`

	// interference lists the resources that are shared without a queue of which a
	// node has more than one. What is not listed there is one of.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Interference []ResourceDomains `json:"interference,omitempty"`

	// devices lists the accelerators of a node, such as GPUs, each kind once. A pod
	// uses one device of a kind, and meets only the pods that use the same one.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Devices []NodeDevices `json:"devices,omitempty"`

	// calibration has the servers of resources measured, on one node of the
	// class, and says how.
	// +optional
	Calibration *Calibration `json:"calibration,omitempty"`
}

// ResourceServers is how many requests one resource of a node serves at once.
type ResourceServers struct {
	// name is the resource: cpu, disk, network, or any other name that
	// workload profiles use.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as cpu, disk or memory-bandwidth"
	Name string `json:"name,omitempty"`

	// servers is how many requests the resource serves at once at full speed:
	// 16 for 16 cores, 1 for a disk or its useful queue depth.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 16384",message="a resource has between 1 and 16384 servers; leave out a resource that a node does not have"
	Servers *int32 `json:"servers,omitempty"`
}

// NodeProfileStatus says how a profile is used.
type NodeProfileStatus struct {
	// conditions are Ready (the scheduler uses the profile), Conflicted (an
	// equally specific profile matches some of the same nodes) and, with a
	// calibration, Calibrated (the servers of every resource were found).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status is of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// servers are the numbers of servers in use, where the profile declares them
	// or a calibration found them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=24
	Servers []ResourceServers `json:"servers,omitempty"`

	// resources are what calibrations found.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Resources []CalibratedResource `json:"resources,omitempty"`

	// calibrating is the calibration that is going on.
	// +optional
	Calibrating *CalibrationProgress `json:"calibrating,omitempty"`

	// nodes is how many nodes follow the profile.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Nodes *int32 `json:"nodes,omitempty"`
}

// NodeProfileList is a list of profiles.
//
// +kubebuilder:object:root=true
type NodeProfileList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the profiles.
	Items []NodeProfile `json:"items"`
}
