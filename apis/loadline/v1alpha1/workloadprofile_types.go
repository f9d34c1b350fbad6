package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadProfile declares what a kind of pod asks of the node it runs on: the
// fraction of its time that it spends at each resource. The scheduler uses it
// to put the pod where it and its neighbours are slowed down least.
//
// Pods that match several profiles of their namespace follow the one whose
// selector has the most requirements; among equals the oldest one, then the
// first by name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=wlp,categories=loadline
// +kubebuilder:printcolumn:name="CPU",type=string,JSONPath=`.status.resources[?(@.name=="cpu")].loading`
// +kubebuilder:printcolumn:name="Disk",type=string,JSONPath=`.status.resources[?(@.name=="disk")].loading`
// +kubebuilder:printcolumn:name="Network",type=string,JSONPath=`.status.resources[?(@.name=="network")].loading`
// +kubebuilder:printcolumn:name="Neutral ms",type=integer,JSONPath=`.status.neutralMillis`
// +kubebuilder:printcolumn:name="Pods",type=integer,JSONPath=`.status.pods`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Measured",type=string,JSONPath=`.status.conditions[?(@.type=="Measured")].reason`
// +kubebuilder:printcolumn:name="Drifted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Drifted")].status`
// +kubebuilder:printcolumn:name="Conflicted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Conflicted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type WorkloadProfile struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which pods the profile is for and what they ask of a node.
	// +required
	Spec WorkloadProfileSpec `json:"spec,omitzero"`

	// status says how the profile is used.
	// +optional
	Status WorkloadProfileStatus `json:"status,omitempty,omitzero"`
}

// WorkloadProfileSpec is what a team declares about a kind of pod.
//
// The rules look at the form of a quantity before they parse it: parsing one
// with a large exponent would keep the API server busy for minutes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || self.resources.all(r, !has(r.demandMillis)) || has(self.neutralMillis)",fieldPath=".neutralMillis",reason=FieldValueRequired,message="demandMillis is turned into a loading by dividing it by neutralMillis, the time that the job takes alone on a node: set neutralMillis too, or give loading in place of demandMillis"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.neutralMillis) || self.resources.map(r, (has(r.loading) && string(r.loading).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') ? quantity(string(r.loading)).asApproximateFloat() : 0.0) * double(self.neutralMillis) + double(has(r.demandMillis) ? r.demandMillis : 0)).sum() <= double(self.neutralMillis) * 1.000000001",fieldPath=".resources",message="the loadings add up to more than 1; they are fractions of the neutral time (demandMillis / neutralMillis), so they may add up to 1 at most (the rest is idle time)"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || has(self.neutralMillis) || self.resources.map(r, (has(r.loading) && string(r.loading).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') ? quantity(string(r.loading)).asApproximateFloat() : 0.0)).sum() <= 1.000000001",fieldPath=".resources",message="the loadings add up to more than 1; they are fractions of the neutral time, so they may add up to 1 at most (the rest is idle time)"
// +kubebuilder:validation:XValidation:rule="has(self.resources) || has(self.measurement) || has(self.observation)",fieldPath=".resources",reason=FieldValueRequired,message="list the resources that the pods use, or say under measurement how to measure that, or under observation that gauges observe it"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.observation)",fieldPath=".observation",message="resources declares the vector, and observation has it follow what gauges observe: leave one of them out"
// +kubebuilder:validation:XValidation:rule="!has(self.interference) || !has(self.resources) || self.interference.all(i, !self.resources.exists(r, r.name == i.name))",fieldPath=".interference",message="a resource has a queue, or is shared without one: list it under resources or under interference, and not under both"
// +kubebuilder:validation:XValidation:rule="!has(self.fairShare) || has(self.fairShare.utilization) || (has(self.arrival) && (has(self.neutralMillis) || has(self.measurement)))",fieldPath=".fairShare",message="the tree must know how busy the workload keeps it: set fairShare.utilization, or arrival.ratePerSecond and neutralMillis, which a measurement finds too"
type WorkloadProfileSpec struct {
	// selector chooses the pods of the profile's namespace that it is for. An
	// empty selector ({}) chooses all of them, which makes the profile the
	// namespace's default.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] == (has(e.values) && size(e.values) > 0))",message="operators In and NotIn need values; Exists and DoesNotExist take none"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || size(self.matchLabels) <= 8",message="a selector has at most 8 matchLabels"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || size(self.matchExpressions) <= 8",message="a selector has at most 8 matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.map(e, has(e.values) ? size(e.values) : 0).sum() <= 64",message="the matchExpressions of a selector have at most 64 values in all"
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// resources lists the resources that the pods queue for. Those not listed
	// they leave alone. On nodes of a class that was measured, the measured
	// vector is used in its place.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Resources []ResourceDemand `json:"resources,omitempty"`

	// interference lists the resources without a queue at which the pods make each
	// other slower: caches, memory bandwidth, the units of a core, or those that
	// NodeProfiles list for their devices. It is about the time for which pods
	// compute, or a device serves them: cpu or the device is among the resources, or
	// measured or observed.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Interference []Interference `json:"interference,omitempty"`

	// measurement has the loading vector measured, and says how. A user who sets
	// it must be allowed to create Jobs in the namespace.
	// +optional
	Measurement *Measurement `json:"measurement,omitempty"`

	// observation has the loading vector follow what gauges observe of the pods.
	// It is not for profiles that declare resources. On nodes of a class that was
	// measured, the measured vector is used in its place.
	// +optional
	Observation *Observation `json:"observation,omitempty"`

	// neutralMillis is the neutral time: how long a job of this kind takes alone on
	// its node, in milliseconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	NeutralMillis *int64 `json:"neutralMillis,omitempty"`

	// neutralCorrection is how many times as long a job of this kind takes alone as
	// the time that was stated for its measured dilations, from 0.001 to 1000000:
	// kubectl loadline fit writes it where it finds the stated time wrong. Predictions
	// are over the true neutral time, as is neutralMillis; those of predict over the
	// stated one are this many times as large. It changes no placement. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0.001')) >= 0 && quantity(string(self)).compareTo(quantity('1000000')) <= 0",message="a correction is how many times as long a job takes alone as was stated: write a number from 0.001 to 1000000, such as \"4.9\""
	NeutralCorrection *resource.Quantity `json:"neutralCorrection,omitempty"`

	// arrival is how often jobs of this kind arrive, for the sizing of pools.
	// +optional
	Arrival *Arrival `json:"arrival,omitempty"`

	// sla is what is asked of the jobs' response time. Replays say how many of
	// the jobs keep within it.
	// +optional
	SLA *SLA `json:"sla,omitempty"`

	// importance is how many times as much as that of other workloads the slowdown
	// of these pods counts when the scheduler chooses a node, for them or for a new
	// neighbour of theirs: above 0 and at most 100. Of a larger one than the operator
	// of the scheduler lets count, 10 by default, that much counts. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('100')) <= 0",message="an importance is how many times as much a slowdown counts: write a number above 0 and at most 100, such as \"5\""
	Importance *resource.Quantity `json:"importance,omitempty"`

	// work names the counter of the units of work that the pods do, such as requests.
	// Gauges and the counter together say how much slower the pods serve.
	// +optional
	Work *Work `json:"work,omitempty"`

	// fairShare makes the workload a leaf of a ShareTree, which predicts its
	// response time.
	// +optional
	FairShare *FairShare `json:"fairShare,omitempty"`
}

