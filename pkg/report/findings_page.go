package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// Situation is an answer about a cluster at a moment, with what else pages show of it.
type Situation struct {
	*findings.Answer

	// NodeObjects and PodObjects are those of the cluster: commands, and the room for requests, are made of them.
	NodeObjects []corev1.Node
	PodObjects  []corev1.Pod
	// Past returns the dilations of a pod over the last while, oldest first, NaN where it was not observed; PastIs says of which time, and
	// PastEvery how far they are apart, the last one of them now. It may be nil.
	Past      func(pod string) []float64
	PastIs    string
	PastEvery time.Duration
	// PodLink and NodeLink return where the names of pods and nodes lead; they may be nil.
	PodLink, NodeLink func(name string) string
	// Action returns what carries out a step of the plan at once, nil for nothing. It may be nil.
	Action func(*plan.Step) *page.Action
}

// FindingsPage returns a page that is complete in itself about the pods that slow each other down: what [Overview] shows, the findings in a
// table, by workload if it is to be so, who slows whom on the nodes with the worst of them, and how far the model of the nodes agrees
// with the observations.
func FindingsPage(s *Situation, byWorkload bool, footer string) page.Page {
	p := Overview(s)
	p.Footer = footer
	last := &p.Sections[len(p.Sections)-1]
	notes := last.Notes
	last.Notes = nil
	if len(s.Findings) > 0 {
		section := page.Section{Title: "Findings", Table: FindingsTable(s.Answer, false), Filter: &page.Filter{Label: "Namespace", Group: namespaceOf}}
		if byWorkload {
			section.Table = GroupsTable(s.ByWorkload(), s.Above, false)
		}
		p.Sections = append(p.Sections, section)
	}
	p.Sections = append(p.Sections, nodeMaps(s.Answer)...)
	if scatter, some := predictedScatter(s.Answer); some {
		p.Sections = append(p.Sections, page.Section{
			Title: "Does the model agree with what was observed?", Charts: []chart.Chart{scatter},
			Text: "What the model of each node says of its pods, by the vectors that were observed, against the dilation that was.",
		})
	}
	p.Sections = append(p.Sections, page.Section{Title: "Nodes in numbers", Table: ObservedNodesTable(s.Nodes), Notes: notes})
	return p
}

// Overview returns the first page about a cluster: a verdict in one sentence, the plan, the pods that are slowed down, and all nodes.
func Overview(s *Situation) page.Page {
	notes := FindingsNotes(s.Answer)
	p := page.Page{Title: Verdict(s.Answer), Summary: worstOf(s.Answer), Status: coverage(s.Answer)}
	if cards := planCards(s); len(cards) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Do this: worked out together, in this order", Cards: cards})
	}
	if len(s.Findings) > 0 {
		p.Sections = append(p.Sections, victims(s))
	}
	p.Sections = append(p.Sections, page.Section{Title: "Nodes", Tiles: nodeTiles(s), Notes: notes[1:]})
	return p
}

// Verdict says in one sentence how a cluster fares, and what the plan makes of it.
func Verdict(a *findings.Answer) string {
	all := text.Counted(len(a.Pods), "observed pod")
	switch {
	case len(a.Pods) == 0:
		return "No pod is observed."
	case len(a.Findings) == 0:
		return fmt.Sprintf("None of %s is slowed down %s or more.", all, text.Times(a.Above))
	}
	line := fmt.Sprintf("%s of %s run slower than they could.", text.Count(int64(len(a.Findings))), all)
	if len(a.Findings) == 1 {
		line = fmt.Sprintf("1 of %s runs slower than it could.", all)
	}
	switch {
	case a.Plan == nil:
		return line + " What would help is being worked out."
	case len(a.Plan.Steps) == 0:
		return line + " No change is known that would help."
	}
	mended := 0
	for i := range a.Findings {
		if r := &a.Findings[i].Remedy; r.Action != findings.Leave && r.Dilation < a.Above {
			mended++
		}
	}
	verb := "mend"
	if len(a.Plan.Steps) == 1 {
		verb = "mends"
	}
	if mended == 0 {
		return line + fmt.Sprintf(" %s would make it less.", text.Counted(len(a.Plan.Steps), "change"))
	}
	return line + fmt.Sprintf(" %s %s %s of them.", text.Counted(len(a.Plan.Steps), "change"), verb, text.Count(int64(mended)))
}

// worstOf says which pod is worst off.
func worstOf(a *findings.Answer) string {
	if len(a.Findings) == 0 {
		return ""
	}
	f := &a.Findings[0]
	return fmt.Sprintf("Worst: %s on %s takes %s as long as alone, %s.", f.Pod.Pod, f.Node, text.Times(f.Dilation), slowWords(f.Causes, f.PerUnit))
}

// coverage says what an answer is of, and how old the oldest observation is.
func coverage(a *findings.Answer) string {
	nodes, oldest := 0, 0.0
	for i := range a.Nodes {
		if n := &a.Nodes[i]; n.Problem == "" {
			nodes++
			oldest = max(oldest, n.AgeSeconds)
		}
	}
	line := fmt.Sprintf("Observed: %s of %s, %s of the last minute", text.Count(int64(nodes)), text.Counted(len(a.Nodes), "node"), text.Counted(len(a.Pods), "pod"))
	if nodes > 0 {
		line += fmt.Sprintf("; the oldest observation is %.0f s old", oldest)
	}
	if a.Unseen > 0 {
		line += fmt.Sprintf("; %s on nodes that are not observed", text.Counted(a.Unseen, "pod"))
	}
	return line + "."
}

