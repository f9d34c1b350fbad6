package report

import (
	"fmt"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/text"
)

// FindingsNotes says in lines of how many pods and nodes that is, which nodes are not known, and how remedies meet.
func FindingsNotes(a *findings.Answer) []string {
	lines := append(observedNotes(a), unitNotes(a)...)
	if a.Plan != nil && len(a.Plan.Steps) > 0 {
		lines = append(lines, fmt.Sprintf("The remedies are the steps of one plan: kubectl loadline plan shows it. Together they take the excess above %s from %s to %s.",
			text.Times(a.Above), amount(a.Plan.Excess), amount(a.Plan.Left)))
	}
	return lines
}

// WorstNotes are the notes to a [WorstTable].
func WorstNotes(a *findings.Answer) []string {
	lines := FindingsNotes(a)
	if _, others := a.Worst(shownOfNode); len(others) > 0 {
		lines = append(lines, fmt.Sprintf("Of each node the %d pods that are slowed down most have a row; with -o wide all have.", shownOfNode))
	}
	return lines
}

// ObservedPodsNotes are the notes to an [ObservedPodsTable].
func ObservedPodsNotes(a *findings.Answer) []string {
	lines := observedNotes(a)
	var unknown, pressed []string
	for i := range a.Nodes {
		n := &a.Nodes[i]
		switch {
		case !slices.ContainsFunc(a.Pods, func(p findings.Pod) bool { return p.Node == n.Name }):
		case n.BlockedUnknown:
			unknown = append(unknown, n.Name)
		case n.BlockedByPressure:
			pressed = append(pressed, n.Name)
		}
	}
	if len(unknown) > 0 {
		lines = append(lines, fmt.Sprintf("BLOCKED is not observed on %s (%s): kernel.task_delayacct is 0 there, and the gauge reads no io.pressure.",
			text.Counted(len(unknown), "node"), text.Names(unknown)))
	}
	if len(pressed) > 0 {
		lines = append(lines, fmt.Sprintf("BLOCKED is by io.pressure on %s (%s), where threads that are blocked at once count as one: kernel.task_delayacct is 0 there, or counts more time than there was.",
			text.Counted(len(pressed), "node"), text.Names(pressed)))
	}
	return lines
}

// observedNotes says of how many pods and nodes an answer is, and which nodes are not known.
func observedNotes(a *findings.Answer) []string {
	first := fmt.Sprintf("Slowed down %s or more: %s of %s.", text.Times(a.Above), text.Count(int64(len(a.Findings))), text.Counted(len(a.Pods), "observed pod"))
	if len(a.Findings) == 0 {
		first = fmt.Sprintf("None of %s is slowed down %s or more.", text.Counted(len(a.Pods), "observed pod"), text.Times(a.Above))
	}
	if a.Short > 0 {
		first += fmt.Sprintf(" Observed too shortly to judge: %s.", text.Counted(a.Short, "pod"))
	}
	lines := []string{first}
	if a.Unsure > 0 {
		lines = append(lines, fmt.Sprintf("Too unsteady to judge: %s, whose dilation is about as far from 1 as it differs between intervals (kubectl loadline top pods).",
			text.Counted(a.Unsure, "pod")))
	}
	var unknown, changing []string
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if n.Problem != "" {
			unknown = append(unknown, n.Name+": "+n.Problem)
		} else if len(n.OtherCPUs) > 0 {
			changing = append(changing, n.Name+": "+processors(n))
		}
	}
	of := text.Counted(len(a.Nodes), "node")
	if len(unknown) > 0 {
		lines = append(lines, fmt.Sprintf("Not observed: %s of %s, with %s (%s).", text.Count(int64(len(unknown))), of, text.Counted(a.Unseen, "pod"), text.Names(unknown)))
	}
	if len(changing) > 0 {
		lines = append(lines, fmt.Sprintf("Processors change on %s of %s (%s): only the time with the first number counts.",
			text.Count(int64(len(changing))), of, text.Names(changing)))
	}
	return lines
}

// processors says which numbers of processors a node had, the one that counts first.
func processors(n *findings.NodeSummary) string {
	return fmt.Sprintf("%s, and at times %s", text.Count(int64(n.CPUs)), otherProcessors(n))
}

func otherProcessors(n *findings.NodeSummary) string {
	others := make([]string, len(n.OtherCPUs))
	for i, cpus := range n.OtherCPUs {
		others[i] = text.Count(int64(cpus))
	}
	return strings.Join(others, " or ")
}

// remark describes a peculiarity of a node's observations.
func remark(n *findings.NodeSummary) string {
	var remarks []string
	if len(n.OtherCPUs) > 0 {
		remarks = append(remarks, fmt.Sprintf("at times %s CPUs, which do not count", otherProcessors(n)))
	}
	if n.BlockedUnknown {
		remarks = append(remarks, "blocked time is not observed")
	}
	if len(n.UnlearnedDisks) > 0 {
		remarks = append(remarks, fmt.Sprintf("waiting at %s counts as time alone: no quiet moment was seen yet", text.Names(n.UnlearnedDisks)))
	}
	if len(n.BusyDisks) > 0 {
		remarks = append(remarks, fmt.Sprintf("waiting at %s is longer than said: no quiet moment was seen yet", text.Names(n.BusyDisks)))
	}
	if len(n.UncountedDisks) > 0 {
		remarks = append(remarks, fmt.Sprintf("waiting at %s counts as time alone: the kernel counts no pod's operations there", text.Names(n.UncountedDisks)))
	}
	return strings.Join(remarks, "; ")
}
