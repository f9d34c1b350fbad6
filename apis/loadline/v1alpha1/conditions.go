package v1alpha1

// Condition types and reasons of WorkloadProfile and NodeProfile.
const (
	// ConditionReady is True when the scheduler uses the profile.
	ConditionReady = "Ready"
	// ConditionConflicted is True when an equally specific profile matches some
	// of the same pods or nodes, so that only age and name decide.
	ConditionConflicted = "Conflicted"

	// ReasonDeclared says that the profile's numbers are those of its spec.
	ReasonDeclared = "Declared"
	// ReasonNotMeasured says that the profile leaves its numbers to a measurement,
	// which has no result yet.
	ReasonNotMeasured = "NotMeasured"
	// ReasonObserved says that the numbers are those that gauges observe.
	ReasonObserved = "Observed"
	// ReasonUnknownResource says that a demand is left out of account because no
	// node is said to have such a resource.
	ReasonUnknownResource = "UnknownResource"
	// ReasonInvalid says that the profile is ignored because its spec is wrong.
	ReasonInvalid = "Invalid"
	// ReasonTooManySelectors says that the profile is ignored because pods, or nodes,
	// would be compared with too many selectors.
	ReasonTooManySelectors = "TooManySelectors"
	// ReasonSelectorOverlap says that another selector matches the same objects.
	ReasonSelectorOverlap = "SelectorOverlap"
	// ReasonNoOverlap says that no other selector matches the same objects.
	ReasonNoOverlap = "NoOverlap"
)

// Condition type and reasons of WorkloadProfiles of which pods are observed.
const (
	// ConditionDrifted is True when the vector in use no longer fits what gauges
	// observed of the pods.
	ConditionDrifted = "Drifted"

	// ReasonMoreObserved says that the pods run for a larger part of their time than
	// the vector in use says.
	ReasonMoreObserved = "MoreObserved"
	// ReasonLessObserved says that they run for a smaller part.
	ReasonLessObserved = "LessObserved"
	// ReasonAsObserved says that the vector in use fits.
	ReasonAsObserved = "AsObserved"
	// ReasonNotObserved says that the pods were not observed for long enough.
	ReasonNotObserved = "NotObserved"
)

// Condition type and reasons of TraceReplay.
const (
	// ConditionComplete is True when every run has ended and the results are
	// final, or when nothing more is done about a Remediation.
	ConditionComplete = "Complete"

	// ReasonSucceeded says that every run has ended well.
	ReasonSucceeded = "Succeeded"
	// ReasonPartlyFailed says that every run has ended, and some were given up:
	// the results are those of the others.
	ReasonPartlyFailed = "PartlyFailed"
	// ReasonFailed says that no run ended well.
	ReasonFailed = "Failed"
	// ReasonPending says what the runs wait for before they can begin.
	ReasonPending = "Pending"
	// ReasonRunning says that runs are going on.
	ReasonRunning = "Running"
)

// Condition types and reasons of PoolPlan. Its condition Ready is True when the
// inputs are known and a plan is found.
const (
	// ConditionApplied is True when every pool has the servers that it needs.
	ConditionApplied = "Applied"
	// ConditionOptimal is True when no other way to share pools costs less.
	ConditionOptimal = "Optimal"

	// ReasonPlanned says that a plan is found.
	ReasonPlanned = "Planned"
	// ReasonBeyondCluster says that a plan is found, and that a pool needs more
	// replicas than a cluster of Kubernetes may have pods.
	ReasonBeyondCluster = "BeyondCluster"
	// ReasonInfeasible says that no number of servers meets an SLA, or that a node can
	// never carry out a resize.
	ReasonInfeasible = "Infeasible"
	// ReasonProfileNotAllowed says that a pool is not scaled because a class of it
	// follows a profile of a namespace that does not allow it.
	ReasonProfileNotAllowed = "ProfileNotAllowed"
	// ReasonUnstable says that the servers that a pool may have at most cannot
	// keep up with the arrivals.
	ReasonUnstable = "Unstable"
	// ReasonMissingData says that a query has no usable answer.
	ReasonMissingData = "MissingData"
	// ReasonStaleData says that a query's last answer is too old.
	ReasonStaleData = "StaleData"

	// ReasonAdvising says that nothing is scaled or changed, or no observed vector used,
	// because the mode is advise.
	ReasonAdvising = "Advising"
	// ReasonAtTarget says that every pool has the servers that it needs.
	ReasonAtTarget = "AtTarget"
	// ReasonScaled says that a pool was just scaled to what it needs.
	ReasonScaled = "Scaled"
	// ReasonStepping says that a pool is on its way up, step by step.
	ReasonStepping = "Stepping"
	// ReasonWaitingToScaleDown says that a pool has more servers than it needs,
	// and keeps them for a while.
	ReasonWaitingToScaleDown = "WaitingToScaleDown"
	// ReasonLimited says that a pool needs more servers than it may have.
	ReasonLimited = "Limited"
	// ReasonHPAConflict says that a HorizontalPodAutoscaler scales a target too.
	ReasonHPAConflict = "HPAConflict"
	// ReasonTargetNotFound says that a target is not there, or has no /scale.
	ReasonTargetNotFound = "TargetNotFound"
	// ReasonTargetForbidden says that the manager may not scale a target.
	ReasonTargetForbidden = "TargetForbidden"
	// ReasonTargetUnavailable says that the API server could not read or scale a
	// target for another reason.
	ReasonTargetUnavailable = "TargetUnavailable"

	// ReasonCheapest says that no other way to share pools costs less.
	ReasonCheapest = "Cheapest"
	// ReasonCheaperStrategy says which other way to share pools costs less.
	ReasonCheaperStrategy = "CheaperStrategy"
	// ReasonNotCompared says why the pools were not compared with others.
	ReasonNotCompared = "NotCompared"
)

