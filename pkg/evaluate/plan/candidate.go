package plan

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/node"
)

const (
	// A change must take the part worthIt of some pod's excess dilation, and observed.WorthAtLeast if that is more.
	worthIt = 0.2
	// noticed is a change of another pod's dilation that is worth a word.
	noticed = 0.05
)

// horizon is how long a win is expected to last, in seconds. To lose work of that length counts like an hour of a dilation of 2: an excess
// of 1.
const horizon = 3600

// candidate is a change, and what becomes of the nodes that it concerns.
type candidate struct {
	change Change
	who    *subject
	// before and after are the hosts, of which a move has two: from where, and to where.
	before, after []*host
	// rough says that what it wins is estimated.
	rough bool
	// win is what it takes from the excess, and worth from what the search counts.
	win, worth float64
	// most is what a move is worth at most.
	most float64
	// less is what limits add no more.
	less float64
	// notes say what else follows from the change, and lost for how many seconds work ran that has to be done again.
	notes []string
	lost  float64
	// notInPlace says why the pod would have to be made anew.
	notInPlace string
	// enables says that the next change needs it, which it makes room for, so that it does not matter what it wins itself.
	enables bool
	// steps are the changes that this one stands for, which help together only; none for a single one.
	steps []*candidate
	// unknown says what is not known of whether it can be made, "" for nothing: then it is not proposed.
	unknown string
}

// small is the largest number of pods on a node that is solved by the model for each change that is tried. For larger ones estimates say
// which change is best, and the model what it wins.
const small = 12

// estimated reports whether what the change wins is estimated first.
func (c *candidate) estimated() bool {
	return slices.ContainsFunc(c.before, func(h *host) bool { return len(h.members) > small })
}

// weigh works out about what the change wins, by the model where that is quick.
func (c *candidate) weigh() error {
	if c.rough = c.estimated(); !c.rough {
		return c.solve()
	}
	for _, step := range c.steps { // the hosts between them are not worked out
		step.rough = true
	}
	for _, h := range slices.Concat(c.before, c.after) {
		if err := h.estimate(); err != nil {
			return err
		}
	}
	c.sum()
	return nil
}

// limit works out what a move wins at most: what it does where the pod was. It wins nothing where it comes to.
func (c *candidate) limit() error {
	c.rough = c.estimated()
	for _, h := range []*host{c.before[0], c.after[0]} {
		work := h.solve
		if c.rough {
			work = h.estimate
		}
		if err := work(); err != nil {
			return err
		}
	}
	c.most = c.outcome(c.before[0]).worth - c.outcome(c.after[0]).worth
	return nil
}

// solve works out what the change wins by the model.
func (c *candidate) solve() error {
	for _, step := range c.steps {
		if err := step.solve(); err != nil {
			return err
		}
	}
	for _, h := range slices.Concat(c.before, c.after) {
		if err := h.solve(); err != nil {
			return err
		}
	}
	c.rough = false
	c.sum()
	return nil
}

// outcome is that of a host by the means by which the candidate was worked out.
func (c *candidate) outcome(h *host) *outcome {
	if c.rough {
		return h.rough
	}
	return h.exact
}

// sum adds up what the change wins.
func (c *candidate) sum() {
	c.win, c.worth = 0, -c.who.weight*c.lost/horizon
	for i := range c.after {
		before, after := c.outcome(c.before[i]), c.outcome(c.after[i])
		c.win += before.excess - after.excess
		c.worth += before.worth - after.worth
	}
}

// fate is how a pod fares before and after a change.
type fate struct {
	*subject

	before, after float64
	bound         node.Bound // after
}

// each calls a function for each pod of the nodes.
func (c *candidate) each(visit func(f *fate)) {
	for i, before := range c.before {
		for k := range before.members {
			m := before.members[k].subject
			f := fate{subject: m, before: c.outcome(before).dilations[k]}
			where, at := c.where(m, i)
			f.after, f.bound = c.outcome(where).dilations[at], where.model.Pods[at].Bound
			visit(&f)
		}
	}
}

