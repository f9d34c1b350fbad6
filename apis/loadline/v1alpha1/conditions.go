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
	// ReasonUnknownResource says that a demand is left out of account because no
	// node is said to have such a resource.
	ReasonUnknownResource = "UnknownResource"
	// ReasonInvalid says that the profile is ignored because its spec is wrong.
	ReasonInvalid = "Invalid"
	// ReasonSelectorOverlap says that another selector matches the same objects.
	ReasonSelectorOverlap = "SelectorOverlap"
	// ReasonNoOverlap says that no other selector does.
	ReasonNoOverlap = "NoOverlap"
)

// Condition type and reasons of TraceReplay.
const (
	// ConditionComplete is True when every run has ended and the results are
	// final.
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
