package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Measurement says how the loading vector of a workload is measured. A probe, a
// standard job that keeps one resource busy all the time, runs on a node in turn
// without and with the workload: how much it is slowed down is the workload's
// pressure on that resource, and how much the workload is slowed down its
// loading.
//
// +kubebuilder:validation:XValidation:rule="!has(self.method) || self.method != 'copies' || has(self.target)",fieldPath=".target",reason=FieldValueRequired,message="copies are run of a target: name the Job or CronJob to take the pod template from, or measure by probes"
// +kubebuilder:validation:XValidation:rule="!has(self.method) || self.method != 'copies' || (has(self.resources) && size(self.resources) == 2)",fieldPath=".resources",message="the slowdown of copies tells the vector of a job that keeps two resources busy: name these two, or measure by probes"
// +kubebuilder:validation:XValidation:rule="!has(self.interference) || (has(self.target) && (!has(self.method) || self.method == 'probes'))",fieldPath=".interference",message="interference is measured by probes beside a target: name the Job or CronJob to take the pod template from, and leave method out"
// +kubebuilder:validation:XValidation:rule="!has(self.interference) || !has(self.resources) || self.interference.all(i, !self.resources.exists(r, r.name == i.name))",fieldPath=".interference",message="a resource has a queue, or is shared without one: list it under resources or under interference, and not under both"
type Measurement struct {
	// target is where the pods to measure come from. Copies of its pod template
	// run on a quiet node, under the template's service account and without its
	// labels. Left out, the pods that follow the profile are measured as they
	// run, untouched: this suits services, which never end, and tells their
	// pressure alone.
	// +optional
	Target *MeasurementTarget `json:"target,omitempty"`

	// method is how the vector is found: probes run a standard job per resource
	// beside the workload; copies run several of the workload at once, which
	// needs no standard job but tells less. Defaults to probes.
	// +optional
	// +kubebuilder:validation:Enum=probes;copies
	Method string `json:"method,omitempty"`

	// resources lists the resources to measure. Defaults to cpu and disk.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Resources []ProbedResource `json:"resources,omitempty"`

	// interference lists the interference resources to measure: those that are
	// shared without a queue. The target runs beside a standard job at four
	// pressures, which tells its sensitivity curve and how hard it presses. That takes
	// a target, and nodes with two cores at least: what takes turns on one core does
	// not interfere.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Interference []ProbedInterference `json:"interference,omitempty"`

	// nodes chooses the nodes to measure on by their labels. Each class among
	// them, that is each NodeProfile that one of them follows, is measured.
	// Defaults to all nodes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] == (has(e.values) && size(e.values) > 0))",message="operators In and NotIn need values; Exists and DoesNotExist take none"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || size(self.matchLabels) <= 8",message="a selector has at most 8 matchLabels"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || size(self.matchExpressions) <= 8",message="a selector has at most 8 matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.map(e, has(e.values) ? size(e.values) : 0).sum() <= 64",message="the matchExpressions of a selector have at most 64 values in all"
	Nodes *metav1.LabelSelector `json:"nodes,omitempty"`

	// neighbours says what to do about other pods on the node: wait measures only
	// where there are none but those of DaemonSets and of system-critical priority,
	// such as the name service; correct measures beside them and takes their part,
	// as the model predicts it, out of the result. Defaults to wait.
	// +optional
	// +kubebuilder:validation:Enum=wait;correct
	Neighbours string `json:"neighbours,omitempty"`

	// precision is how wide the 95 % confidence interval of each component may
	// be to either side. Rounds go on until it is reached, or until maxRounds or
	// budgetSeconds are. Defaults to "0.03".
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('1m')) >= 0 && quantity(string(self)).compareTo(quantity('1')) < 0",message="a precision is the half width of a confidence interval of a loading: write a number from 0.001 to below 1, such as \"0.03\""
	Precision *resource.Quantity `json:"precision,omitempty"`

	// maxRounds is how many rounds there are at most. Defaults to 10.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=40
	MaxRounds *int32 `json:"maxRounds,omitempty"`

	// timeoutSeconds is how long one copy of the target may run alone. Without a
	// target, it is how long a probe runs. Defaults to 600 and 30.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=86400
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`

	// budgetSeconds is how long the measurement of one class of nodes may take, up to
	// what the operator allows (--max-measurement-time of loadline-manager).
	// Defaults to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	BudgetSeconds *int64 `json:"budgetSeconds,omitempty"`

	// validSeconds is how old a measurement may get before it is repeated.
	// Defaults to 30 days.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=1000000000
	ValidSeconds *int64 `json:"validSeconds,omitempty"`
}

// Values of the enumerations of measurements.
const (
	// TargetJob takes the pod template of a Job.
	TargetJob = "Job"
	// TargetCronJob takes the pod template of a CronJob.
	TargetCronJob = "CronJob"

	// MethodProbes runs standard jobs beside the workload.
	MethodProbes = "probes"
	// MethodCopies runs several copies of the workload at once.
	MethodCopies = "copies"

	// NeighboursWait measures on quiet nodes only.
	NeighboursWait = "wait"
	// NeighboursCorrect takes the part of other pods out of the result.
	NeighboursCorrect = "correct"

	// ProbeCPU computes.
	ProbeCPU = "cpu"
	// ProbeDiskRead reads from the disk, past the page cache.
	ProbeDiskRead = "disk-read"
	// ProbeDiskWrite writes to the disk, and waits until it is there.
	ProbeDiskWrite = "disk-write"
	// ProbeNetwork sends to a peer, which acknowledges.
	ProbeNetwork = "network"
	// ProbeMemoryBandwidth copies memory, more than the caches hold.
	ProbeMemoryBandwidth = "memory-bandwidth"
	// ProbeMemoryRead reads memory, more than the caches hold.
	ProbeMemoryRead = "memory-read"
	// ProbeMemoryWrite writes memory, more than the caches hold.
	ProbeMemoryWrite = "memory-write"
	// ProbeLLC changes lines at random all over half of the last-level cache.
	ProbeLLC = "llc"
	// ProbeCore keeps the arithmetic units of a core busy.
	ProbeCore = "core"

	// NoNodeProfile stands for the class of the nodes that follow no NodeProfile.
	NoNodeProfile = "(none)"
)

// MeasurementTarget names an object of the profile's namespace that has a pod
// template whose pods end by themselves.
type MeasurementTarget struct {
	// kind is Job or CronJob.
	// +required
	// +kubebuilder:validation:Enum=Job;CronJob
	Kind string `json:"kind,omitempty"`

	// name is that of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// ProbedResource is a resource and the standard job that keeps it busy.
//
// +kubebuilder:validation:XValidation:rule="has(self.job) || self.name in ['cpu', 'disk', 'network', 'memory-bandwidth']",fieldPath=".job",reason=FieldValueRequired,message="say which standard job keeps the resource busy: cpu, disk-read, disk-write, network or memory-bandwidth"
// +kubebuilder:validation:XValidation:rule="has(self.peer) == ((has(self.job) ? self.job : self.name) == 'network')",fieldPath=".peer",message="the network job needs a peer, the address of a \"loadline-probe sink\" such as 10.0.0.7:7070, and no other job has one"
type ProbedResource struct {
	// name is the resource: cpu, disk, network, or any other name that the
	// nodes' profiles use.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as cpu, disk or memory-bandwidth"
	Name string `json:"name,omitempty"`

	// job is the standard job. Defaults to that of the resource's name, and to
	// disk-read for disk.
	// +optional
	// +kubebuilder:validation:Enum=cpu;disk-read;disk-write;network;memory-bandwidth
	Job string `json:"job,omitempty"`

	// peer is where the network job sends to, a host and a port.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=260
	Peer string `json:"peer,omitempty"`

	// threads is how many threads of the measured pod use the resource at once.
	// The result is per thread. It has no meaning for a calibration. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Threads *int32 `json:"threads,omitempty"`
}

// ProbedInterference is an interference resource and the standard job that
// presses there.
//
// +kubebuilder:validation:XValidation:rule="has(self.job) || self.name in ['llc', 'memory-bandwidth', 'core']",fieldPath=".job",reason=FieldValueRequired,message="say which standard job presses there: llc, memory-bandwidth, memory-read, memory-write or core"
type ProbedInterference struct {
	// name is the resource: llc, memory-bandwidth, core, or any other name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as llc or memory-bandwidth"
	Name string `json:"name,omitempty"`

	// job is the standard job. Defaults to that of the resource's name.
	// +optional
	// +kubebuilder:validation:Enum=llc;memory-bandwidth;memory-read;memory-write;core
	Job string `json:"job,omitempty"`

	// sizeMebi is how much memory the standard job touches, in MiB. Defaults to half
	// of the last-level cache for llc, and to several times as much for the jobs that
	// stream. A virtual machine may have less of a cache than it reports:
	// "loadline-probe calibrate --job llc --size 8Mi" says with which size two jobs
	// notice each other. At least 2 for llc, and 16 for others; two copies of it have
	// to fit into the memory of probes.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=1024
	SizeMebi *int32 `json:"sizeMebi,omitempty"`
}

// MeasuredVector is what was measured on one class of nodes.
type MeasuredVector struct {
	// nodeProfile is the class, by the name of its NodeProfile, or "(none)" for
	// nodes that follow none.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	NodeProfile string `json:"nodeProfile,omitempty"`

	// node is where it was measured.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// time is when the measurement ended.
	// +required
	Time *metav1.Time `json:"time,omitempty"`

	// question identifies what was measured and how: the pod template and the
	// spec's measurement, condensed. A change of it makes the result stale.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Question string `json:"question,omitempty"`

	// method is how it was measured: probes or copies.
	// +required
	// +kubebuilder:validation:Enum=probes;copies
	Method string `json:"method,omitempty"`

	// rounds is how many rounds the result is of.
	// +required
	// +kubebuilder:validation:Minimum=0
	Rounds *int32 `json:"rounds,omitempty"`

	// neutralMillis is the neutral time, in milliseconds. Pods that were measured
	// as they ran have none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NeutralMillis *int64 `json:"neutralMillis,omitempty"`

	// neutralErrorMillis is the half width of its 95 % confidence interval.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NeutralErrorMillis *int64 `json:"neutralErrorMillis,omitempty"`

	// resources is the vector.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Resources []MeasuredLoading `json:"resources,omitempty"`

	// interference is what was measured at interference resources. Those at which
	// two standard jobs hardly slow each other down on the node are missing.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Interference []MeasuredInterference `json:"interference,omitempty"`
}

// MeasuredInterference is what was measured at one interference resource. Errors
// are half widths of 95 % confidence intervals.
type MeasuredInterference struct {
	// name is the resource.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// pressure is how hard the workload presses: by how much it slows the standard
	// job down, in proportion to what another standard job does.
	// +required
	Pressure *resource.Quantity `json:"pressure,omitempty"`

	// pressureError is the pressure's.
	// +optional
	PressureError *resource.Quantity `json:"pressureError,omitempty"`

	// curve is the sensitivity curve, by ascending pressure of the standard job.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Curve []MeasuredCurvePoint `json:"curve,omitempty"`
}

// MeasuredCurvePoint is one point of a measured sensitivity curve.
type MeasuredCurvePoint struct {
	// pressure is that of the standard job.
	// +required
	Pressure *resource.Quantity `json:"pressure,omitempty"`

	// inflation is how many times longer the workload computed beside it.
	// +required
	Inflation *resource.Quantity `json:"inflation,omitempty"`

	// inflationError is the inflation's.
	// +optional
	InflationError *resource.Quantity `json:"inflationError,omitempty"`

	// samples is how many rounds the point is of.
	// +required
	// +kubebuilder:validation:Minimum=0
	Samples *int32 `json:"samples,omitempty"`
}

// MeasuredLoading is one component of a measured vector. Errors are half widths
// of 95 % confidence intervals.
type MeasuredLoading struct {
	// name is the resource.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// loading is the fraction of its neutral time that each thread spends at the
	// resource: from the slowdowns of the workload and of the probe, by the work that
	// the resource then did for the workload. Of memory-bandwidth, which does not
	// always do as much work, it is the sensitivity. Where the workload's own slowdown
	// was not measured, it is the pressure.
	// +required
	Loading *resource.Quantity `json:"loading,omitempty"`

	// loadingError is the loading's.
	// +optional
	LoadingError *resource.Quantity `json:"loadingError,omitempty"`

	// pressure is how much each thread stands in others' way: from the slowdown of the
	// probe beside the workload.
	// +required
	Pressure *resource.Quantity `json:"pressure,omitempty"`

	// pressureError is the pressure's.
	// +optional
	PressureError *resource.Quantity `json:"pressureError,omitempty"`

	// sensitivity is what waiting costs the workload: from its own slowdown beside
	// the probe. Where the resource serves all alike, sensitivity, pressure and loading
	// are the same; Linux favours threads that often sleep, whose sensitivity is
	// less than their loading, and whose pressure is more.
	// +optional
	Sensitivity *resource.Quantity `json:"sensitivity,omitempty"`

	// sensitivityError is the sensitivity's.
	// +optional
	SensitivityError *resource.Quantity `json:"sensitivityError,omitempty"`

	// threads is how many threads of the pod use the resource at once.
	// +required
	// +kubebuilder:validation:Minimum=1
	Threads *int32 `json:"threads,omitempty"`

	// samples is how many rounds the component is of.
	// +required
	// +kubebuilder:validation:Minimum=0
	Samples *int32 `json:"samples,omitempty"`
}

// MeasurementProgress is a measurement that is going on: where it takes place
// and what each of its runs has shown. It ends with an entry in measurements.
type MeasurementProgress struct {
	// nodeProfile is the class of nodes, as in measurements.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	NodeProfile string `json:"nodeProfile,omitempty"`

	// node is where it takes place.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// baselineNode is where the probes run without the workload, if elsewhere.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	BaselineNode string `json:"baselineNode,omitempty"`

	// question is that of the result to come, as in measurements.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Question string `json:"question,omitempty"`

	// startTime is when it began.
	// +required
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// round is the round that is going on, from 1.
	// +required
	// +kubebuilder:validation:Minimum=1
	Round *int32 `json:"round,omitempty"`

	// step is the step of the round that is going on, such as "alone" or
	// "beside-disk".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Step string `json:"step,omitempty"`

	// attempts is how many times the step was begun whose runs were lost or
	// disturbed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempts *int32 `json:"attempts,omitempty"`

	// samples are the results of the steps that are over.
	// +optional
	// +listType=map
	// +listMapKey=round
	// +listMapKey=step
	// +kubebuilder:validation:MaxItems=500
	Samples []MeasurementSample `json:"samples,omitempty"`
}

// MeasurementSample is the result of one step of one round.
type MeasurementSample struct {
	// round is the number of the round, from 1.
	// +required
	// +kubebuilder:validation:Minimum=1
	Round *int32 `json:"round,omitempty"`

	// step is the step of the round.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Step string `json:"step,omitempty"`

	// targetNanos is how long the target took, in nanoseconds, without the time
	// in which a hypervisor kept the processors from the node. Of several copies
	// it is the mean.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TargetNanos *int64 `json:"targetNanos,omitempty"`

	// targetCPUNanos is how long the threads of the target ran, in nanoseconds,
	// where that is known of all of them. It shows how fast the processors were.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TargetCPUNanos *int64 `json:"targetCPUNanos,omitempty"`

	// probeDilation is how many times slower the probe was beside the target.
	// +optional
	ProbeDilation *resource.Quantity `json:"probeDilation,omitempty"`

	// probeUnitsPerSecond is how fast the probe was, where it ran alone or beside
	// pods in production.
	// +optional
	ProbeUnitsPerSecond *resource.Quantity `json:"probeUnitsPerSecond,omitempty"`

	// probeComputing is the fraction of its time without the target that each
	// worker of the probe of another resource than the CPU computes.
	// +optional
	ProbeComputing *resource.Quantity `json:"probeComputing,omitempty"`

	// selfDilation is how many times slower each of two probes was at the resource
	// beside the other: 2 where one keeps the resource busy.
	// +optional
	SelfDilation *resource.Quantity `json:"selfDilation,omitempty"`
}

// Calibration says how the servers of a class of nodes are measured. Two copies
// of a standard job run at once, with ever more requests: the number of servers
// is that of the requests at which the copies slow each other down to half their
// speed.
type Calibration struct {
	// resources lists the resources to calibrate.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Resources []ProbedResource `json:"resources,omitempty"`

	// maxServers is how many servers are looked for at most. Defaults to 64.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	MaxServers *int32 `json:"maxServers,omitempty"`

	// budgetSeconds is how long the calibration of one resource may take.
	// Defaults to 120.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=3600
	BudgetSeconds *int64 `json:"budgetSeconds,omitempty"`

	// validSeconds is how old a calibration may get before it is repeated.
	// Defaults to 90 days.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=1000000000
	ValidSeconds *int64 `json:"validSeconds,omitempty"`
}

// CalibratedResource is what a calibration found.
type CalibratedResource struct {
	// name is the resource.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// job is the standard job.
	// +required
	// +kubebuilder:validation:Enum=cpu;disk-read;disk-write;network;memory-bandwidth
	Job string `json:"job,omitempty"`

	// servers is how many requests the resource serves at once. It is missing
	// where the standard job could not keep the resource busy.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16384
	Servers *int32 `json:"servers,omitempty"`

	// dilation is how many times slower each of two copies was than one.
	// +required
	Dilation *resource.Quantity `json:"dilation,omitempty"`

	// dilationError is the half width of its 95 % confidence interval.
	// +optional
	DilationError *resource.Quantity `json:"dilationError,omitempty"`

	// unitsPerSecond is how fast one copy is alone.
	// +optional
	UnitsPerSecond *resource.Quantity `json:"unitsPerSecond,omitempty"`

	// node is where it was measured.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// time is when.
	// +required
	Time *metav1.Time `json:"time,omitempty"`

	// question identifies what was asked: the standard job and the spec's
	// calibration, condensed. A change of it makes the result stale.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Question string `json:"question,omitempty"`
}

// CalibrationProgress is a calibration that is going on.
type CalibrationProgress struct {
	// resource is the one that is calibrated.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Resource string `json:"resource,omitempty"`

	// node is where.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// startTime is when it began.
	// +required
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// attempts is how many times it was begun.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempts *int32 `json:"attempts,omitempty"`
}