// Condition type and reasons of ShareTree, and of WorkloadProfiles in one. A
// ShareTree's condition Ready is True when response times are predicted.
const (
	// ConditionSLAAttainable is True when the tree lets the mean response time of
	// a workload keep within its SLA, or when there is no SLA.
	ConditionSLAAttainable = "SLAAttainable"

	// ReasonPredicted says that response times are predicted.
	ReasonPredicted = "Predicted"
	// ReasonOverloaded says that the workloads keep the processors busy all the
	// time: jobs would wait without end.
	ReasonOverloaded = "Overloaded"

	// ReasonWithinSLA says that the mean response time keeps within the SLA.
	ReasonWithinSLA = "WithinSLA"
	// ReasonExceedsSLA says that the mean response time is above that of the SLA.
	ReasonExceedsSLA = "ExceedsSLA"
	// ReasonNoSLA says that there is no SLA to keep.
	ReasonNoSLA = "NoSLA"
	// ReasonTreeNotFound says that there is no such ShareTree.
	ReasonTreeNotFound = "TreeNotFound"
	// ReasonTreeNotReady says that the tree has no response times.
	ReasonTreeNotReady = "TreeNotReady"
	// ReasonNamespaceNotListed says that the tree leaves a profile out because its
	// spec.namespaces does not list the profile's namespace.
	ReasonNamespaceNotListed = "NamespaceNotListed"
	// ReasonTooMany says that the tree leaves a profile out because it has as many as
	// it takes.
	ReasonTooMany = "TooMany"
	// ReasonTooCostly says that an answer would take too long to compute, of a ShareTree
	// with or without its profiles, or of a PoolPlan.
	ReasonTooCostly = "TooCostly"
)

// Condition types and reasons of the measurement of a WorkloadProfile and of the
// calibration of a NodeProfile. While a result is renewed, the old one stays in use
// and its condition True.
const (
	// ConditionMeasured is True when every class of nodes has a vector that was
	// measured.
	ConditionMeasured = "Measured"
	// ConditionCalibrated is True when the servers of every resource were found.
	ConditionCalibrated = "Calibrated"

	// ReasonMeasured says that every result is as precise as was asked.
	ReasonMeasured = "Measured"
	// ReasonImprecise says that the rounds or the time were used up before that.
	ReasonImprecise = "Imprecise"
	// ReasonStale says that a result is too old, or of something that has changed
	// since, and is being renewed.
	ReasonStale = "Stale"
	// ReasonMeasuring says that a measurement is going on.
	ReasonMeasuring = "Measuring"
	// ReasonQueued says that others are measured first, or that a change waits for its
	// budget or cool-down.
	ReasonQueued = "Queued"
	// ReasonNoNode says that there is no node to measure on.
	ReasonNoNode = "NoNode"
	// ReasonNoQuietNode says that other pods run on every such node.
	ReasonNoQuietNode = "NoQuietNode"
	// ReasonNoRunningPods says that no pod that follows the profile is running.
	ReasonNoRunningPods = "NoRunningPods"
	// ReasonForbidden says that the manager has no right to run Jobs in the namespace.
	ReasonForbidden = "Forbidden"
	// ReasonTargetFailed says that a copy of the target did not end well.
	ReasonTargetFailed = "TargetFailed"
	// ReasonProbeFailed says that a standard job did not end well.
	ReasonProbeFailed = "ProbeFailed"
	// ReasonUnsaturated says that the standard job did not keep its resource
	// busy, so that its slowdown tells nothing.
	ReasonUnsaturated = "Unsaturated"
	// ReasonInconsistent says that the results contradict each other.
	ReasonInconsistent = "Inconsistent"
	// ReasonInterrupted says that a node or runs on it were lost too often.
	ReasonInterrupted = "Interrupted"
	// ReasonCalibrated says that the servers of every resource were found.
	ReasonCalibrated = "Calibrated"
	// ReasonCalibrating says that a calibration is going on.
	ReasonCalibrating = "Calibrating"
)

