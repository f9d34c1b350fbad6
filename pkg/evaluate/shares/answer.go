package shares

import "fmt"

// TreeAnswer is what response times a share tree gives.
type TreeAnswer struct {
	// Name is that of the ShareTree.
	Name string `json:"name,omitempty"`
	// Method is how the response times were computed.
	Method string `json:"method"`
	// Processors is how many there are, Utilization how many of them the workloads
	// keep busy on average, and Workloads how many workloads there are.
	Processors  int     `json:"processors"`
	Utilization float64 `json:"utilization"`
	Workloads   int     `json:"workloads"`
	// Nodes are the groups and workloads, each group before its members.
	Nodes []TreeNode `json:"nodes"`
	// LeftOut are the profiles that name the tree and are not part of it, of each
	// namespace in turn; Empty the groups that have no workload and are not either.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	Empty   []string  `json:"empty,omitempty"`
	// Exact reports whether the method is; else errors are confidence intervals.
	Exact bool `json:"exact"`
	// RelativeError is the largest error relative to its response time.
	RelativeError float64 `json:"relativeError"`
	// Residual is how far the response times are from the conservation law,
	// relative to what is conserved.
	Residual float64 `json:"residual"`
	// Evaluations is how much was computed, by the method's own count.
	Evaluations int `json:"evaluations"`

	workloads map[string]int // where the workloads are in Nodes, by name
	absent    map[string]int // where the profiles are in LeftOut, by name
}

// TreeNode is a group or a workload of a tree.
type TreeNode struct {
	Name string `json:"name"`
	// Path is the names from the top down, with slashes between them; Depth is 1
	// at the top.
	Path     string `json:"path"`
	Depth    int    `json:"depth"`
	Workload bool   `json:"workload"`
	// Share is its weight among its siblings, ShareBefore what that was before the
	// changes; absent if it is the same.
	Share       float64  `json:"share"`
	ShareBefore *float64 `json:"shareBefore,omitempty"`
	// Portion is its part of the processors while all workloads have jobs.
	Portion float64 `json:"portion"`
	// Utilization is how many processors it keeps busy on average.
	Utilization float64 `json:"utilization"`
	// ServiceSeconds is the mean service time of a workload; absent if not known.
	ServiceSeconds *float64 `json:"serviceSeconds,omitempty"`
	// Factor is the mean response time of a workload relative to its mean service
	// time, Error by how much that may be off. Absent for groups, save the pods of a
	// node.
	Factor *float64 `json:"factor,omitempty"`
	Error  *float64 `json:"error,omitempty"`
	// ResponseSeconds is the mean response time; absent if the service time is not
	// known.
	ResponseSeconds *float64 `json:"responseSeconds,omitempty"`
	// FactorBefore and ResponseSecondsBefore are those before the changes.
	FactorBefore          *float64 `json:"factorBefore,omitempty"`
	ResponseSecondsBefore *float64 `json:"responseSecondsBefore,omitempty"`
	// RequestMilliCPU is the CPU request that the share is made of, of the pods and
	// containers of a node and their classes, in thousandths; RequestMilliCPUBefore
	// what it was before the changes. Absent for a ShareTree.
	RequestMilliCPU       *int64 `json:"requestMilliCPU,omitempty"`
	RequestMilliCPUBefore *int64 `json:"requestMilliCPUBefore,omitempty"`
	// SLA is what is asked of the mean; absent if nothing is.
	SLA *SLA `json:"sla,omitempty"`
}

// SLA is what is asked of a mean response time: that it is not above MaxFactor
// times the service time, nor above ResponseSeconds. The probability with which
// jobs should keep within ResponseSeconds is not looked at: the model gives means.
type SLA struct {
	MaxFactor       *float64 `json:"maxFactor,omitempty"`
	ResponseSeconds *float64 `json:"responseSeconds,omitempty"`
	Probability     *float64 `json:"probability,omitempty"`
	// Met reports whether the mean keeps within both.
	Met bool `json:"met"`
}

// Missed returns the workloads that miss their SLA.
func (a *TreeAnswer) Missed() []TreeNode {
	var missed []TreeNode
	for _, n := range a.Nodes {
		if n.SLA != nil && !n.SLA.Met {
			missed = append(missed, n)
		}
	}
	return missed
}

// Verdict says how the mean response time of a workload with an SLA compares with
// it: "the mean response time is 4.20 times the service time, the SLA asks for at
// most 2.5".
func (n *TreeNode) Verdict() string {
	text := fmt.Sprintf("the mean response time is %.4g times the service time", *n.Factor)
	if n.ResponseSeconds != nil {
		text += fmt.Sprintf(" (%.4g s)", *n.ResponseSeconds)
	}
	switch {
	case n.SLA == nil:
		return text
	case n.SLA.MaxFactor != nil && n.SLA.ResponseSeconds != nil:
		return text + fmt.Sprintf(", the SLA asks for at most %.4g times and %.4g s", *n.SLA.MaxFactor, *n.SLA.ResponseSeconds)
	case n.SLA.MaxFactor != nil:
		return text + fmt.Sprintf(", the SLA asks for at most %.4g", *n.SLA.MaxFactor)
	default:
		return text + fmt.Sprintf(", the SLA asks for at most %.4g s", *n.SLA.ResponseSeconds)
	}
}
