package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// FindingsPage returns a page about the pods that slow each other down: the findings, by workload if it is to be so, a heat map for each
// node that has some, and the agreement of the model of the node with the observations.
func FindingsPage(a *findings.Answer, byWorkload bool, footer string) Page {
	notes := FindingsNotes(a)
	page := Page{Title: "Who slows whom", Summary: notes[0], Footer: footer}
	if len(a.Findings) > 0 {
		section := Section{Title: "Findings", Table: FindingsTable(a, false), Filter: &Filter{Label: "Namespace", Group: namespaceOf}}
		if byWorkload {
			section.Table = GroupsTable(a.ByWorkload(), a.Above, false)
		}
		page.Sections = append(page.Sections, section)
	}
	for i := range a.Nodes {
		if section, some := nodeSection(a, a.Nodes[i].Name); some {
			page.Sections = append(page.Sections, section)
		}
	}
	if scatter, some := predictedScatter(a); some {
		page.Sections = append(page.Sections, Section{
			Title: "Predicted and observed", Charts: []chart.Chart{scatter},
			Text: "What the model of each node says of its pods, by the vectors that were observed, against the dilation that was.",
		})
	}
	page.Sections = append(page.Sections, Section{Title: "Nodes", Table: ObservedNodesTable(a.Nodes), Notes: notes[1:]})
	return page
}

// namespaceOf returns the namespace of a pod, such as shop/cart-0, or of a workload, such as Deployment shop/cart.
func namespaceOf(name string) string {
	namespace, _, _ := strings.Cut(name[strings.LastIndex(name, " ")+1:], "/")
	return namespace
}

const (
	// maxCells bounds the rows and the columns of a heat map.
	maxCells = 30
	// shownDilation is the smallest dilation of a pod that has a row.
	shownDilation = 1.05
	// shownCause is the smallest part of a dilation whose cause has a column.
	shownCause = 0.005
)

// nodeSection returns who slows whom on a node, if anything does.
func nodeSection(a *findings.Answer, node string) (Section, bool) {
	var slowed []findings.Pod
	for i := range a.Pods {
		if p := &a.Pods[i]; p.Node == node && !p.Short && p.Dilation >= shownDilation && len(p.Causes) > 0 {
			slowed = append(slowed, *p)
		}
	}
	if len(slowed) == 0 {
		return Section{}, false
	}
	slices.SortStableFunc(slowed, func(a, b findings.Pod) int { return cmp.Compare(b.Dilation, a.Dilation) })
	left := max(0, len(slowed)-maxCells)
	slowed = slowed[:len(slowed)-left]
	sums := map[string]float64{}
	for i := range slowed {
		for _, c := range slowed[i].Causes {
			if c.Dilation >= shownCause {
				sums[cause(&c)] += c.Dilation
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	names = names[:min(len(names), maxCells)]
	h := chart.HeatMap{Quantity: "added dilation", Unit: "×", RowsAre: "slowed pod", ColumnsAre: "because of", Columns: names}
	for i := range slowed {
		h.Rows = append(h.Rows, slowed[i].Pod)
		row := make([]float64, len(names))
		for _, c := range slowed[i].Causes {
			if k := slices.Index(names, cause(&c)); k >= 0 {
				row[k] += math.Round(c.Dilation*100) / 100
			}
		}
		h.Values = append(h.Values, row)
	}
	s := Section{Title: "Who slows whom on " + node, Charts: []chart.Chart{h}}
	if left > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Left out: %s that are slowed down less.", text.Counted(left, "pod")))
	}
	return s, true
}

// predictedScatter returns predicted against observed dilations, if there are any that are no guess.
func predictedScatter(a *findings.Answer) (chart.Scatter, bool) {
	series := chart.Series{Name: "pods"}
	for i := range a.Pods {
		if p := &a.Pods[i]; p.Predicted != nil && !p.Short && !math.IsInf(*p.Predicted, 0) {
			series.Pairs = append(series.Pairs, chart.Pair{Measured: p.Dilation, Predicted: *p.Predicted})
		}
	}
	return chart.Scatter{Quantity: "dilation", Unit: "×", Series: []chart.Series{series}, Log: true}, len(series.Pairs) > 0
}