// Arrival is how often jobs arrive.
type Arrival struct {
	// ratePerSecond is how many jobs arrive per second, at least 0, such as
	// "0.6".
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('1G')) <= 0",message="a rate is how many jobs arrive per second: write a number that is not negative, such as \"0.6\""
	RatePerSecond *resource.Quantity `json:"ratePerSecond,omitempty"`
}

// SLA is a service level agreement: on the response time itself, on how many
// times longer than the neutral time it may be, or on both.
//
// +kubebuilder:validation:XValidation:rule="has(self.responseTimeMillis) || has(self.maxDilation)",message="give responseTimeMillis (with a probability) or maxDilation, or both"
// +kubebuilder:validation:XValidation:rule="has(self.responseTimeMillis) || !has(self.probability)",fieldPath=".probability",message="the probability is that of keeping within responseTimeMillis: set responseTimeMillis too"
type SLA struct {
	// responseTimeMillis is the response time, from arrival to completion, that
	// jobs should keep within, in milliseconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	ResponseTimeMillis *int64 `json:"responseTimeMillis,omitempty"`

	// probability is the fraction of jobs that must keep within
	// responseTimeMillis, between 0 and 1. Defaults to 0.95.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('1')) < 0",message="a probability is a number above 0 and below 1, such as \"0.95\""
	Probability *resource.Quantity `json:"probability,omitempty"`

	// maxDilation is how many times longer than the neutral time a job may
	// take, at least 1. Of a WorkloadProfile the scheduler's guard keeps it for the
	// processors that the CPU request of a pod covers, and counts one that is lower than
	// the operator allows, 1.05 by default, as that.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('1')) >= 0",message="a dilation is how many times longer than alone a job takes: write a number of at least 1, such as \"1.5\""
	MaxDilation *resource.Quantity `json:"maxDilation,omitempty"`
}

