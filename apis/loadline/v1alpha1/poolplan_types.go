package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PoolPlan asks how many servers some classes of jobs need so that each keeps
// its SLA, Prob[response time ≤ x] ≥ y, and whether the classes should share a
// pool of servers or have their own. It answers in its status, and scales the
// pools when asked to.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ppl,categories=loadline
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Strategy",type=string,JSONPath=`.status.strategy`
// +kubebuilder:printcolumn:name="Servers",type=integer,JSONPath=`.status.servers`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Applied",type=string,JSONPath=`.status.conditions[?(@.type=="Applied")].reason`
// +kubebuilder:printcolumn:name="Optimal",type=string,JSONPath=`.status.conditions[?(@.type=="Optimal")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type PoolPlan struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which classes of jobs there are and what is asked of them.
	// +required
	Spec PoolPlanSpec `json:"spec,omitzero"`

	// status says how many servers are needed, and what was done about it.
	// +optional
	Status PoolPlanStatus `json:"status,omitempty,omitzero"`
}

// PoolPlanSpec is the question, and how its answer is applied.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'apply' || (has(self.pools) && self.pools.all(p, has(p.scaleTarget)))",fieldPath=".pools",message="the mode apply scales pools: list them, each with its scaleTarget"
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'apply' || !has(self.pools) || self.pools.all(p, has(p.maxServers))",fieldPath=".pools",message="the mode apply scales pools: write for each how many servers it may have at most, such as maxServers: 20"
// +kubebuilder:validation:XValidation:rule="!has(self.pools) || !has(self.strategy) || self.strategy == 'auto'",fieldPath=".strategy",message="the pools that are listed say how classes share them: leave out either pools or strategy"
// +kubebuilder:validation:XValidation:rule="!has(self.pools) || self.classes.all(c, self.pools.filter(p, c.name in p.classes).size() == 1)",fieldPath=".pools",message="when pools are listed, each class belongs to exactly one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.pools) || self.pools.all(p, p.classes.all(n, self.classes.exists(c, c.name == n)))",fieldPath=".pools",message="a pool names a class that is not in spec.classes"
// +kubebuilder:validation:XValidation:rule="has(self.prometheus) || self.classes.all(c, !(has(c.arrival) && has(c.arrival.query)) && !(has(c.service) && has(c.service.query)))",fieldPath=".prometheus",message="a query needs a Prometheus that answers it: set spec.prometheus.address"
type PoolPlanSpec struct {
	// classes lists the classes of jobs.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Classes []PoolClass `json:"classes,omitempty"`

	// discipline is the order in which a pool takes jobs that wait: fcfs in order
	// of arrival; hol those of more demanding classes first, which must all have
	// the same mean service time; pdp those of the class that is furthest behind
	// its SLA; late-last the same with jobs that are late already after all
	// others, which gives up on them. Defaults to fcfs.
	// +optional
	// +kubebuilder:validation:Enum=fcfs;hol;pdp;late-last
	Discipline string `json:"discipline,omitempty"`

	// strategy says how classes share pools: shared is one pool for all,
	// dedicated one for each, auto the partition that costs least. Where pools
	// are listed, these are sized, and it can only be auto. Defaults to auto.
	// +optional
	// +kubebuilder:validation:Enum=auto;shared;dedicated
	Strategy string `json:"strategy,omitempty"`

	// pools lists the pools that there are. Each class belongs to exactly one.
	// Left out, the strategy says which pools there should be.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Pools []PlannedPool `json:"pools,omitempty"`

	// mode says what is done with the answer: advise reports it, apply scales the
	// pools too. Defaults to advise.
	// +optional
	// +default="advise"
	// +kubebuilder:validation:Enum=advise;apply
	Mode string `json:"mode,omitempty"`

	// scaling says how the mode apply goes about it.
	// +optional
	Scaling *PoolScaling `json:"scaling,omitempty"`

	// prometheus answers the queries of the classes.
	// +optional
	Prometheus *PrometheusSource `json:"prometheus,omitempty"`
}