// where returns the host on which a pod is after the change, and its index there, given the index of the one on which it was.
func (c *candidate) where(who *subject, was int) (*host, int) {
	if at := c.after[was].index(who); at >= 0 {
		return c.after[was], at
	}
	for _, h := range c.after {
		if at := h.index(who); at >= 0 {
			return h, at
		}
	}
	return nil, -1
}

// helps reports whether the change helps a pod enough, and none of the steps that it stands for slows a pod down about as badly or breaks a
// promise that is enforced.
func (c *candidate) helps() bool {
	relieved, most := 0.0, 0.0 // the pod that was slowed down worst, and how much another may be afterwards
	c.each(func(f *fate) {
		if least := f.relieved(); least > 0 && f.before > relieved {
			relieved, most = f.before, f.before-least
		}
	})
	if relieved == 0 || !c.spares(most) {
		return false
	}
	for _, step := range c.steps {
		if !step.rough && !step.spares(most) {
			return false
		}
	}
	return true
}

// spares reports whether the change slows no pod down to more than a dilation, and breaks no promise that is enforced.
func (c *candidate) spares(most float64) bool {
	spared := true
	c.each(func(f *fate) {
		if f.after > f.before+noticed && f.after > most || broken(f) {
			spared = false
		}
	})
	return spared
}

// relieved returns how much the dilation of a slowed pod has to become less, if it does, else 0.
func (f *fate) relieved() float64 {
	least := max(observed.WorthAtLeast, worthIt*(f.before-1))
	if !f.sure || f.before <= f.threshold || f.before-f.after < least {
		return 0
	}
	return least
}

// broken reports whether a promise that is enforced is broken because of the change.
func broken(f *fate) bool {
	const rounding = 1e-9
	most := f.bound.Enforced()
	return most > 0 && f.after > most*(1+rounding) && f.after > f.before*(1+rounding)
}

// effects returns what the change does to pods, as far as it is worth a word.
func (c *candidate) effects() (all []Effect) {
	c.each(func(f *fate) {
		if f.before-f.after >= noticed || f.after-f.before >= noticed {
			all = append(all, Effect{f.pod.Name(), f.before, f.after})
		}
	})
	slices.SortFunc(all, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(b.Now-b.Then, a.Now-a.Then), cmp.Compare(a.Pod, b.Pod))
	})
	return all
}

// single returns the changes that this one stands for, or itself.
func (c *candidate) single() []*candidate {
	if len(c.steps) > 0 {
		return c.steps
	}
	return []*candidate{c}
}

// objects returns the pod of a single change on a node before it and after it.
func (c *candidate) objects() (from, to *corev1.Pod) {
	before, after := c.before[0], c.after[0]
	return before.object(before.index(c.who)), after.object(after.index(c.who))
}

// apply makes the change.
func (s *state) apply(c *candidate) {
	for _, h := range c.after {
		s.put(h)
	}
	if s.admission != nil && c.change.Action != MovePod {
		s.admission = s.admission.With(c.objects())
	}
	if s.feasibility != nil {
		last := c.after[len(c.after)-1]
		s.feasibility = s.feasibility.With(last.object(last.index(c.who)), last.node.Name)
	}
}

// changeOf returns a change of a member of a host without what it becomes.
func changeOf(a Action, h *host, i int) Change {
	pod := h.object(i)
	return Change{Action: a, Pod: h.members[i].pod.Name(), Workload: workloads.Of(pod), Node: h.node.Name}
}

// move returns the move of a member to another host, given the host that it leaves.
func move(from *host, i int, left, to *host) *candidate {
	c := &candidate{change: changeOf(MovePod, from, i), who: from.members[i].subject, before: []*host{from, to}}
	c.change.To = to.node.Name
	pod := from.model.Pods[i]
	moved := *pod.Pod
	moved.Spec.NodeName = to.node.Name
	pod.Pod = &moved
	c.after = []*host{left, to.with(pod, from.members[i])}
	return c
}

