package findings

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/node"
)

const (
	// A remedy must win the part worthIt of a pod's excess dilation, and worthAtLeast if that is more.
	worthIt      = 0.2
	worthAtLeast = 0.05
	// noticed is a change of another pod's dilation that is worth a word.
	noticed = 0.05
	// tried is the number of nodes, the cheapest by their prices, to which a move is predicted.
	tried = 3
)

// victim is a pod that is slowed down, for which a remedy is looked for.
type victim struct {
	*resident

	cluster *cluster
	causes  causes
	now     *contention.Prediction
	waited  float64 // by the model
	beside  *beside
	best    Remedy
	score   float64 // of the best
	unknown string  // what is not known of a move that may help more
}

// bestRemedy returns what helps a pod best.
func (c *cluster) bestRemedy(r *resident, why causes) (Remedy, error) {
	p := &victim{resident: r, causes: why, cluster: c, best: Remedy{Action: Leave, Dilation: r.dilation}}
	if r.index < 0 {
		return p.best, nil
	}
	w, _, err := r.waits()
	if err != nil {
		return p.best, err
	}
	p.now, p.waited, p.beside = r.node.prediction, w.total(), r.beside()
	for _, try := range []func() error{p.raiseLimit, p.raiseRequest, p.move, p.moveNeighbour} {
		if err := try(); err != nil {
			return p.best, err
		}
	}
	p.best.Problem = p.unknown
	return p.best, nil
}

// propose takes a remedy that is better than the best one so far. The simplest is proposed first.
func (p *victim) propose(remedy Remedy) {
	if score, is := p.better(remedy); is {
		p.best, p.score = remedy, score
	}
}

// proposeMove proposes to move a pod to a node that takes it. One that may take it is no remedy, and what is not known is kept.
func (p *victim) proposeMove(remedy Remedy, to taker) {
	if to.unknown == "" {
		p.propose(remedy)
	} else if _, is := p.better(remedy); is && p.unknown == "" {
		p.unknown = fmt.Sprintf("whether %s may move to %s: %s", remedy.Pod, to.name, to.unknown)
	}
}

// better reports whether a remedy helps and leaves no other pod about as badly off as this one was, and wins more for all pods
// together than the best one so far, and how much it wins.
func (p *victim) better(remedy Remedy) (score float64, is bool) {
	win := p.dilation - remedy.Dilation
	score = win
	worst := remedy.Dilation
	for _, o := range remedy.Others {
		score += o.Now - o.Then
		if o.Then > o.Now {
			worst = max(worst, o.Then)
		}
	}
	least := max(worthAtLeast, worthIt*(p.dilation-1))
	return score, win >= least && p.dilation-worst >= least && (p.best.Action == Leave || score >= p.score+noticed)
}

// dilationAfter returns the dilation of the pod if it waits differently in the model, and limits or unclear causes add less, given the
// observations: the model says in what proportion waiting changes.
func (p *victim) dilationAfter(w *waiting, less float64) float64 {
	dilation := 1 + p.causes.sum(ByHypervisor, ByUnclear, ByLimit) - less
	scale := 1.0
	if explained := p.causes.sum(ByNeighbour, BySystem, ByItself); p.waited > 0 && explained > 0 {
		scale = explained / p.waited
	}
	return dilation + scale*w.total()
}

// cleared returns by how much the waiting that is not clear becomes less where what runs beside the pod runs for another time, in seconds
// of its threads: it is taken to be shared by all that runs, in proportion.
func (p *victim) cleared(beside float64) float64 {
	if p.beside.total <= 0 {
		return 0
	}
	return p.causes.sum(ByUnclear) * (1 - min(1, max(0, beside)/p.beside.total))
}