// Values of the spec's enumerations.
const (
	// DisciplineFCFS takes jobs in order of arrival.
	DisciplineFCFS = "fcfs"
	// DisciplineHOL takes jobs of more demanding classes first.
	DisciplineHOL = "hol"
	// DisciplinePDP takes jobs of the class that is furthest behind its SLA.
	DisciplinePDP = "pdp"
	// DisciplineLateLast is PDP with jobs that are late already after all others.
	DisciplineLateLast = "late-last"

	// StrategyAuto is the partition of classes into pools that costs least.
	StrategyAuto = "auto"
	// StrategyShared is one pool for all classes.
	StrategyShared = "shared"
	// StrategyDedicated is a pool for each class.
	StrategyDedicated = "dedicated"
	// StrategyPartitioned is something in between; only status says so.
	StrategyPartitioned = "partitioned"

	// ModeAdvise reports and scales nothing.
	ModeAdvise = "advise"
	// ModeApply scales the pools.
	ModeApply = "apply"
)

// PoolClass is a class of jobs: how often they arrive, how long they take, and
// how fast they must be answered.
//
// +kubebuilder:validation:XValidation:rule="has(self.profile) || (has(self.arrival) && has(self.service) && (has(self.service.meanMillis) || has(self.service.query)) && has(self.sla))",message="give arrival, service (meanMillis or query) and sla, or a profile that has what is left out"
type PoolClass struct {
	// name is what the class is called.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a name consists of lower-case letters, digits and '-', and begins and ends with a letter or digit"
	Name string `json:"name,omitempty"`

	// profile is the WorkloadProfile that has what is left out here: its
	// arrival.ratePerSecond, its neutralMillis as the mean service time, and the
	// response time and probability of its sla. A pool that is scaled takes profiles of
	// the namespace of its scaleTarget, and of those with the label
	// loadline.dev/pools=allow.
	// +optional
	Profile *ProfileReference `json:"profile,omitempty"`

	// arrival is how often jobs arrive.
	// +optional
	Arrival *ClassArrival `json:"arrival,omitempty"`

	// service is how long one server is busy with a job.
	// +optional
	Service *ClassService `json:"service,omitempty"`

	// sla is what the responses of the class must keep.
	// +optional
	SLA *ClassSLA `json:"sla,omitempty"`

	// costPerServer is what a server that can serve the class costs, relative to
	// others; a pool pays the most that one of its classes asks for. Above 0.
	// Defaults to 1.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('1000000')) <= 0",message="a cost is a number above 0 and up to 1000000, such as \"2.5\" for two and a half times as dear as others"
	CostPerServer *resource.Quantity `json:"costPerServer,omitempty"`
}

// ProfileReference names a WorkloadProfile.
type ProfileReference struct {
	// namespace is that of the WorkloadProfile.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name is that of the WorkloadProfile.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// ClassArrival is how often jobs of a class arrive: declared or measured.
//
// +kubebuilder:validation:XValidation:rule="has(self.ratePerSecond) != has(self.query)",message="give either ratePerSecond (a number) or query (PromQL), and not both"
type ClassArrival struct {
	// ratePerSecond is how many jobs arrive per second, at least 0, such as
	// "0.6".
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('1G')) <= 0",message="a rate is how many jobs arrive per second: write a number that is not negative, such as \"0.6\""
	RatePerSecond *resource.Quantity `json:"ratePerSecond,omitempty"`

	// query is PromQL that answers with how many jobs arrive per second, one
	// number above 0, such as sum(rate(http_requests_total{app="checkout"}[5m])).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query,omitempty"`
}

// ClassService is how long one server is busy with a job: declared or measured.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.meanMillis) && has(self.query))",message="give either meanMillis (a number) or query (PromQL), and not both"
type ClassService struct {
	// meanMillis is the mean service time, in milliseconds. Defaults to the
	// neutral time of the profile.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	MeanMillis *int64 `json:"meanMillis,omitempty"`

	// query is PromQL that answers with the mean service time in seconds, one
	// number above 0.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query,omitempty"`

	// scv is the squared coefficient of variation of the service time, variance /
	// mean²: 0 is constant, 1 is exponential. Up to 100. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('100')) <= 0",message="a squared coefficient of variation is a number from 0 (constant) to 100, such as \"2.5\"; 1 is exponential"
	SCV *resource.Quantity `json:"scv,omitempty"`
}

// ClassSLA is a promise: responses take at most a time with at least a
// probability.
type ClassSLA struct {
	// responseTimeMillis is the response time, from arrival to completion, that
	// jobs should keep within, in milliseconds.
	// +required
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
}

