package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TraceReplay asks what a stream of jobs, recorded or generated, would look like
// on some nodes under some placement policies: how long jobs take, how much they
// slow each other down, how long they wait and when the last one is done.
//
// Each policy is tried with each seed; such a run is one pod of a Job. Deleting
// the TraceReplay cancels it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=trp,categories=loadline
// +kubebuilder:printcolumn:name="Runs",type=integer,JSONPath=`.status.runs.total`
// +kubebuilder:printcolumn:name="Done",type=integer,JSONPath=`.status.runs.succeeded`
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.runs.failed`
// +kubebuilder:printcolumn:name="Best",type=string,JSONPath=`.status.best`
// +kubebuilder:printcolumn:name="Complete",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Complete")].message`
type TraceReplay struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which jobs are replayed on which nodes under which policies.
	// +required
	Spec TraceReplaySpec `json:"spec,omitzero"`

	// status says how far the replay is and what it found.
	// +optional
	Status TraceReplayStatus `json:"status,omitempty,omitzero"`
}

// TraceReplaySpec is the question that a replay answers. It cannot be changed:
// an answer belongs to its question.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of a TraceReplay cannot be changed: delete it and create another"
// +kubebuilder:validation:XValidation:rule="has(self.trace) != has(self.arrivals)",message="give either trace (recorded jobs) or arrivals (generated jobs), and not both"
// +kubebuilder:validation:XValidation:rule="(has(self.policies) ? size(self.policies) : 4) * (has(self.seeds) ? self.seeds : 1) <= 1000",message="each policy is run with each seed, 1000 runs at most: name fewer policies (four when none is named) or give fewer seeds"
type TraceReplaySpec struct {
	// trace is where the recorded jobs are.
	// +optional
	Trace *ReplayTrace `json:"trace,omitempty"`

	// arrivals says how jobs are generated.
	// +optional
	Arrivals *ReplayArrivals `json:"arrivals,omitempty"`

	// nodes lists the classes of nodes that the jobs run on.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Nodes []ReplayNodes `json:"nodes,omitempty"`

	// policies lists the placement policies to compare; improvements are
	// relative to the first. Defaults to round-robin, least-requested, lmuf and
	// least-dilation.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Policies []ReplayPolicy `json:"policies,omitempty"`

	// seeds is how many times each policy is run, with the seeds 1, 2, and so
	// on. A seed decides on generated jobs and on what a policy draws by lot.
	// Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Seeds *int32 `json:"seeds,omitempty"`

	// solver says how the contention model is solved: auto takes the most
	// accurate one that is cheap enough; first-order, schweitzer, linearizer and
	// exact are ever more accurate and ever slower. Defaults to auto.
	// +optional
	// +kubebuilder:validation:Enum=auto;exact;linearizer;schweitzer;first-order
	Solver string `json:"solver,omitempty"`

	// queue says what happens behind a job that fits on no node: with backfill
	// later jobs that fit go ahead, as in kube-scheduler, with fifo they wait.
	// Defaults to backfill.
	// +optional
	// +kubebuilder:validation:Enum=backfill;fifo
	Queue string `json:"queue,omitempty"`

	// cpuShares says how the jobs on a node share its cores where they want more
	// than there are: equal gives each job the same, as if all requested the
	// same; requests shares them by what the jobs request of the cpu, as
	// Kubernetes does on cgroup v2. Jobs without a request are then BestEffort.
	// Limits count with either. Defaults to equal.
	// +optional
	// +kubebuilder:validation:Enum=equal;requests
	CPUShares string `json:"cpuShares,omitempty"`

	// parallelism is how many runs go on at once, up to what the operator allows
	// (--max-replay-parallelism of loadline-manager). Defaults to 4.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Parallelism *int32 `json:"parallelism,omitempty"`

	// output is where each run writes what became of every job. Left out, only
	// the summary is kept.
	// +optional
	Output *ReplayOutput `json:"output,omitempty"`
}

