package report

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/kubectl"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/text"
)

// ConsolidationTable shows the nodes that can be emptied. A wide table names all pods that move, and all of which the dilation changes.
func ConsolidationTable(c *plan.Consolidation, wide bool) *text.Table {
	t := text.NewTable(text.Left("EMPTY"), text.Right("MOVES"), text.Left("OF"), text.Left("COSTS"), text.Left("WORST THEN"), text.Right("LEFT"))
	for i := range c.Emptied {
		e := &c.Emptied[i]
		var moves []string
		for k := range e.Moves {
			moves = append(moves, fmt.Sprintf("%s to %s", e.Moves[k].Pod, e.Moves[k].To))
		}
		_, costs := effects(e.Pods, wide)
		t.Add(e.Node, text.Count(int64(len(e.Moves))), firstOf(moves, wide), costs, dilated(e.Worst), amount(e.Left))
	}
	return t
}

func dilated(d *plan.Dilated) string {
	if d == nil {
		return text.Absent
	}
	return d.Pod + " " + text.Times(d.Dilation)
}

// ConsolidationNotes say how many nodes can be emptied, what that costs, and why the others stay: the first few, or all.
func ConsolidationNotes(c *plan.Consolidation, all bool) []string {
	n := len(c.Emptied)
	line := fmt.Sprintf("No node of %d can be emptied", len(c.Kept))
	if n > 0 {
		line = fmt.Sprintf("%d of %s can be emptied by %s", n, text.Counted(n+len(c.Kept), "node"), text.Counted(c.Moves(), "move"))
	}
	lines := []string{line + fmt.Sprintf(" so that no pod is slowed down more than %s, or more than now where that is more.", text.Times(c.Above))}
	if c.Moves() > 0 {
		lines = append(lines, fmt.Sprintf("The worst pod: %s now, %s then. Excess above %s: %s now, %s then.",
			dilated(c.Worst), dilated(c.Emptied[n-1].Worst), text.Times(c.Above), amount(c.Excess), amount(c.Left)))
	}
	return append(append(lines, few(kept(c), "more nodes stay", all)...), few(losses(c), "more moves have notes", all)...)
}

// few returns the first lines and says how many more there are, or all.
func few(lines []string, more string, all bool) []string {
	const shown = 10
	if all || len(lines) <= shown+1 {
		return lines
	}
	return append(lines[:shown:shown], fmt.Sprintf("%d %s: -o wide says why.", len(lines)-shown, more))
}

// kept says why nodes stay.
func kept(c *plan.Consolidation) (lines []string) {
	for i := range c.Kept {
		k := &c.Kept[i]
		who := k.Node + " stays"
		if k.Pod != "" {
			who += " because of " + k.Pod
		}
		why := k.Why
		if len(k.Refusals) > 0 {
			why += ": " + refusals(k.Refusals)
		}
		lines = append(lines, who+": "+why+".")
	}
	return lines
}

// refusals says for which reasons which nodes do not take a pod.
func refusals(all []plan.Refusal) string {
	parts := make([]string, len(all))
	for i, r := range all {
		parts[i] = fmt.Sprintf("%s (%s)", r.Why, r.Node)
		if r.Nodes > 1 {
			parts[i] = fmt.Sprintf("%s (%s and %d more)", r.Why, r.Node, r.Nodes-1)
		}
	}
	return strings.Join(parts, "; ")
}

// losses say what else follows from moves.
func losses(c *plan.Consolidation) (lines []string) {
	for i := range c.Emptied {
		for k := range c.Emptied[i].Moves {
			m := &c.Emptied[i].Moves[k]
			if len(m.Notes) > 0 {
				lines = append(lines, fmt.Sprintf("%s: %s.", m.Pod, strings.Join(m.Notes, "; ")))
			}
		}
	}
	return lines
}

// ConsolidationCommands returns the lines of a script for a POSIX shell that empties the nodes, given the pods of the cluster: commands of
// kubectl, each after what it is for. All nodes are cordoned first, so that no pod moves to one that is to be empty.
func ConsolidationCommands(c *plan.Consolidation, pods []corev1.Pod) []string {
	byName := make(map[string]*corev1.Pod, len(pods))
	for i := range pods {
		byName[text.QualifiedName(&pods[i])] = &pods[i]
	}
	lines := comments(strings.Join(ConsolidationNotes(c, true), "\n"))
	if len(c.Emptied) == 0 {
		return lines
	}
	lines = append(lines, "")
	lines = append(lines, comments("No new pod is to run on a node that is emptied.")...)
	for i := range c.Emptied {
		lines = append(lines, kubectl.Cordon(c.Emptied[i].Node))
	}
	for i := range c.Emptied {
		e := &c.Emptied[i]
		lines = append(lines, "")
		lines = append(lines, comments(fmt.Sprintf("%s: %s. To leave it as it is: %s", e.Node, text.Counted(len(e.Moves), "move"), kubectl.Uncordon(e.Node)))...)
		for k := range e.Moves {
			m := &e.Moves[k]
			lines = append(lines, comments(fmt.Sprintf("%s is to run on %s then: see that its scheduler puts it there.", m.Pod, m.To))...)
			lines = append(lines, kubectl.Evict(byName[m.Pod]))
		}
	}
	return append(append(lines, ""), comments("Where an eviction is refused by a PodDisruptionBudget for now, wait until the pod before it is ready, and repeat it.")...)
}