// resize returns a change of a container's request or limit, or of those of the pod as a whole where it has no name; nil where the pod
// cannot have these.
func resize(c Change, h *host, i int) *candidate {
	pod := h.object(i)
	changed := disruption.Resized(pod, []disruption.ContainerCPU{c.CPU()})
	if c.Container == "" {
		var err error
		if changed, err = cgroup.WithCPU(pod, c.Request, c.Limit); err != nil {
			return nil
		}
	}
	return &candidate{change: c, who: h.members[i].subject, before: []*host{h}, after: []*host{h.changed(i, h.model.WithObject(i, changed))}}
}

// request returns another request of a member, nil where it would be the same: that of the container which requests most. A limit that is
// equal to it stays equal, so that the pod keeps its class.
func request(a Action, h *host, i int, milliCPU int64) *candidate {
	pod := h.object(i)
	container, was, limit := cgroup.Largest(pod)
	if container == "" {
		return nil
	}
	c := changeOf(a, h, i)
	c.Container, c.Request = container, resource.NewMilliQuantity(was.MilliValue()+milliCPU-cgroup.MilliCPU(pod), resource.DecimalSI)
	if c.Request.Sign() <= 0 {
		return nil
	}
	if !was.IsZero() {
		c.WasRequest = was
	}
	if limit != nil && (limit.Cmp(*was) == 0 || limit.Cmp(*c.Request) < 0) {
		c.Limit, c.WasLimit = c.Request, limit
	}
	return resize(c, h, i)
}

// raiseRequest returns a request of what a member uses while it does not wait, or as much of that as the host has left.
func raiseRequest(h *host, i int) *candidate {
	_, limit := cgroup.CPU(h.object(i))
	needs, now := node.Needs(h.model.Pods[i].AtDevices()[0]), cgroup.MilliCPU(h.object(i))
	if limit != nil {
		needs = min(needs, limit.MilliValue())
	}
	if needs = min(needs, h.free+now); needs <= now {
		return nil
	}
	return request(RaiseRequest, h, i, needs)
}

// lowerRequest returns a request of what a member uses while it does not wait, if it requests more.
func lowerRequest(h *host, i int) *candidate {
	needs, now := node.Needs(h.model.Pods[i].AtDevices()[0]), cgroup.MilliCPU(h.object(i))
	if needs <= 0 || needs >= now {
		return nil
	}
	return request(LowerRequest, h, i, needs)
}

// raiseLimits returns limits of a member that hold it back no more, each alone.
func raiseLimits(h *host, i int) (all []*candidate) {
	m := h.members[i]
	for k := range m.pod.Limits {
		l := &m.pod.Limits[k]
		adds := m.exact.limited[l.Container]
		if l.MilliCPU == 0 || adds-m.less < observed.WorthAtLeast {
			continue
		}
		milliCPU, stretch := l.Enough()
		if milliCPU <= l.MilliCPU || l.Stretch <= stretch {
			continue
		}
		if c := raiseLimit(h, i, l.Container, milliCPU); c != nil {
			c.less = adds * (l.Stretch - stretch) / (l.Stretch - 1)
			c.after[0].members[i].less += c.less
			all = append(all, c)
		}
	}
	return all
}

// raiseLimit returns another limit of a container, or of the pod as a whole or its only container where it has no name. A request that is
// equal to it stays equal as far as the host has room, so that the pod keeps its class.
func raiseLimit(h *host, i int, container string, milliCPU int64) *candidate {
	c := changeOf(RaiseLimit, h, i)
	c.Container, c.Limit = container, resource.NewMilliQuantity(milliCPU, resource.DecimalSI)
	of := cgroup.ContainerOf(h.object(i), container)
	if of == nil {
		_, c.WasLimit = cgroup.CPU(h.object(i))
		return resize(c, h, i)
	}
	was, request := of.Resources.Limits.Cpu(), of.Resources.Requests.Cpu()
	c.Container, c.WasLimit = of.Name, was
	if request.Cmp(*was) == 0 && milliCPU-was.MilliValue() <= h.free {
		c.Request, c.WasRequest = c.Limit, request
	}
	return resize(c, h, i)
}