// Values of the spec's enumerations.
const (
	// TraceFormatCSV is Loadline's own format.
	TraceFormatCSV = "csv"
	// TraceFormatSWF is the Standard Workload Format.
	TraceFormatSWF = "swf"
	// TraceFormatOpenB is the format of the openb traces.
	TraceFormatOpenB = "openb"

	// UnsortedRefuse makes a job that arrives before the one above it an error.
	UnsortedRefuse = "refuse"
	// UnsortedSort sorts the jobs by arrival, which takes memory for all of them.
	UnsortedSort = "sort"

	// DistributionConstant is the same time between any two arrivals.
	DistributionConstant = "constant"
	// DistributionExponential is what independent users give: a Poisson process.
	DistributionExponential = "exponential"
	// DistributionGamma is more regular or more bursty than exponential.
	DistributionGamma = "gamma"
	// DistributionLognormal has a heavier tail than gamma.
	DistributionLognormal = "lognormal"
	// DistributionHyperexponential mixes short and long times, with balanced means.
	DistributionHyperexponential = "hyperexponential"
	// DistributionEmpirical draws from measured times.
	DistributionEmpirical = "empirical"

	// QueueBackfill lets jobs that fit go ahead of those that do not.
	QueueBackfill = "backfill"
	// CPUSharesEqual gives each job the same weight, whatever it requests; its threads share it.
	CPUSharesEqual = "equal"
	// CPUSharesRequests shares the cores by what jobs request of the cpu.
	CPUSharesRequests = "requests"

	// QueueFIFO makes jobs wait for those that arrived earlier.
	QueueFIFO = "fifo"
)

// ReplayTrace is a file of recorded jobs, plain or compressed by gzip.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.persistentVolumeClaim)",message="give either configMap or persistentVolumeClaim, and not both"
type ReplayTrace struct {
	// format is the trace's format: csv (Loadline's own), swf (Standard Workload
	// Format) or openb. Defaults to csv.
	// +optional
	// +kubebuilder:validation:Enum=csv;swf;openb
	Format string `json:"format,omitempty"`

	// configMap holds the trace, in data or in binaryData.
	// +optional
	ConfigMap *ConfigMapKey `json:"configMap,omitempty"`

	// persistentVolumeClaim is the volume that holds the trace; path is that of
	// the file.
	// +optional
	PersistentVolumeClaim *ClaimPath `json:"persistentVolumeClaim,omitempty"`

	// limit is how many jobs are read, from the first one. Defaults to all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Limit *int64 `json:"limit,omitempty"`

	// unsorted says what happens when the trace is not in the order of arrival:
	// refuse fails and names the line, sort sorts it first, in memory. Defaults
	// to refuse.
	// +optional
	// +kubebuilder:validation:Enum=refuse;sort
	Unsorted string `json:"unsorted,omitempty"`
}

// ConfigMapKey is one entry of a ConfigMap of the same namespace.
type ConfigMapKey struct {
	// name is that of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key is that of the entry.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$') && self != '.' && !self.startsWith('..')",message="a key of a ConfigMap consists of letters, digits, '-', '_' and '.'"
	Key string `json:"key,omitempty"`
}

// ClaimPath is a place on a volume.
type ClaimPath struct {
	// claimName is the PersistentVolumeClaim of the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`

	// path is relative to the volume's root, such as "traces/lastweek.csv.gz".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')",message="a path is relative to the root of the volume and does not leave it: neither begin it with '/' nor use '..'"
	Path string `json:"path,omitempty"`
}

// ReplayArrivals describes jobs to generate.
type ReplayArrivals struct {
	// jobs is how many jobs arrive.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	Jobs *int64 `json:"jobs,omitempty"`

	// interarrival is how the times between arrivals are distributed.
	// +required
	Interarrival Interarrival `json:"interarrival,omitzero"`

	// types lists the kinds of jobs, one of which is drawn for each arrival.
	// +required
	// +listType=map
	// +listMapKey=profile
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Types []ReplayJobType `json:"types,omitempty"`
}