// changed returns the pods of a node of which the dilation changes, but for one: as much as the model says, from the observed
// ones.
func (n *observedNode) changed(now, then *contention.Prediction, after []node.Pod, but *corev1.Pod) []Change {
	var list []Change
	for _, r := range n.pods {
		if r.index < 0 || r.pod == but {
			continue
		}
		k := slices.IndexFunc(after, func(p node.Pod) bool { return p.Namespace == r.pod.Namespace && p.Name == r.pod.Name })
		if k < 0 {
			continue
		}
		before, will := r.dilation, r.dilation+then.Dilations[k]-now.Dilations[r.index]
		if will < before {
			will = before - r.waited()*(now.Dilations[r.index]-then.Dilations[k])/(now.Dilations[r.index]-1)
		}
		if will-before >= noticed || before-will >= noticed {
			list = append(list, Change{r.name(), before, will})
		}
	}
	return list
}

// raiseLimit proposes limits that hold the pod back no more, each alone.
func (p *victim) raiseLimit() error {
	for _, l := range p.limits {
		i := slices.IndexFunc(p.causes, func(c Cause) bool { return c.Kind == ByLimit && c.Container == l.container })
		if i < 0 || l.milliCPU == 0 || p.causes[i].Dilation < worthAtLeast {
			continue
		}
		milliCPU, stretch := l.enough()
		if milliCPU <= l.milliCPU || l.stretch <= stretch {
			continue
		}
		less := p.causes[i].Dilation * (l.stretch - stretch) / (l.stretch - 1)
		remedy := Remedy{Action: RaiseLimit, Container: l.container, Limit: resource.NewMilliQuantity(milliCPU, resource.DecimalSI)}
		if err := p.withLimit(remedy, less); err != nil {
			return err
		}
	}
	return nil
}

// withLimit predicts another limit, because of which limits add less.
func (p *victim) withLimit(remedy Remedy, less float64) error {
	if remedy.Container == "" {
		changed, err := p.node.model.WithCPU(p.index, nil, remedy.Limit)
		if err != nil {
			return err
		}
		return p.predict(changed, remedy, less)
	}
	return p.predict(p.node.model.WithLimit(p.index, remedy.Container, *remedy.Limit), remedy, less)
}

// raiseRequest proposes to request the CPU that the pod uses while it does not wait, or as much of it as the node has left.
func (p *victim) raiseRequest() error {
	request, limit := cgroup.CPU(p.pod)
	needs := node.Needs(p.node.model.Pods[p.index].AtDevices()[0])
	if limit != nil {
		needs = min(needs, limit.MilliValue())
	}
	free := node.FreeCPU(p.node.object, p.node.all)
	free.Add(*request)
	if needs = min(needs, free.MilliValue()); needs <= request.MilliValue() {
		return nil
	}
	remedy := Remedy{Action: RaiseRequest, Request: resource.NewMilliQuantity(needs, resource.DecimalSI)}
	changed, err := p.node.model.WithCPU(p.index, remedy.Request, nil)
	if err != nil {
		return err
	}
	return p.predict(changed, remedy, 0)
}

// predict predicts a remedy that makes the node another one, and because of which limits add less.
func (p *victim) predict(changed *node.Node, remedy Remedy, less float64) error {
	then, err := changed.Predict()
	if err != nil {
		return err
	}
	w, err := waitingOf(changed, p.index, then)
	if err != nil {
		return err
	}
	remedy.Dilation = p.dilationAfter(w, less)
	remedy.Others = p.node.changed(p.now, then, changed.Pods, p.pod)
	p.propose(remedy)
	return nil
}

// move proposes to move the pod to another node.
func (p *victim) move() error {
	if !movable(p.pod) {
		return nil
	}
	left := p.node.model.Without(p.index)
	without, err := left.Predict()
	if err != nil {
		return err
	}
	others := p.node.changed(p.now, without, left.Pods, p.pod)
	pod := p.node.model.Pods[p.index]
	for _, target := range p.cluster.takers(p.resident) {
		there, before, then, err := target.taking(pod)
		if err != nil {
			return err
		}
		w, err := waitingOf(there, len(there.Pods)-1, then)
		if err != nil {
			return err
		}
		p.proposeMove(Remedy{
			Action: MovePod, Pod: p.name(), Node: target.name, Dilation: p.dilationAfter(w, p.cleared(p.beside.elsewhere(p.resident, target.observedNode))),
			Others: slices.Concat(others, target.changed(before, then, there.Pods, p.pod)),
		}, target)
	}
	return nil
}