// ResourceDemand is what one pod asks of one resource of its node.
//
// +kubebuilder:validation:XValidation:rule="has(self.loading) != has(self.demandMillis)",message="give either loading (a fraction of the neutral time) or demandMillis (the time spent at the resource), and not both"
// +kubebuilder:validation:XValidation:rule="!has(self.burstMillis) || self.name == 'cpu'",fieldPath=".burstMillis",message="only bursts of computing count: set burstMillis at the resource cpu only"
type ResourceDemand struct {
	// name is the resource: cpu, disk, network, or any other name that the
	// nodes' profiles use.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as cpu, disk or memory-bandwidth"
	Name string `json:"name,omitempty"`

	// loading is the fraction of its neutral time that each thread of the pod
	// spends at the resource, from 0 to 1, such as "0.58" or "580m". What the
	// threads of the pod wait for each other, where a node has fewer servers than
	// they are, is no part of the time that it is a fraction of.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('1')) <= 0",message="a loading is a fraction of the neutral time: write a number from 0 to 1, such as \"0.58\""
	Loading *resource.Quantity `json:"loading,omitempty"`

	// demandMillis is the time that each thread of a job spends at the
	// resource, in milliseconds, where that is known in place of the loading:
	// loading = demandMillis / neutralMillis.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000
	DemandMillis *int64 `json:"demandMillis,omitempty"`

	// pressure is the fraction of time that each thread of the pod stands in
	// the way of others at the resource, from 0 to 1, where that differs from
	// the loading. Defaults to the loading.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('1')) <= 0",message="a pressure is a fraction of time: write a number from 0 to 1, such as \"0.58\"; a pod that presses harder than one thread can has several threads"
	Pressure *resource.Quantity `json:"pressure,omitempty"`

	// threads is how many threads of the pod use the resource at once. A pod
	// with 4 threads loads a node as 4 pods with one thread do. Where a node has
	// fewer servers than that, the threads wait for each other, which is part of
	// the neutral time there. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Threads *int32 `json:"threads,omitempty"`

	// burstMillis is for how long a thread of the pod computes at a time before it
	// waits or sleeps, on average, in milliseconds; of cpu only. A CPU limit stops a
	// thread that computes for longer than the quota of a period, even where the pod
	// uses less than its limit. Without burstMillis it is what gauges observe, in
	// status.observations. Where they do not, a limit counts as if bursts were short
	// beside it: it holds on average. On several cores a thread of short bursts also
	// waits after it wakes up, and bursts count where weights differ.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	BurstMillis *int64 `json:"burstMillis,omitempty"`
}

// WorkloadProfileStatus says how a profile is used.
type WorkloadProfileStatus struct {
	// conditions are Ready (the scheduler uses the profile), Conflicted (an equally
	// specific profile matches some of the same pods), with a measurement, Measured
	// (every class of nodes has a result), with a fairShare, SLAAttainable (the
	// ShareTree lets the mean response time keep within the SLA), with work,
	// WorkObserved (status.work is of recent readings) and, where there are gauges,
	// Drifted (the vector in use no longer fits what was observed).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status is of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// resources is the loading vector in use, with the defaults filled in. Of
	// several that were measured it is the last.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Resources []ResourceLoading `json:"resources,omitempty"`

	// neutralMillis is the neutral time in use: that of the spec, else the one that
	// was measured last.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NeutralMillis *int64 `json:"neutralMillis,omitempty"`

	// measurements are the vectors that were measured, one per class of nodes.
	// +optional
	// +listType=map
	// +listMapKey=nodeProfile
	// +kubebuilder:validation:MaxItems=100
	Measurements []MeasuredVector `json:"measurements,omitempty"`

	// measuring is the measurement that is going on.
	// +optional
	Measuring *MeasurementProgress `json:"measuring,omitempty"`

	// observations are what gauges observed of the pods, one per class of nodes.
	// +optional
	// +listType=map
	// +listMapKey=nodeProfile
	// +kubebuilder:validation:MaxItems=100
	Observations []WorkloadObservation `json:"observations,omitempty"`

	// work is how many CPU seconds a unit of work takes, one per class of nodes.
	// +optional
	// +listType=map
	// +listMapKey=nodeProfile
	// +kubebuilder:validation:MaxItems=20
	Work []WorkObservation `json:"work,omitempty"`

	// accuracy is how well the dilations of the pods were predicted.
	// +optional
	Accuracy *PredictionAccuracy `json:"accuracy,omitempty"`

	// pods is how many pods that have not terminated follow the profile.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pods *int32 `json:"pods,omitempty"`
}

// ResourceLoading is one component of the loading vector in use.
type ResourceLoading struct {
	// name is the resource.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// loading is the fraction of its neutral time that each thread spends at
	// the resource.
	// +required
	Loading *resource.Quantity `json:"loading,omitempty"`

	// pressure is the fraction of time that each thread stands in the way of
	// others.
	// +required
	Pressure *resource.Quantity `json:"pressure,omitempty"`

	// sensitivity is what waiting for the resource costs each thread: by how much
	// it is slowed down beside what always uses the resource. Absent where it is
	// the loading, as for all that is declared.
	// +optional
	Sensitivity *resource.Quantity `json:"sensitivity,omitempty"`

	// threads is how many threads of the pod use the resource at once.
	// +required
	// +kubebuilder:validation:Minimum=1
	Threads *int32 `json:"threads,omitempty"`
}

// WorkloadProfileList is a list of profiles.
//
// +kubebuilder:object:root=true
type WorkloadProfileList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the profiles.
	Items []WorkloadProfile `json:"items"`
}