// Interarrival is the distribution of the times between arrivals.
//
// +kubebuilder:validation:XValidation:rule="has(self.meanMillis) != (has(self.distribution) && self.distribution == 'empirical')",message="every distribution needs meanMillis, but for empirical, which draws from gapsMillis"
// +kubebuilder:validation:XValidation:rule="has(self.gapsMillis) == (has(self.distribution) && self.distribution == 'empirical')",message="the distribution empirical needs gapsMillis, the others take none"
// +kubebuilder:validation:XValidation:rule="has(self.scv) == (has(self.distribution) && self.distribution in ['gamma', 'lognormal', 'hyperexponential'])",message="gamma, lognormal and hyperexponential need scv, the squared coefficient of variation, and the others take none (it is 0 for constant, 1 for exponential)"
// +kubebuilder:validation:XValidation:rule="!has(self.scv) || !has(self.distribution) || self.distribution != 'hyperexponential' || !string(self.scv).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || quantity(string(self.scv)).compareTo(quantity('1')) >= 0",fieldPath=".scv",message="a hyperexponential distribution varies at least as much as an exponential one: scv must be at least 1; take gamma or lognormal for less"
type Interarrival struct {
	// distribution is one of constant, exponential (a Poisson process), gamma,
	// lognormal, hyperexponential (two phases with balanced means) and empirical
	// (any of gapsMillis, each as likely). Defaults to exponential.
	// +optional
	// +kubebuilder:validation:Enum=constant;exponential;gamma;lognormal;hyperexponential;empirical
	Distribution string `json:"distribution,omitempty"`

	// meanMillis is the mean time between arrivals, in milliseconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	MeanMillis *int64 `json:"meanMillis,omitempty"`

	// scv is the squared coefficient of variation, variance / mean², above 0:
	// the larger, the burstier.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('10000')) <= 0",message="a squared coefficient of variation is a number above 0 and up to 10000, such as \"2.5\""
	SCV *resource.Quantity `json:"scv,omitempty"`

	// gapsMillis lists measured times between arrivals, in milliseconds.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=1000000000000
	GapsMillis []int64 `json:"gapsMillis,omitempty"`
}

// ReplayJobType is a kind of jobs.
//
// +kubebuilder:validation:XValidation:rule="!has(self.cpuRequest) || !has(self.cpuLimit) || !string(self.cpuRequest).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || !string(self.cpuLimit).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || quantity(string(self.cpuRequest)).compareTo(quantity(string(self.cpuLimit))) <= 0",fieldPath=".cpuLimit",message="a limit must not be less than the request, cpuRequest"
type ReplayJobType struct {
	// profile is the WorkloadProfile of the same namespace that the jobs follow.
	// It needs neutralMillis.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`

	// weight is how often the kind is drawn, relative to the others. Defaults
	// to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Weight *int32 `json:"weight,omitempty"`

	// cpuRequest is how many cores such a job requests, such as 500m; 0 is
	// nothing. Defaults to cpuLimit, else to what the job keeps busy when it is
	// placed, and to nothing when cores are shared by requests.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('16384')) <= 0",message="a request is a number of cores from 0 to 16384, such as 500m"
	CPURequest *resource.Quantity `json:"cpuRequest,omitempty"`

	// cpuLimit is how many cores the quota of such a job lets it use on average,
	// such as 500m. A job that needs more takes longer by that even if it is
	// alone, which is no dilation. Defaults to no limit.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('16384')) <= 0",message="a limit is a number of cores above 0 and up to 16384, such as 500m; leave it out for no limit"
	CPULimit *resource.Quantity `json:"cpuLimit,omitempty"`
}

// ReplayNodes is a class of nodes that are all alike.
type ReplayNodes struct {
	// name is what the class is called in results.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a name consists of lower-case letters, digits and '-', and begins and ends with a letter or digit"
	Name string `json:"name,omitempty"`

	// count is how many such nodes there are. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Count *int32 `json:"count,omitempty"`

	// nodeProfile is the NodeProfile that says which resources the nodes have and
	// how many servers each has, where resources does not.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	NodeProfile string `json:"nodeProfile,omitempty"`

	// resources lists the servers and the speed of resources. Every node has cpu,
	// disk, network and memory-bandwidth, each with one server where neither
	// this list nor nodeProfile says otherwise, and as many at the cpu as its
	// capacity says. Any other resource a node has only if one of them names it:
	// jobs that need it are placed on no other node, and are dropped if no node
	// has it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Resources []ReplayResource `json:"resources,omitempty"`

	// capacity lists what the requests of the jobs on one node may add up to,
	// such as cpu, memory and gpu. Of what is not listed there is no end.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Capacity []ReplayCapacity `json:"capacity,omitempty"`

	// maxJobs is how many jobs one node runs at once. Defaults to no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxJobs *int32 `json:"maxJobs,omitempty"`
}