// PlannedPool is a pool of servers that exists, or is to.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxServers) || self.maxServers >= (has(self.minServers) ? self.minServers : 1)",message="minServers is more than maxServers"
// +kubebuilder:validation:XValidation:rule="!has(self.maxServers) || self.maxServers >= (has(self.serversPerReplica) ? self.serversPerReplica : 1)",message="serversPerReplica is more than maxServers: not even one replica fits"
type PlannedPool struct {
	// name is what the pool is called, and the value of the label
	// loadline.dev/pool of its nodes and pods where it has nodes of its own.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a name consists of lower-case letters, digits and '-', and begins and ends with a letter or digit"
	Name string `json:"name,omitempty"`

	// classes are the names of the classes that the pool serves.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	Classes []string `json:"classes,omitempty"`

	// scaleTarget is what to scale: anything with a /scale subresource.
	// +optional
	ScaleTarget *ScaleTarget `json:"scaleTarget,omitempty"`

	// minServers is how many servers the pool has at least. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MinServers *int32 `json:"minServers,omitempty"`

	// maxServers is how many servers the pool has at most. The mode apply needs it; else
	// it defaults to no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MaxServers *int32 `json:"maxServers,omitempty"`

	// serversPerReplica is how many jobs one replica of the scale target serves
	// at once. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	ServersPerReplica *int32 `json:"serversPerReplica,omitempty"`
}

