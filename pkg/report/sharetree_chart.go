package report

import (
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/report/chart"
)

// ShareChart returns the drawing of a tree with the share of each group and workload.
func ShareChart(a *shares.TreeAnswer, title string) chart.Chart {
	tree := chart.ShareTree{Title: title, Name: shareTreeName(a), Busy: a.Utilization / float64(a.Processors)}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		row := chart.ShareRow{Name: n.Name, Depth: n.Depth, Share: shareText(n), Busy: n.Utilization / float64(a.Processors), Workload: n.Workload}
		if n.Factor != nil {
			row.Response = shareResponse(n)
		}
		tree.Rows = append(tree.Rows, row)
	}
	return tree
}

func shareResponse(n *shares.TreeNode) *chart.ShareResponse {
	r := chart.ShareResponse{Factor: *n.Factor, Before: ptr.Deref(n.FactorBefore, 0)}
	if n.SLA != nil {
		r.Limit, r.Missed = ptr.Deref(shareLimit(n), 0), !n.SLA.Met
	}
	return &r
}

// shareLimit returns the response factor that an SLA asks for, nil for none.
func shareLimit(n *shares.TreeNode) *float64 {
	limit := n.SLA.MaxFactor
	if n.SLA.ResponseSeconds != nil && n.ServiceSeconds != nil {
		if factor := *n.SLA.ResponseSeconds / *n.ServiceSeconds; limit == nil || factor < *limit {
			limit = &factor
		}
	}
	return limit
}