// ReplayResource is one resource of each node of a class.
type ReplayResource struct {
	// name is the resource: cpu, disk, network, or any other name that the
	// workload profiles use.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as cpu, disk or memory-bandwidth"
	Name string `json:"name,omitempty"`

	// servers is how many requests the resource serves at once at full speed.
	// Defaults to what nodeProfile says, else to 1; for cpu, else to the capacity,
	// rounded, else to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16384
	Servers *int32 `json:"servers,omitempty"`

	// speed is how fast the resource is relative to the node on which the jobs'
	// demands were measured, such as "1.5". Defaults to 1.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('1m')) >= 0 && quantity(string(self)).compareTo(quantity('1000')) <= 0",message="a speed is relative to the node on which demands were measured: write a number from 0.001 to 1000, such as \"1.5\" for one and a half times as fast"
	Speed *resource.Quantity `json:"speed,omitempty"`

	// sharing says that the servers are devices, such as GPUs, and how jobs share one.
	// TimeSliced assigns each job to one device, the one of which the least is requested
	// then, where it waits for the other jobs of that device; jobs that request whole
	// ones have them for themselves. Exclusive, the default, has a job use any server
	// that is free. What jobs request is that of the capacity of the same name.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self != 'Concurrent'",message="replays know no Concurrent devices: write TimeSliced or Exclusive"
	Sharing DeviceSharing `json:"sharing,omitempty"`
}

// ReplayCapacity is how much of something each node of a class has.
type ReplayCapacity struct {
	// name is what jobs request: cpu, memory, gpu, or any other name that the
	// trace uses.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as cpu, memory or gpu"
	Name string `json:"name,omitempty"`

	// quantity is how much of it the node has, such as 16 or 64Gi.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([KMGTPE]i|[numkMGTPE])?$')",message="a capacity is a number that is not negative, such as 16, 500m or 64Gi"
	Quantity *resource.Quantity `json:"quantity,omitempty"`
}

// ReplayPolicy is a placement policy.
//
// +kubebuilder:validation:XValidation:rule="!has(self.threshold) || self.name == 'lmuf-t'",fieldPath=".threshold",message="only lmuf-t has a threshold"
// +kubebuilder:validation:XValidation:rule="!has(self.target) || self.name == 'target-load-packing'",fieldPath=".target",message="only target-load-packing has a target"
type ReplayPolicy struct {
	// name is the policy: round-robin; random; lrt (least response time: the job
	// is done first); lmuf (least maximum utilization first); lmuf-t (the same,
	// with jobs waiting while every node is above a threshold); list (the node
	// with the least work left); least-dilation (jobs slow each other down
	// least); least-completion (the node that is done first with all its jobs);
	// least-requested (most stays free by requests, as NodeResourcesFit of
	// kube-scheduler scores nodes by default); target-load-packing (nodes are
	// filled to a target).
	// +required
	// +kubebuilder:validation:Enum=round-robin;random;lrt;lmuf;lmuf-t;list;least-dilation;least-completion;least-requested;target-load-packing
	Name string `json:"name,omitempty"`

	// threshold is the utilization above which lmuf-t puts no further job on a
	// node, above 0 and up to 1. Defaults to 0.8.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('1')) <= 0",message="a threshold is a utilization: write a number above 0 and up to 1, such as \"0.8\""
	Threshold *resource.Quantity `json:"threshold,omitempty"`

	// target is the utilization that target-load-packing fills nodes to,
	// between 0 and 1. Defaults to 0.4.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('1')) < 0",message="a target is a utilization: write a number above 0 and below 1, such as \"0.4\""
	Target *resource.Quantity `json:"target,omitempty"`
}

// ReplayOutput is where runs write what became of every job.
type ReplayOutput struct {
	// persistentVolumeClaim is the volume, which all runs write to at once; path
	// is that of a folder, in which each run writes a file POLICY-SEED.csv.
	// +required
	PersistentVolumeClaim ClaimPath `json:"persistentVolumeClaim,omitzero"`
}

// TraceReplayStatus says how far a replay is and what it found.
type TraceReplayStatus struct {
	// conditions are Complete: all runs have ended and the results are final.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status is of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// runs counts the runs.
	// +optional
	Runs *ReplayRuns `json:"runs,omitempty"`

	// startTime is when the first run was asked for.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the last run was seen to have ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// results holds what was found of each policy, in the order of the spec.
	// Until the replay is complete they are those of the runs that have
	// succeeded so far.
	// +optional
	// +listType=map
	// +listMapKey=policy
	// +kubebuilder:validation:MaxItems=10
	Results []ReplayResult `json:"results,omitempty"`

	// best is the policy with the least mean response time, once the replay is
	// complete; of equal ones the first.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Best string `json:"best,omitempty"`

	// report is where the full results are, as JSON; compressed by gzip if the
	// key ends in ".gz". The same ConfigMap has them as a page to look at,
	// report.html or report.html.gz.
	// +optional
	Report *ConfigMapKey `json:"report,omitempty"`
}

