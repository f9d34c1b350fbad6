package explained

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// shownNodes is how many nodes of a ranking are shown, besides the pod's own.
const shownNodes = 10

func rankingTable(e *explanation.Answer, wide bool) *text.Table {
	t := text.NewTable(text.Right("RANK"), text.Left("NODE"), text.Right("COST"), text.Right("WAITS"), text.Right("INFLICTS"), text.Right("PODS"), text.Whole("REMARK"))
	left := 0
	for i, n := range e.Nodes {
		if i >= shownNodes && !wide && !n.Here {
			left++
			continue
		}
		rank := text.Absent
		if n.Rank > 0 {
			rank = text.Count(int64(n.Rank))
		}
		t.Add(rank, n.Node, cost(n.Cost), cost(n.Waits), cost(n.Inflicts), text.Count(int64(n.Pods)), remark(&n))
	}
	if left > 0 {
		t.Add("", fmt.Sprintf("and %s more (-o wide lists all)", text.Count(int64(left))))
	}
	return t
}

// remark names the obstacle that keeps the pod from a node, or the guard's warning.
func remark(n *explanation.RankedNode) string {
	switch {
	case n.Here:
		return "it is here"
	case n.DoesNotFit != "":
		return "does not fit: " + n.DoesNotFit
	case n.Unknown != "":
		return "not known to fit: " + n.Unknown
	case n.Refused != "":
		return "refused: " + n.Refused
	case n.TooBusy != "":
		return "too busy for now: " + n.TooBusy
	case len(n.Exceeded) > 0:
		return "warning: " + n.Exceeded[0].Reason
	case len(n.SlowerBeside) > 0:
		return "served slower beside " + strings.Join(n.SlowerBeside, " and ")
	default:
		return ""
	}
}

// KeptAway says why the pod is kept from the nodes that fit: the guard refuses some and the others are too busy.
func KeptAway(refused, busy int) string {
	all := "the only one that fits"
	if n := refused + busy; n > 1 {
		all = fmt.Sprintf("all %s that fit", text.Counted(n, "node"))
	}
	switch {
	case busy == 0:
		return "the scheduler's guard refuses " + all
	case refused > 0:
		are := "are"
		if busy == 1 {
			are = "is"
		}
		return fmt.Sprintf("the scheduler's guard refuses %s, and %s %s too busy for now", text.Counted(refused, "node"), text.Count(int64(busy)), are)
	case busy == 1:
		return all + " is too busy for now"
	default:
		return all + " are too busy for now"
	}
}

// roomLines say which actions would make room for a pod that no node takes, and how long it would wait for that.
func roomLines(e *explanation.Answer) (lines []string) {
	if line := node.RoomLine(e.MakesRoom); line != "" {
		lines = append(lines, line)
	}
	if len(e.Nodes) > 0 && e.Nodes[0].TooBusy != "" {
		line := fmt.Sprintf("It waits until it would run less than %s slower on a node", text.Times(e.Hold.MaxDilation))
		if most := e.Hold.MaxWaitSeconds; most > 0 {
			line += fmt.Sprintf(", %s at most: then it takes %s", age(time.Duration(most*float64(time.Second))), e.Nodes[0].Node)
		}
		lines = append(lines, line+".")
	}
	return lines
}

// cost writes a price with enough digits to distinguish nodes.
func cost(c float64) string { return fmt.Sprintf("%.3f", math.Abs(c)) }

// tally is how many nodes of a ranking take the pod, and how many do not for which reason; the others do not fit.
type tally struct{ fit, refused, busy, unknown int }

func tallyOf(ranked []explanation.RankedNode) (t tally) {
	for i := range ranked {
		switch n := &ranked[i]; {
		case n.Takes():
			t.fit++
		case n.Refused != "":
			t.refused++
		case n.TooBusy != "":
			t.busy++
		case n.Unknown != "":
			t.unknown++
		}
	}
	return t
}

// fits says that a node fits, of nodes of which some may.
func (t *tally) fits() string {
	if t.unknown > 0 {
		return "is known to fit"
	}
	return "fits"
}

// bestNode says where the pod would cost least.
func bestNode(e *explanation.Answer) string {
	t := tallyOf(e.Nodes)
	line := fmt.Sprintf("No node %s.", t.fits())
	switch {
	case t.fit > 0:
		line = cheapest(e, &t)
	case t.refused+t.busy > 0:
		line = fmt.Sprintf("No node takes it: %s.", KeptAway(t.refused, t.busy))
	}
	if t.unknown > 0 {
		line += fmt.Sprintf(" Of %s it is not known.", text.Counted(t.unknown, "node"))
	}
	return line
}

// cheapest says which of the nodes that fit costs least; that of the pod is one of them.
func cheapest(e *explanation.Answer, t *tally) string {
	best := &e.Nodes[0]
	counted := text.Counted(t.fit, "node")
	i := slices.IndexFunc(e.Nodes, func(n explanation.RankedNode) bool { return n.Here })
	switch {
	case i < 0 && t.fit == 1:
		return fmt.Sprintf("%s is the only node that %s.", best.Node, t.fits())
	case i < 0:
		return fmt.Sprintf("%s is the cheapest of %s that fit.", best.Node, counted)
	case t.fit == 1 && t.refused+t.busy > 0:
		return fmt.Sprintf("No other node takes it: %s.", KeptAway(t.refused, t.busy))
	case t.fit == 1:
		return fmt.Sprintf("No other node %s.", t.fits())
	case e.Nodes[i].Rank > 1:
		return fmt.Sprintf("%s is cheaper by %s: of %s that fit, this one is number %d.%s", best.Node, cost(e.Nodes[i].Cost-best.Cost), counted, e.Nodes[i].Rank, notWon(&e.Nodes[i], best))
	default:
		next := best
		if i == 0 {
			next = &e.Nodes[1]
		}
		return fmt.Sprintf("Of %s that fit none is cheaper; the next is %s, by %s more.%s", counted, next.Node, cost(next.Cost-e.Nodes[i].Cost), notWon(&e.Nodes[i], next))
	}
}

// notWon names the cause of most of the pod's waits here if another node would not relieve it by half at least, else "".
func notWon(here, there *explanation.RankedNode) string {
	if len(here.WaitsAt) == 0 || here.WaitsAt[0].Waits < negligible {
		return ""
	}
	most := here.WaitsAt[0]
	if left := there.At(most.Resource); left >= most.Waits/2 {
		return fmt.Sprintf(" Moving there would not win the %.2f because of %s, which would be %.2f.", most.Waits, most.Resource, left)
	}
	return ""
}
