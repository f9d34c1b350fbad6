package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Options say which changes a plan may have.
type Options struct {
	// Above is the dilation above which a pod has an excess, above 1 and finite; 0 means [observed.DefaultAbove].
	Above float64
	// Max is the largest number of changes, 0 for as many as help.
	Max int
	// Allow are the kinds of changes, all if there are none.
	Allow []Action
	// Feasibility says where pods may run, nil for nowhere else than now.
	Feasibility node.Feasibility
	// Admission says which changes of requests and limits the API server would refuse, nil for none. They are not proposed.
	Admission node.Admission
	// Permits reports whether a change of a kind may be made of a pod; nil where every one may.
	Permits func(*corev1.Pod, Action) bool
	// Empties reports whether [Consolidate] may empty a node; nil where it may any.
	Empties func(node string) bool
	// Alone leaves out changes that win only together with others, as where each is carried out, and judged, by itself.
	Alone bool
	// First are changes that were proposed before. As far as they still can be made and win, the plan begins with them, so that it stays
	// the same while little changes.
	First []Change
	// Rules say which pods may be disrupted; nil where all may move that a controller would make anew. InPlace leaves out changes of
	// requests and limits that cannot be made without making a pod anew, which are otherwise noted.
	Rules   *disruption.Rules
	InPlace bool
	// Promise returns what a pod is promised, nil for nothing to any.
	Promise func(*corev1.Pod) node.Promise
	// Record is what earlier changes won.
	Record Record
}

// Check returns an error that names the option which is out of range.
func (o *Options) Check() error {
	if above := cmp.Or(o.Above, observed.DefaultAbove); !(above > 1) || math.IsInf(above, 0) {
		return fmt.Errorf("above: %v is not above 1 and finite", o.Above)
	}
	if o.Max < 0 {
		return fmt.Errorf("max: %d is below 0", o.Max)
	}
	return nil
}

func (o *Options) allows(a Action) bool { return len(o.Allow) == 0 || slices.Contains(o.Allow, a) }

// Plan is a sequence of changes.
type Plan struct {
	// Above is the dilation above which a pod has an excess.
	Above float64 `json:"above"`
	// Excess is how far all pods together are above it now, weighted by their priorities, and Left how far after all steps.
	Excess float64 `json:"excess"`
	Left   float64 `json:"left"`
	Steps  []Step  `json:"steps"`

	fates map[string]Fate
}

// Step is a change, and what it wins with all earlier ones in place.
type Step struct {
	Change

	// Win is what it takes from the excess, Left what is left then.
	Win  Interval `json:"win"`
	Left float64  `json:"left"`
	// Pods are those of which the dilation changes, those that win most first.
	Pods []Effect `json:"pods"`
	// Notes say what else follows, each a sentence without its end, and LostSeconds for how long work ran that has to be done again.
	Notes       []string `json:"notes,omitempty"`
	LostSeconds float64  `json:"lostSeconds,omitempty"`
	// NotInPlace says why the pod would have to be made anew for another request or limit, a sentence without its end; "" where it would
	// not.
	NotInPlace string `json:"notInPlace,omitempty"`
}

// Effect is what a step does to a pod.
type Effect struct {
	Pod  string  `json:"pod"`
	Now  float64 `json:"now"`
	Then float64 `json:"then"`
}

// Fate is what becomes of a pod by the whole plan.
type Fate struct {
	// Dilation is that after all steps, and Margin how much larger it may be: the pod's part of what the steps may win less.
	Dilation, Margin float64
	// Step is the index of the step that helps it most, −1 if the plan does not help it.
	Step int
	// Unknown says what is missing to decide whether something else helps, "" for nothing.
	Unknown string

	now float64 // its dilation without the plan
}

// Of returns what becomes of a pod, given its name, and whether it was looked at.
func (p *Plan) Of(pod string) (Fate, bool) {
	f, known := p.fates[pod]
	return f, known
}

// Make returns the plan of a cluster that was observed and solved. The error is that of [Options.Check], or names the node for which the
// model has no answer.
func Make(c *observed.Cluster, o *Options) (*Plan, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	s, err := newSearch(c, o)
	if err != nil {
		return nil, err
	}
	for {
		s.run()
		p, useless, err := s.write(s.first, s.steps)
		if err != nil {
			return nil, err
		}
		if len(useless) == 0 {
			s.full(p)
			return p, nil
		}
		s.ban(useless)
	}
}