// namespaceOf returns the namespace of a pod, such as shop/cart-0, or of a workload, such as Deployment shop/cart.
func namespaceOf(name string) string {
	namespace, _, _ := strings.Cut(name[strings.LastIndex(name, " ")+1:], "/")
	return namespace
}

// link returns where a name leads.
func link(to func(string) string, name string) string {
	if to == nil {
		return ""
	}
	return to(name)
}

// fullHeat is the dilation that has the darkest colour, of tiles and of maps alike.
const fullHeat = 4

// heat returns the position of a dilation on the scale of colours, which is logarithmic.
func heat(dilation float64) float64 { return math.Log(max(dilation, 1)) / math.Log(fullHeat) }

// nodeTiles shows all nodes, the worst first.
func nodeTiles(s *Situation) *page.Tiles {
	worst := map[string]float64{}
	for i := range s.Pods {
		if p := &s.Pods[i]; !p.Short {
			worst[p.Node] = max(worst[p.Node], p.Dilation)
		}
	}
	nodes := slices.Clone(s.Nodes)
	slices.SortStableFunc(nodes, func(a, b findings.NodeSummary) int { return cmp.Compare(worst[b.Name], worst[a.Name]) })
	tiles := &page.Tiles{From: "1×", To: fmt.Sprintf("%d× and more", fullHeat), Of: "how many times longer than alone the pod takes that is slowed down most; one scale for all", Heads: page.TileHeads{Name: "node", Figure: "slowed down", Detail: "load"}}
	for i := range nodes {
		n := &nodes[i]
		tile := page.Tile{Name: n.Name, Link: link(s.NodeLink, n.Name)}
		switch {
		case n.Problem != "":
			tile.Unknown, tile.Figure, tile.Detail = true, "not observed", n.Problem
		case worst[n.Name] == 0:
			tile.Figure, tile.Detail = "nothing to judge yet", busyLine(n)
		default:
			tile.Heat, tile.Figure, tile.Detail = heat(worst[n.Name]), "worst "+text.Times(worst[n.Name]), busyLine(n)
		}
		tiles.Tiles = append(tiles.Tiles, tile)
	}
	return tiles
}

// busyLine says how busy a node is.
func busyLine(n *findings.NodeSummary) string {
	line := fmt.Sprintf("CPU %s busy", text.Percent(n.Busy))
	if n.Stolen >= 0.005 {
		line += fmt.Sprintf(", %s stolen", text.Percent(n.Stolen))
	}
	line += " · " + text.Counted(n.Pods, "pod")
	if n.Slowed > 0 {
		line += fmt.Sprintf(", %s slowed", text.Count(int64(n.Slowed)))
	}
	return line
}

const (
	// maxCells bounds the rows and the columns of a heat map, and maxMaps the number of maps of a page.
	maxCells = 30
	maxMaps  = 8
	// shownDilation is the smallest dilation of a pod that has a row.
	shownDilation = 1.05
	// shownCause is the smallest part of a dilation whose cause has a column.
	shownCause = 0.005
)

// nodeMaps returns who slows whom on the nodes with the pods that are slowed down most, with one scale of colours for all.
func nodeMaps(a *findings.Answer) []page.Section {
	slowed := map[string][]*findings.Pod{}
	for i := range a.Pods {
		if p := &a.Pods[i]; !p.Short && p.Dilation >= shownDilation && len(p.Causes) > 0 {
			slowed[p.Node] = append(slowed[p.Node], p)
		}
	}
	nodes := slices.Collect(maps.Keys(slowed))
	for _, pods := range slowed {
		slices.SortStableFunc(pods, func(a, b *findings.Pod) int { return cmp.Compare(b.Dilation, a.Dilation) })
	}
	slices.SortFunc(nodes, func(a, b string) int {
		return cmp.Or(cmp.Compare(slowed[b][0].Dilation, slowed[a][0].Dilation), cmp.Compare(a, b))
	})
	var sections []page.Section
	left := 0
	for _, name := range nodes {
		if len(slowed[name]) == 1 && len(slowed[name][0].Causes) == 1 {
			continue // the bar says it all
		}
		if len(sections) == maxMaps {
			left++
			continue
		}
		s := page.Section{Title: "Who slows whom on " + name}
		h, more := heatMap(slowed[name], cause, func(p *findings.Pod) string { return p.Pod })
		h.Full = mostAdded(a)
		s.Charts = append(s.Charts, h)
		if more > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("Left out: %s that are slowed down less.", text.Counted(more, "pod")))
		}
		sections = append(sections, s)
	}
	if left > 0 {
		last := &sections[len(sections)-1]
		last.Notes = append(last.Notes, fmt.Sprintf("%s with pods that are slowed down less have no map here: kubectl loadline ui shows each.", text.Counted(left, "further node")))
	}
	return sections
}

// mostAdded returns the largest excess of any pod: no sum of causes is larger, so that all maps of an answer have one scale.
func mostAdded(a *findings.Answer) (most float64) {
	for i := range a.Pods {
		if p := &a.Pods[i]; !p.Short && !math.IsInf(p.Dilation, 0) {
			most = max(most, p.Dilation-1)
		}
	}
	return most
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
