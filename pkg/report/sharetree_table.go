package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/text"
)

// ShareTable is the tree of an answer with the share of each group and workload. It has no header:
// the root is its first line.
func ShareTable(a *shares.TreeAnswer) *text.Table {
	timed := slices.ContainsFunc(a.Nodes, func(n shares.TreeNode) bool { return n.ResponseSeconds != nil })
	columns := []text.Column{text.Left(""), text.Right(""), text.Right(""), text.Right(""), text.Left("")}
	if timed {
		columns = slices.Insert(columns, 4, text.Right(""))
	}
	t := text.NewTable(columns...)
	t.NoHeader = true
	add := func(name, share, busy, response, seconds, verdict string) {
		if timed {
			t.Add(name, share, busy, response, seconds, verdict)
		} else {
			t.Add(name, share, busy, response, verdict)
		}
	}
	add(shareTreeName(a), "", busy(a.Utilization, a), "", "", "")
	branches := shareBranches(a)
	for i := range a.Nodes {
		n := &a.Nodes[i]
		response, seconds := "", ""
		if n.Factor != nil {
			response = "response " + shareFactor(n)
		}
		if n.ResponseSeconds != nil {
			seconds = text.ElapsedSeconds(*n.ResponseSeconds)
		}
		add(branches[i]+n.Name, "share "+shareText(n), busy(n.Utilization, a), response, seconds, shareVerdict(n))
	}
	return t
}

func shareTreeName(a *shares.TreeAnswer) string {
	if a.Name == "" {
		return "tree"
	}
	return a.Name
}

// shareBranches returns, for each node, the lines that lead to it from the root.
func shareBranches(a *shares.TreeAnswer) []string {
	branches := make([]string, len(a.Nodes))
	follows := map[int]bool{} // whether a node of that depth comes further down, in the same group
	for i := len(a.Nodes) - 1; i >= 0; i-- {
		depth := a.Nodes[i].Depth
		var b strings.Builder
		for d := 1; d < depth; d++ {
			if follows[d] {
				b.WriteString("│  ")
			} else {
				b.WriteString("   ")
			}
		}
		if follows[depth] {
			b.WriteString("├─ ")
		} else {
			b.WriteString("└─ ")
		}
		branches[i] = b.String()
		follows[depth], follows[depth+1] = true, false
	}
	return branches
}

func busy(utilization float64, a *shares.TreeAnswer) string {
	return text.Percent(utilization/float64(a.Processors)) + " busy"
}

// shareText writes the share of a group or workload, and its share before the change.
func shareText(n *shares.TreeNode) string {
	if n.ShareBefore != nil {
		return shareNumber(*n.ShareBefore) + " → " + shareNumber(n.Share)
	}
	return shareNumber(n.Share)
}

func shareNumber(share float64) string { return text.Count(int64(math.Round(share))) }

func shareFactor(n *shares.TreeNode) string {
	if n.FactorBefore != nil {
		return text.Times(*n.FactorBefore) + " → " + text.Times(*n.Factor)
	}
	return text.Times(*n.Factor)
}

// shareVerdict states the SLA and whether it is met.
func shareVerdict(n *shares.TreeNode) string {
	if n.SLA == nil {
		return ""
	}
	var asked []string
	if n.SLA.MaxFactor != nil {
		asked = append(asked, text.Times(*n.SLA.MaxFactor))
	}
	if n.SLA.ResponseSeconds != nil {
		asked = append(asked, text.Duration(*n.SLA.ResponseSeconds))
	}
	verdict := "ok"
	if !n.SLA.Met {
		verdict = "missed"
	}
	return "SLA " + strings.Join(asked, " and ") + " " + verdict
}

// ShareLeftOut says which profiles name a tree and are not part of it, and which groups are
// not because they have no workload; empty if there are none.
func ShareLeftOut(a *shares.TreeAnswer) []string {
	const shown = 10
	var lines []string
	for i := range a.LeftOut[:min(len(a.LeftOut), shown)] {
		lines = append(lines, fmt.Sprintf("Left out: %s: %s", a.LeftOut[i].Name, a.LeftOut[i].Message))
	}
	if more := len(a.LeftOut) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("Left out: %s more", text.Count(int64(more))))
	}
	if len(a.Empty) > 0 {
		lines = append(lines, "Without a workload: "+strings.Join(a.Empty, ", "))
	}
	return lines
}

// ShareSummary states the accuracy of the answer and the time that it took.
func ShareSummary(a *shares.TreeAnswer, elapsed time.Duration) string {
	quality := fmt.Sprintf("exact to %.0e", math.Max(a.RelativeError, 1e-16))
	if !a.Exact {
		quality = fmt.Sprintf("± %s (95%% confidence)", text.Percent(a.RelativeError))
	}
	workloads := text.Count(int64(a.Workloads)) + " workload"
	if a.Workloads != 1 {
		workloads += "s"
	}
	text := fmt.Sprintf("%s, %s, %s by %s", quality, workloads, text.Elapsed(elapsed), a.Method)
	if a.Method == "caps" {
		return text + "; shares are taken as limits: what one leaves, nobody uses"
	}
	return text + fmt.Sprintf("; conservation residual %.0e", a.Residual)
}
