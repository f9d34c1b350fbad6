package report

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/text"
)

// NodeSharesTable is the tree of a node's pods: the requests of each, its weight among its
// siblings, the cores that it keeps busy, and the time of its work as a multiple of the time with a
// core to itself.
func NodeSharesTable(a *shares.NodeAnswer) *text.Table {
	t := text.NewTable(text.Left("POD"), text.Right("CPU REQUEST"), text.Right("WEIGHT"), text.Right("USAGE"), text.Right("RESPONSE"))
	name := a.Name
	if name == "" {
		name = "node"
	}
	t.Add(name, "", "", millis(a.Utilization), "")
	branches := shareBranches(a.TreeAnswer)
	for i := range a.Nodes {
		n := &a.Nodes[i]
		request, response := milliCPU(n.RequestMilliCPU), ""
		if before := n.RequestMilliCPUBefore; before != nil && *before != *n.RequestMilliCPU {
			request = milliCPU(before) + " → " + request
		}
		if n.Factor != nil {
			response = shareFactor(n)
		}
		t.Add(branches[i]+n.Name, request, shareText(n), millis(n.Utilization), response)
	}
	return t
}

// NodeWeightsTable is the tree of a node's pods without what they use and how long their work takes: the requests of each, and its weight
// among its siblings.
func NodeWeightsTable(a *shares.NodeAnswer) *text.Table {
	t := text.NewTable(text.Left("POD"), text.Right("CPU REQUEST"), text.Right("WEIGHT"))
	t.Add(cmp.Or(a.Name, "node"), "", "")
	branches := shareBranches(a.TreeAnswer)
	for i := range a.Nodes {
		n := &a.Nodes[i]
		t.Add(branches[i]+n.Name, milliCPU(n.RequestMilliCPU), shareText(n))
	}
	return t
}

func milliCPU(m *int64) string {
	if m == nil || *m == 0 {
		return text.Absent
	}
	return strconv.FormatInt(*m, 10) + "m"
}

// millis writes cores in thousandths, as Kubernetes does.
func millis(cores float64) string { return text.Decimal(cores*1000, 0) + "m" }

// NodeSharesSummary states the utilization of the node, the accuracy of the answer, and its
// caveats; why is the reason for the assumed conversion of containers' shares to weights, empty if
// the user asked for it.
func NodeSharesSummary(a *shares.NodeAnswer, elapsed time.Duration, why string) []string {
	cores := fmt.Sprintf("%d cores", a.Processors)
	if a.Processors == 1 {
		cores = "1 core"
	}
	lines := []string{
		fmt.Sprintf("%s of %s busy; responses are multiples of the time that work takes with a core to itself", text.Percent(a.Utilization/float64(a.Processors)), cores),
		ShareSummary(a.TreeAnswer, elapsed),
	}
	for _, e := range a.Exclusive {
		lines = append(lines, fmt.Sprintf("%s has %s for itself, which are not counted here", e.Pod, text.Counted(e.Cores, "core")))
	}
	weights := "weights of containers: " + a.Weights
	if why != "" {
		weights += " (" + why + ")"
	}
	lines = append(lines, weights)
	if a.Unmeasured > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s containers have no usage, which is taken as idle", text.Count(int64(a.Unmeasured)), text.Count(int64(a.Workloads))))
	}
	return lines
}
