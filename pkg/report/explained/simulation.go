package explained

import (
	"cmp"
	"fmt"
	"strings"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/text"
)

// simulated says where a pod that is not there yet would go, and how it would run there.
func simulated(e *explanation.Answer) []string {
	s := e.Simulation
	name := e.Pod
	if !strings.HasPrefix(s.Workload, "pod/") {
		name = "A pod of " + s.Workload
	}
	switch refused, busy := len(s.Refused), len(s.TooBusy); {
	case s.Fits > 0:
	case refused+busy > 0:
		return append([]string{fmt.Sprintf("%s would wait: %s.", name, KeptAway(refused, busy))}, roomLines(e)...)
	case len(s.Unknown) > 0:
		return []string{name + " is not known to fit any node."}
	default:
		return []string{name + " fits no node."}
	}
	where := fmt.Sprintf("%s would go to %s, the cheapest of %s that fit.", name, e.Node, text.Counted(s.Fits, "node"))
	switch {
	case s.Fits == 1:
		where = fmt.Sprintf("%s would go to %s, the only node that fits.", name, e.Node)
	case len(s.Ties) == s.Fits-1:
		where = fmt.Sprintf("%s would go to %s or any other of the %s that fit: all cost the same.", name, e.Node, text.Counted(s.Fits, "node"))
	case len(s.Ties) > 0:
		where += fmt.Sprintf(" Just as cheap: %s; the scheduler takes any of them.", text.Names(s.Ties))
	}
	why := "."
	if e.Nodes == nil {
		why = " (--nodes says why)."
	}
	if len(s.Refused) > 0 {
		where += fmt.Sprintf(" The scheduler's guard refuses %s", text.Names(s.Refused)) + why
	}
	if len(s.Unknown) > 0 {
		where += fmt.Sprintf(" Of %s it is not known whether it fits", text.Names(s.Unknown)) + why
	}
	if len(s.TooBusy) > 0 {
		where += " Too busy for now: " + text.Names(s.TooBusy) + why
	}
	if asFastAsAlone(e) {
		return []string{where, "There it would run as fast as alone."}
	}
	line := fmt.Sprintf("There it would run %s times slower than alone", slower(e))
	if because := because(e, behind(e)); len(because) > 0 {
		line += ", because of " + strings.Join(because, ", ")
	}
	return []string{where, line + "."}
}

// behind returns, by the name of a resource or device, the pod for which most of the waiting there is, " behind etl/sort-2".
func behind(e *explanation.Answer) map[string]string {
	most := map[string]explanation.Part{}
	for i := range e.Resources {
		r := &e.Resources[i]
		at := cmp.Or(r.Device, r.Name)
		for _, part := range r.Because {
			if part.Dilation > most[at].Dilation {
				most[at] = part
			}
		}
	}
	texts := map[string]string{}
	for at, part := range most {
		texts[at] = " behind " + part.Pod
		if part.Pod == e.Pod {
			texts[at] = " behind its own threads"
		}
	}
	return texts
}

// exceededLines say which limits would not hold.
func exceededLines(e *explanation.Answer, wide bool) (lines []string) {
	const shown = 4
	all := e.Simulation.Exceeded
	if e.MaxDilation != nil && e.Dilation != nil && *e.Dilation <= *e.MaxDilation {
		lines = append(lines, fmt.Sprintf("That is within its limit of %s.", limitText(*e.MaxDilation, e.MaxDilationReason)))
	}
	for i, x := range all {
		if i == shown && !wide {
			lines = append(lines, fmt.Sprintf("So would %d more pods (-o wide lists all).", len(all)-shown))
			break
		}
		line := fmt.Sprintf("%s would exceed its limit of %s: %s", x.Pod, limitText(x.MaxDilation, x.MaxDilationReason), text.Times(x.Dilation))
		switch {
		case x.Before == nil:
		case *x.Before > x.MaxDilation:
			line += fmt.Sprintf(", as it does already (now %s)", text.Times(*x.Before))
		default:
			line += fmt.Sprintf(" (now %s)", text.Times(*x.Before))
		}
		if x.GuardMode == configv1alpha1.GuardWarn {
			line += ", of which the scheduler's guard warns"
		}
		lines = append(lines, line+".")
	}
	return lines
}

// oneOf names the pods of a workload that the answer covers.
func oneOf(s *explanation.Simulation) []string {
	if s.Replicas == 1 {
		return nil
	}
	return []string{fmt.Sprintf("This is about the first of its %d pods; those that follow find it there.", s.Replicas)}
}