// Condition types and reasons of RemediationPolicy. Its condition Ready is True when
// changes can be started, or shown where its mode is Advise. Its condition Conflicted is
// True when another policy that makes changes selects some of the same pods.
const (
	// ConditionPaused is True when no change is started because the last ones won less
	// than half of what was predicted.
	ConditionPaused = "Paused"

	// ReasonChanging says that changes can be started.
	ReasonChanging = "Changing"
	// ReasonSuspended says that none is started, because the policy is suspended, paused,
	// or a namespace has the label that stops changes.
	ReasonSuspended = "Suspended"
	// ReasonNothingAllowed says that none can be started, because a budget is 0.
	ReasonNothingAllowed = "NothingAllowed"
	// ReasonWonTooLittle says that the last changes won less than half of what was
	// predicted.
	ReasonWonTooLittle = "WonTooLittle"
	// ReasonWonAsPredicted says that they won enough.
	ReasonWonAsPredicted = "WonAsPredicted"
	// ReasonTooFewJudged says that too few changes were judged to say so.
	ReasonTooFewJudged = "TooFewJudged"
)

// Condition types and reasons of Remediation. The reason of its condition Complete is the
// step under way, and the outcome in the end. Once the change is started, a condition that
// is True stays so.
const (
	// ConditionApproved is True when the change may be made: a person approved it, or the
	// policy asks for no approval.
	ConditionApproved = "Approved"
	// ConditionProven is True when the change has won.
	ConditionProven = "Proven"
	// ConditionRolledBack is True when the change was undone.
	ConditionRolledBack = "RolledBack"

	// ReasonAwaitingApproval says that a person has to decide.
	ReasonAwaitingApproval = "AwaitingApproval"
	// ReasonApproved says that a person approved the change.
	ReasonApproved = "Approved"
	// ReasonAutomatic says that the mode of the policy is Automatic.
	ReasonAutomatic = "Automatic"
	// ReasonResizing says that the pod is being resized.
	ReasonResizing = "Resizing"
	// ReasonEvicting says that the pod is being evicted.
	ReasonEvicting = "Evicting"
	// ReasonReplacing says that the pod is gone, and the one in its place is not ready.
	ReasonReplacing = "Replacing"
	// ReasonObserving says that the change is made, and is being observed.
	ReasonObserving = "Observing"
	// ReasonRollingBack says that the change is being undone.
	ReasonRollingBack = "RollingBack"

	// ReasonNotAllowed says that the policy does not allow the change, or that the pod must
	// be left as it is for another reason.
	ReasonNotAllowed = "NotAllowed"
	// ReasonRolledBack says that the change did not win and was undone.
	ReasonRolledBack = "RolledBack"
	// ReasonUnproven says that the change was made and stays, and that what it won was not
	// observed.
	ReasonUnproven = "Unproven"
	// ReasonRejected says that a person rejected the change.
	ReasonRejected = "Rejected"
	// ReasonExpired says that the change waited for too long to be started.
	ReasonExpired = "Expired"
	// ReasonObsolete says that the change was not started, because the pod is no longer
	// what it was when the change was proposed.
	ReasonObsolete = "Obsolete"

	// ReasonResized says that the pod runs with what was asked for.
	ReasonResized = "Resized"
	// ReasonOnTarget says that the pod was moved to the node that was predicted.
	ReasonOnTarget = "OnTarget"
	// ReasonElsewhere says that it was moved to another node.
	ReasonElsewhere = "Elsewhere"
	// ReasonDisruptionBudget says that the API server does not let the pod be evicted now,
	// in most cases because of a PodDisruptionBudget.
	ReasonDisruptionBudget = "DisruptionBudget"
	// ReasonDeferred says that the node has no room for the resize now.
	ReasonDeferred = "Deferred"
	// ReasonResizeFailed says that the kubelet met an error, or does not answer.
	ReasonResizeFailed = "ResizeFailed"
	// ReasonRefused says that the API server refuses what was asked: a quota, a LimitRange,
	// an admission webhook, or missing rights.
	ReasonRefused = "Refused"
	// ReasonAltered says that the requests or limits of the container are neither those of
	// before nor those that were asked for: a webhook or a user set them.
	ReasonAltered = "Altered"
	// ReasonRollBackFailed says that the change could not be undone.
	ReasonRollBackFailed = "RollBackFailed"
	// ReasonPodGone says that the pod is gone, or is being deleted.
	ReasonPodGone = "PodGone"
	// ReasonNotReplaced says that no ready pod took the place of the one that was evicted.
	ReasonNotReplaced = "NotReplaced"

	// ReasonWon says that the change has won: all of the interval is above 0.
	ReasonWon = "Won"
	// ReasonInconclusive says that the interval holds 0.
	ReasonInconclusive = "Inconclusive"
	// ReasonNotWon says that the change won nothing.
	ReasonNotWon = "NotWon"
	// ReasonCostsOthers says that the change costs other pods more than was predicted.
	ReasonCostsOthers = "CostsOthers"
)