// ReplayRuns counts the runs of a replay, policies × seeds.
type ReplayRuns struct {
	// total is how many there are.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Total *int32 `json:"total,omitempty"`

	// succeeded is how many have ended well.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Succeeded *int32 `json:"succeeded,omitempty"`

	// active is how many are going on.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Active *int32 `json:"active,omitempty"`

	// failed is how many were given up.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed *int32 `json:"failed,omitempty"`
}

// ReplayResult is what was found of one policy, over all its runs.
type ReplayResult struct {
	// policy is the policy's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Policy string `json:"policy,omitempty"`

	// runs is how many runs the numbers are of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Runs *int32 `json:"runs,omitempty"`

	// jobs is how many jobs were done, in all runs together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Jobs *int64 `json:"jobs,omitempty"`

	// dropped is how many jobs no node could ever run, in all runs together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Dropped *int64 `json:"dropped,omitempty"`

	// makespanMillis is the time from the first arrival to the last completion,
	// on average over the runs.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MakespanMillis *int64 `json:"makespanMillis,omitempty"`

	// response summarizes the response times, from arrival to completion: a job
	// waits to be placed and is then executed.
	// +optional
	Response *MillisSummary `json:"response,omitempty"`

	// execution summarizes the execution times, from start to completion. The
	// wait before it is waitMeanMillis.
	// +optional
	Execution *MillisSummary `json:"execution,omitempty"`

	// dilation summarizes the dilation of the jobs: execution time over how long
	// the job takes alone on the node.
	// +optional
	Dilation *QuantitySummary `json:"dilation,omitempty"`

	// waitMeanMillis is how long jobs waited to be placed, from arrival to start,
	// on average.
	// +optional
	// +kubebuilder:validation:Minimum=0
	WaitMeanMillis *int64 `json:"waitMeanMillis,omitempty"`

	// slaAttained is the fraction of jobs that kept within the SLA of their
	// WorkloadProfile, among those that have one.
	// +optional
	SLAAttained *resource.Quantity `json:"slaAttained,omitempty"`

	// improvement is how much less the mean response time is than with the first
	// policy, as a fraction of the latter, seed by seed; negative when it is more.
	// +optional
	Improvement *resource.Quantity `json:"improvement,omitempty"`

	// improvementLow is the lower end of the 95% confidence interval of the
	// improvement, over the seeds.
	// +optional
	ImprovementLow *resource.Quantity `json:"improvementLow,omitempty"`

	// improvementHigh is the upper end of that interval.
	// +optional
	ImprovementHigh *resource.Quantity `json:"improvementHigh,omitempty"`
}

// MillisSummary summarizes times, in milliseconds.
type MillisSummary struct {
	// meanMillis is their mean.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MeanMillis *int64 `json:"meanMillis,omitempty"`

	// p50Millis is their median.
	// +optional
	// +kubebuilder:validation:Minimum=0
	P50Millis *int64 `json:"p50Millis,omitempty"`

	// p95Millis is what 95% of them do not exceed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	P95Millis *int64 `json:"p95Millis,omitempty"`

	// p99Millis is what 99% of them do not exceed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	P99Millis *int64 `json:"p99Millis,omitempty"`
}

// QuantitySummary summarizes numbers without a unit.
type QuantitySummary struct {
	// mean is their mean.
	// +optional
	Mean *resource.Quantity `json:"mean,omitempty"`

	// p50 is their median.
	// +optional
	P50 *resource.Quantity `json:"p50,omitempty"`

	// p95 is what 95% of them do not exceed.
	// +optional
	P95 *resource.Quantity `json:"p95,omitempty"`

	// p99 is what 99% of them do not exceed.
	// +optional
	P99 *resource.Quantity `json:"p99,omitempty"`
}

// TraceReplayList is a list of replays.
//
// +kubebuilder:object:root=true
type TraceReplayList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the replays.
	Items []TraceReplay `json:"items"`
}
