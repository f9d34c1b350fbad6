package report

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// shownEffects is how many pods a card names that a step helps, or costs something.
const shownEffects = 3

// shownSteps is how many steps have a card: a plan is made anew when they are done.
const shownSteps = 24

// planCards returns a card for each of the first steps of the plan, one that says how many more there are, and one for the pods that no step
// helps.
func planCards(s *Situation) (cards []page.Card) {
	if s.Plan == nil {
		return nil
	}
	room := newRoom(s.Plan, s.NodeObjects, s.PodObjects)
	pods := stepPods(s.Plan, s.PodObjects)
	for i := range s.Plan.Steps {
		if i == shownSteps {
			cards = append(cards, laterSteps(s.Plan))
			break
		}
		step := &s.Plan.Steps[i]
		c := page.Card{Title: fmt.Sprintf("%d. %s", i+1, instruction(&step.Change))}
		helped, costs := effects(step.Pods, true)
		c.Gains = namedFirst(helped, shownEffects)
		c.Lines = append(c.Lines, fmt.Sprintf("Wins %s of the excess above %s; %s is left then.", interval(step.Win), text.Times(s.Plan.Above), amount(step.Left)))
		if costs == text.Absent {
			c.Lines = append(c.Lines, "Costs no other pod.")
		} else {
			c.Lines = append(c.Lines, "Costs "+strings.Join(namedFirst(costs, shownEffects), ", ")+".")
		}
		if line := room.after(step, pods[step.Pod]); line != "" {
			c.Lines = append(c.Lines, line)
		}
		for _, note := range step.Notes {
			c.Lines = append(c.Lines, text.Capitalized(note)+".")
		}
		if pod := pods[step.Pod]; pod != nil {
			if lines, err := stepCommands(step, pod); err == nil { // without them the card says what to do all the same
				c.Command = strings.Join(lines, "\n")
			}
		}
		if s.Action != nil {
			c.Action = s.Action(step)
		}
		cards = append(cards, c)
	}
	return append(cards, leftCards(s.Answer)...)
}

// laterSteps returns a card about the steps that have none of their own.
func laterSteps(p *plan.Plan) page.Card {
	left := p.Steps[len(p.Steps)-1].Left
	return page.Card{
		Title: "And " + text.Counted(len(p.Steps)-shownSteps, "further change"),
		Lines: []string{
			fmt.Sprintf("They win %s of the excess above %s, and %s is left then.", amount(p.Steps[shownSteps-1].Left-left), text.Times(p.Above), amount(left)),
			"This shows all of them:",
		},
		Command: "kubectl loadline plan",
	}
}

// instruction says what to do in order to make a change.
func instruction(c *plan.Change) string {
	of := c.Pod
	if c.Container != "" {
		of = c.Container + " in " + c.Pod
	}
	from := func(q *resource.Quantity) string {
		if q == nil {
			return ""
		}
		return " from " + q.String()
	}
	switch {
	case c.Action == plan.MovePod:
		return fmt.Sprintf("Move %s from %s to %s", c.Pod, c.Node, c.To)
	case c.Action == plan.RaiseLimit && c.Request != nil:
		return fmt.Sprintf("Raise the CPU limit and request of %s%s to %s", of, from(c.WasLimit), c.Limit)
	case c.Action == plan.RaiseLimit:
		return fmt.Sprintf("Raise the CPU limit of %s%s to %s", of, from(c.WasLimit), c.Limit)
	case c.Action == plan.LowerRequest:
		return fmt.Sprintf("Lower the CPU request of %s%s to %s", of, from(c.WasRequest), c.Request)
	default:
		return fmt.Sprintf("Raise the CPU request of %s%s to %s", of, from(c.WasRequest), c.Request)
	}
}

// leftCards returns a card about the pods that nothing helps.
func leftCards(a *findings.Answer) []page.Card {
	var lines []string
	left := 0
	for i := range a.Findings {
		f := &a.Findings[i]
		if f.Remedy.Action != findings.Leave {
			continue
		}
		if left++; left > shownEffects {
			continue
		}
		line := fmt.Sprintf("%s %s: %s.", f.Pod.Pod, text.Times(f.Dilation), because(f.Causes, fewCauses))
		if len(f.Causes) > 0 && f.Causes[0].Kind == observed.ByHypervisor {
			line += " Ask the provider of the machine, or take another type of instance."
		}
		if byHand := advice(f.Remedy.ByHand); byHand != "" {
			line += " " + text.Capitalized(byHand) + "."
		}
		if f.Remedy.Problem != "" {
			line += " Not known: " + f.Remedy.Problem + "."
		}
		lines = append(lines, line)
	}
	if left == 0 {
		return nil
	}
	if left > shownEffects {
		lines = append(lines, fmt.Sprintf("And %d more.", left-shownEffects))
	}
	return []page.Card{{Title: "Nothing in the cluster helps " + text.Counted(left, "pod"), Lines: lines}}
}

// namedFirst returns the first of some names that are listed with commas, and how many more there are.
func namedFirst(listed string, shown int) []string {
	if listed == text.Absent {
		return nil
	}
	all := strings.Split(listed, ", ")
	if len(all) <= shown+1 {
		return all
	}
	return append(all[:shown:shown], fmt.Sprintf("and %d more", len(all)-shown))
}

// room is how much CPU is not requested of each node that a step takes a pod from, or moves one to.
type room map[string]*resource.Quantity

// newRoom returns the room before the first step of a plan.
func newRoom(p *plan.Plan, nodes []corev1.Node, pods []corev1.Pod) room {
	on := map[string][]*corev1.Pod{}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == plan.MovePod {
			on[s.Node], on[s.To] = nil, nil
		}
	}
	for i := range pods {
		pod := &pods[i]
		if _, is := on[pod.Spec.NodeName]; is && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
		}
	}
	free := room{}
	for i := range nodes {
		if its, is := on[nodes[i].Name]; is {
			q := node.FreeCPU(&nodes[i], its)
			free[nodes[i].Name] = &q
		}
	}
	return free
}

// after makes a step, and says how much is left on the node that takes a pod.
func (r room) after(s *plan.Step, pod *corev1.Pod) string {
	if s.Action != plan.MovePod || pod == nil || r[s.To] == nil {
		return ""
	}
	before := node.FreeCPU(&corev1.Node{}, []*corev1.Pod{pod}) // what it requests, below 0
	r[s.To].Add(before)
	if from := r[s.Node]; from != nil {
		from.Sub(before)
	}
	return fmt.Sprintf("%s has %s CPU left for more requests.", s.To, r[s.To])
}