// full notes where the plan has as many steps as it may, or no room for a pair of them, that it is not known what else would help.
func (s *search) full(p *Plan) {
	if s.Max == 0 || len(p.Steps) < s.Max && !s.cut {
		return
	}
	for pod, f := range p.fates {
		if f.Step < 0 && f.Unknown == "" && f.Dilation > p.Above {
			f.Unknown = fmt.Sprintf("the plan has no more than %s: see what that wins first", text.Counted(s.Max, "change"))
			p.fates[pod] = f
		}
	}
}

// write returns the plan of some steps from a state, and those of its changes that are not worth it: what they win may be nothing, or is next to
// nothing.
func (s *search) write(first *state, steps []*candidate) (p *Plan, useless []*Change, err error) {
	st := first.clone()
	p = &Plan{Above: s.Above, Excess: st.excess(), Steps: []Step{}, fates: map[string]Fate{}}
	p.Left = p.Excess
	s.fates(st, p)
	wins := make([]float64, len(steps))
	for i, c := range steps {
		before := st.excess()
		effects := c.effects()
		st.apply(c)
		p.Left = st.excess()
		wins[i] = before - p.Left
		p.Steps = append(p.Steps, Step{Change: c.change, Left: p.Left, Pods: effects, Notes: c.notes, LostSeconds: c.lost, NotInPlace: c.notInPlace})
	}
	for i, c := range steps {
		if c.enables {
			p.Steps[i].Notes = append(slices.Clone(c.notes), fmt.Sprintf("it makes room for step %d", i+2))
		}
	}
	spreads, err := first.spreads(steps)
	if err != nil {
		return nil, nil, err
	}
	for i := range p.Steps {
		p.Steps[i].Win = s.Record.interval(p.Steps[i].Action, wins[i], spreads[i])
		p.Steps[i].Win.High = min(p.Steps[i].Win.High, p.Steps[i].Left+wins[i]) // there is no more
		if w := &p.Steps[i].Win; (w.Low <= 0 || w.Value < observed.WorthAtLeast) && !steps[i].enables {
			useless = append(useless, &p.Steps[i].Change)
		}
		for _, e := range p.Steps[i].Pods {
			p.note(e, i)
		}
	}
	for pod, f := range p.fates {
		if f.now-f.Dilation < noticed { // what a step took another one gave
			f.Step = -1
			p.fates[pod] = f
		}
	}
	return p, useless, nil
}

// fates notes how the pods fare before any step.
func (s *search) fates(st *state, p *Plan) {
	for h := range st.hosts() {
		for i := range h.members {
			m := h.members[i]
			p.fates[m.pod.Name()] = Fate{Dilation: m.pod.Dilation, Step: -1, Unknown: s.unknown[m.subject], now: m.pod.Dilation}
		}
	}
}

// note notes what a step does to a pod.
func (p *Plan) note(e Effect, step int) {
	f := p.fates[e.Pod]
	f.Dilation = e.Then
	f.Margin += math.Abs(e.Now-e.Then) * p.Steps[step].Win.short()
	if best := f.Step; e.Then < e.Now && (best < 0 || e.Now-e.Then > p.Steps[best].helps(e.Pod)) {
		f.Step = step
	}
	p.fates[e.Pod] = f
}

// helps returns how much a step takes from the dilation of a pod.
func (s *Step) helps(pod string) float64 {
	for _, e := range s.Pods {
		if e.Pod == pod {
			return e.Now - e.Then
		}
	}
	return 0
}

// Bend returns after how many steps the plan has won most of what it wins, so that one may stop there: the number of steps at which the
// curve of what is left is farthest below the straight line from its beginning to its end. It is all steps where the curve is hardly bent.
func (p *Plan) Bend() int {
	const hardly = 0.1 // of what all steps win
	best, most := len(p.Steps), hardly*(p.Excess-p.Left)
	for i := range p.Steps {
		straight := p.Excess - (p.Excess-p.Left)*float64(i+1)/float64(len(p.Steps))
		if below := straight - p.Steps[i].Left; below > most {
			best, most = i+1, below
		}
	}
	return best
}
