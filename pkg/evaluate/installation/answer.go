package installation

import "loadline.dev/loadline/pkg/evaluate/savings"

// Answer says how well Loadline works in a cluster, and what runs there.
type Answer struct {
	// OK says that no check failed.
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
	// Kubernetes is the version of the API server.
	Kubernetes string      `json:"kubernetes"`
	Components []Component `json:"components"`
	Gauges     []Gauges    `json:"gauges,omitempty"`
	// The profiles are absent where the user may not list them.
	WorkloadProfiles *ProfileCounts `json:"workloadProfiles,omitempty"`
	NodeProfiles     *ProfileCounts `json:"nodeProfiles,omitempty"`
	// Contention is how much pods slow each other down, and what there is to win; absent where that is not known.
	Contention *savings.Prospect `json:"contention,omitempty"`
}

// Check is something that has to be right, and whether it is.
type Check struct {
	Name string `json:"name"`
	// State is ok, warning or failed.
	State   State  `json:"state"`
	Message string `json:"message"`
	// Do says what to do about it.
	Do string `json:"do,omitempty"`
}

// State is how well something is.
type State string

// States of checks. Only a failed check keeps the whole from being well.
const (
	StateOK      State = "ok"
	StateWarning State = "warning"
	StateFailed  State = "failed"
)