// culprit returns the neighbour without which the pod would wait least, of those that can be moved, and by how much what is not
// clear would add less; nil if there is none.
func (p *victim) culprit() (worst *resident, cleared float64) {
	adds := make(map[string]float64, len(p.causes))
	for _, c := range p.causes {
		if c.Kind == ByNeighbour {
			adds[c.Pod] = c.Dilation
		}
	}
	most := 0.0
	for k, other := range p.node.pods {
		if other == p.resident || other.index < 0 || !movable(other.pod) {
			continue
		}
		less := p.cleared(p.beside.total - p.beside.by[k])
		if wins := adds[other.name()] + less; wins > most {
			worst, most, cleared = other, wins, less
		}
	}
	return worst, cleared
}

// moveNeighbour proposes to move the neighbour that is most in the way.
func (p *victim) moveNeighbour() error {
	culprit, cleared := p.culprit()
	if culprit == nil {
		return nil
	}
	left := p.node.model.Without(culprit.index)
	without, err := left.Predict()
	if err != nil {
		return err
	}
	at := p.index
	if culprit.index < at {
		at--
	}
	w, err := waitingOf(left, at, without)
	if err != nil {
		return err
	}
	here := p.node.changed(p.now, without, left.Pods, p.pod)
	pod := p.node.model.Pods[culprit.index]
	for _, target := range p.cluster.takers(culprit) {
		there, before, then, err := target.taking(pod)
		if err != nil {
			return err
		}
		others := slices.Concat(here, target.changed(before, then, there.Pods, culprit.pod))
		was, will := culprit.dilation, culprit.dilation-culprit.waited()+then.Dilations[len(there.Pods)-1]-1
		if will-was >= noticed || was-will >= noticed {
			others = append(others, Change{culprit.name(), was, will})
		}
		p.proposeMove(Remedy{Action: MoveNeighbour, Pod: culprit.name(), Node: target.name, Dilation: p.dilationAfter(w, cleared), Others: others}, target)
	}
	return nil
}

// taking returns a node with one more pod, and how its pods fare before and then.
func (n *observedNode) taking(pod node.Pod) (there *node.Node, before, then *contention.Prediction, err error) {
	if before, err = n.predict(); err != nil {
		return nil, nil, nil, err
	}
	there = n.model.With(pod)
	then, err = there.Predict()
	return there, before, then, err
}

// taker is a node that takes a pod, or may: then unknown says what is not known.
type taker struct {
	*observedNode

	unknown string
}

// takers returns the nodes that would take a pod, or may, the cheapest first: those that were observed, no more than are tried.
func (c *cluster) takers(r *resident) []taker {
	if r.takers == nil && c.feasibility != nil {
		r.takers = c.findTakers(r)
	}
	return r.takers
}

// findTakers asks the scheduler about the cheapest nodes first, since most nodes take most pods.
func (c *cluster) findTakers(r *resident) []taker {
	type priced struct {
		*observedNode
		cost float64
	}
	var all []priced
	pod := r.node.model.Pods[r.index]
	for _, n := range c.nodes {
		if n.problem == "" && n != r.node {
			all = append(all, priced{n, n.price(pod)})
		}
	}
	slices.SortStableFunc(all, func(a, b priced) int { return cmp.Compare(a.cost, b.cost) })
	fit, takers := c.feasibility.Of(r.pod), []taker{}
	for _, n := range all {
		if f := fit(n.name); f.Refused == "" {
			if takers = append(takers, taker{n.observedNode, f.Unknown}); len(takers) == tried {
				break
			}
		}
	}
	return takers
}