// ScaleTarget names an object with a /scale subresource, such as a Deployment,
// a StatefulSet or a MachineDeployment.
type ScaleTarget struct {
	// apiVersion is that of the target, such as apps/v1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([-.a-z0-9]+/)?[a-z0-9]+$')",message="an apiVersion is GROUP/VERSION, such as apps/v1"
	APIVersion string `json:"apiVersion,omitempty"`

	// kind is that of the target, such as Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// namespace is that of the target.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name is that of the target.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// PoolScaling says how pools are scaled.
type PoolScaling struct {
	// stabilizationSeconds is for how long fewer servers must have been enough
	// before a pool is scaled down, to the most that were needed in that time.
	// Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`

	// maxStepServers is by how many servers a pool is scaled at once, up or down,
	// rounded up to whole replicas. Left out, a pool is at most doubled, or scaled up by
	// four replicas if that is more, and at most halved.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MaxStepServers *int32 `json:"maxStepServers,omitempty"`

	// minSecondsBetweenSteps is how long a pool that was scaled is left alone, up
	// or down. Defaults to 15.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	MinSecondsBetweenSteps *int32 `json:"minSecondsBetweenSteps,omitempty"`

	// tolerance keeps a pool from being scaled up and down in turns: it is scaled
	// down only to what would be enough with this fraction more arrivals, from 0
	// to 1. Defaults to 0.1.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('1')) <= 0",message="a tolerance is a fraction of the arrival rate: write a number from 0 to 1, such as \"0.1\""
	Tolerance *resource.Quantity `json:"tolerance,omitempty"`
}

// PrometheusSource is a Prometheus, or anything with its HTTP API.
type PrometheusSource struct {
	// address is its URL, such as http://prometheus.monitoring:9090.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#]+(/[^?#]*)?$')",message="an address is a URL such as http://prometheus.monitoring:9090"
	Address string `json:"address,omitempty"`

	// maxAgeSeconds is how long an answer is good for while there is no new one.
	// Defaults to 120.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	MaxAgeSeconds *int32 `json:"maxAgeSeconds,omitempty"`

	// intervalSeconds is how often it is asked. Defaults to 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	IntervalSeconds *int32 `json:"intervalSeconds,omitempty"`
}

// PoolPlanStatus is the answer, and what was done about it.
type PoolPlanStatus struct {
	// conditions are Ready (the inputs are known and a plan is found), Applied
	// (every pool has the servers that it needs) and Optimal (no other way to
	// share pools costs less).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status is of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// strategy is how the classes share the pools below: shared, dedicated, or
	// partitioned for something in between.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Strategy string `json:"strategy,omitempty"`

	// servers is how many servers all pools need together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Servers *int32 `json:"servers,omitempty"`

	// pools are the pools, with what each needs and what each class gets from it.
	// While the inputs are not known they are those of the last plan.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Pools []PoolStatus `json:"pools,omitempty"`

	// alternatives are other ways to share pools, and what they need.
	// +optional
	// +listType=map
	// +listMapKey=strategy
	// +kubebuilder:validation:MaxItems=8
	Alternatives []PoolAlternative `json:"alternatives,omitempty"`

	// inputs are the rates and times that the plan is based on.
	// +optional
	// +listType=map
	// +listMapKey=class
	// +kubebuilder:validation:MaxItems=64
	Inputs []ClassInput `json:"inputs,omitempty"`
}

// PoolStatus is what one pool needs and has.
type PoolStatus struct {
	// name is the pool's, as in the spec. A pool that is not in the spec is
	// called after its class; "shared" if it serves all of several; and after its
	// first class with the number of the others, such as "checkout+2", else.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Name string `json:"name,omitempty"`

	// servers is the fewest with which every class keeps its SLA.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Servers *int32 `json:"servers,omitempty"`

	// desiredReplicas is how many replicas the scale target should have for that,
	// within the bounds of the pool.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// currentReplicas is how many the scale target was asked to have when last
	// seen, after any scaling.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CurrentReplicas *int32 `json:"currentReplicas,omitempty"`

	// classes are the classes that the pool serves, with what they get.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Classes []ClassAttainment `json:"classes,omitempty"`

	// lastScaleTime is when the pool was scaled last.
	// +optional
	LastScaleTime *metav1.MicroTime `json:"lastScaleTime,omitempty"`

	// fewerSince is since when fewer servers than there are have been enough.
	// +optional
	FewerSince *metav1.MicroTime `json:"fewerSince,omitempty"`

	// fewerReplicas is the most replicas that were needed since then: what the
	// pool will be scaled down to.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FewerReplicas *int32 `json:"fewerReplicas,omitempty"`
}

// ClassAttainment is the probability with which a class keeps within the
// response time of its SLA.
type ClassAttainment struct {
	// name is that of the class.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// attained is the probability with the pool's servers.
	// +optional
	Attained *resource.Quantity `json:"attained,omitempty"`

	// withOneFewer is the probability with one server fewer. Left out where these
	// could not keep up with the arrivals at all.
	// +optional
	WithOneFewer *resource.Quantity `json:"withOneFewer,omitempty"`

	// maxRatePerSecond is up to which arrival rate of the class the servers are
	// enough, the other classes staying as they are.
	// +optional
	MaxRatePerSecond *resource.Quantity `json:"maxRatePerSecond,omitempty"`
}

// PoolAlternative is a way to share pools.
type PoolAlternative struct {
	// strategy is shared, dedicated, or partitioned: the partition that costs
	// least, where that is neither.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Strategy string `json:"strategy,omitempty"`

	// servers is how many servers all its pools need together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Servers *int32 `json:"servers,omitempty"`

	// cost is what these cost.
	// +optional
	Cost *resource.Quantity `json:"cost,omitempty"`
}

// ClassInput is what is known of the jobs of a class.
type ClassInput struct {
	// class is the name of the class.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Class string `json:"class,omitempty"`

	// arrival is the arrival rate per second.
	// +optional
	Arrival *InputValue `json:"arrival,omitempty"`

	// service is the mean service time in seconds.
	// +optional
	Service *InputValue `json:"service,omitempty"`
}

// InputValue is a number and where it is from.
type InputValue struct {
	// value is the number.
	// +required
	Value *resource.Quantity `json:"value,omitempty"`

	// source is where it is from: the spec, the profile, or a query.
	// +required
	// +kubebuilder:validation:Enum=spec;profile;query
	Source string `json:"source,omitempty"`

	// measuredTime is when a query answered with it.
	// +optional
	MeasuredTime *metav1.Time `json:"measuredTime,omitempty"`
}

// Sources of an input.
const (
	// SourceSpec is the spec of the plan.
	SourceSpec = "spec"
	// SourceProfile is a WorkloadProfile.
	SourceProfile = "profile"
	// SourceQuery is Prometheus.
	SourceQuery = "query"
)

// PoolPlanList is a list of plans.
//
// +kubebuilder:object:root=true
type PoolPlanList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the plans.
	Items []PoolPlan `json:"items"`
}
