package comparison

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

// SearchOptions bound a search.
type SearchOptions struct {
	// Width is how many nodes are tried for a pod: those that are cheapest for it to first order.
	Width int
	// Trials is the maximum number of moves and swaps that are tried.
	Trials int
	// Rand decides the order.
	Rand *rand.Rand
}

// Search looks for a placement of less total excess dilation, Σ (λ − 1), near another one: it moves a pod to another node, or
// swaps two pods, wherever that lowers the total by the judge and requests fit, until no such change lowers it further or
// all trials are used. A scheduler moves no pods and does not know which come next, so that it has less to choose from.
// The answer is never worse than the placement given, which is not changed.
func Search(of *scenario.Scenario, judge Judge, from Placement, options SearchOptions) (found Placement, changes int, err error) {
	s := &search{
		scenario: of, judge: judge, options: options, at: slices.Clone(from),
		jobs: jobsOf(of, func(a *scenario.Application) loading.Vector { return a.Vector }),
	}
	classes, err := mixesOf(of)
	if err != nil {
		return nil, 0, err
	}
	for n, pods := range from.byNode(of) {
		node := &searched{index: n, mixes: classes[of.Nodes[n].Size]}
		if err := s.set(node, pods); err != nil {
			return nil, 0, err
		}
		s.nodes = append(s.nodes, node)
	}
	var pods []int
	for i, n := range from {
		if n != Nowhere {
			pods = append(pods, i)
		}
	}
	for improved := true; improved; {
		improved = false
		options.Rand.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		for _, i := range pods {
			better, err := s.improve(i)
			if err != nil {
				return nil, 0, err
			}
			improved = improved || better
		}
	}
	return s.at, s.changes, nil
}

// search is a search that goes on.
type search struct {
	scenario *scenario.Scenario
	judge    Judge
	options  SearchOptions
	at       Placement
	jobs     map[*scenario.Application]*placement.Job
	nodes    []*searched
	trials   int
	changes  int
}

// searched is a node in a search.
type searched struct {
	index  int
	mixes  *mix.Mixes
	pods   []int
	excess float64
	mix    *mix.Mix
}

// improve looks for a change with a pod that lowers the total, and makes the first.
func (s *search) improve(pod int) (bool, error) {
	home := s.nodes[s.at[pod]]
	for _, other := range s.cheapest(pod, home) {
		if better, err := s.try(home, other, pod, Nowhere); better || err != nil {
			return better, err
		}
		for _, partner := range slices.Clone(other.pods) {
			if s.scenario.Pods[partner].Application == s.scenario.Pods[pod].Application {
				continue
			}
			if better, err := s.try(home, other, pod, partner); better || err != nil {
				return better, err
			}
		}
	}
	return false, nil
}

// cheapest returns the nodes to try.
func (s *search) cheapest(pod int, home *searched) []*searched {
	job := s.jobs[s.scenario.Pods[pod].Application]
	prices := map[*searched]float64{}
	var others []*searched
	for _, n := range s.nodes {
		if n != home {
			prices[n] = n.mix.Price(job.Type)
			others = append(others, n)
		}
	}
	slices.SortStableFunc(others, func(a, b *searched) int { return cmp.Compare(prices[a], prices[b]) })
	return others[:min(s.options.Width, len(others))]
}

// try moves a pod from home to another node, and if there is one a partner the other way, and keeps it so if that lowers the
// total.
func (s *search) try(home, other *searched, pod, partner int) (bool, error) {
	here := slices.DeleteFunc(slices.Clone(home.pods), func(i int) bool { return i == pod })
	there := append(slices.DeleteFunc(slices.Clone(other.pods), func(i int) bool { return i == partner }), pod)
	if partner != Nowhere {
		here = append(here, partner)
	}
	if s.trials >= s.options.Trials || !s.fit(other, there) || !s.fit(home, here) {
		return false, nil
	}
	s.trials++
	excessHere, err := s.excess(home, here)
	if err != nil {
		return false, err
	}
	excessThere, err := s.excess(other, there)
	if err != nil {
		return false, err
	}
	const gain = 1e-6 // less is the solver's error
	if excessHere+excessThere > home.excess+other.excess-gain {
		return false, nil
	}
	s.changes++
	s.at[pod] = other.index
	if partner != Nowhere {
		s.at[partner] = home.index
	}
	if err := s.set(home, here); err != nil {
		return false, err
	}
	return true, s.set(other, there)
}

// set sets the pods of a node.
func (s *search) set(n *searched, pods []int) (err error) {
	n.pods = pods
	n.mix = n.mixes.Empty()
	for _, i := range pods {
		n.mix = n.mix.With(s.jobs[s.scenario.Pods[i].Application].Type)
	}
	n.excess, err = s.excess(n, pods)
	return err
}

// excess returns the total excess dilation of pods on a node.
func (s *search) excess(n *searched, pods []int) (float64, error) {
	dilations, err := s.judge.Node(n.index, pods)
	sum := 0.0
	for _, d := range dilations {
		sum += d.Mean - 1
	}
	return sum, err
}

// fit reports whether a node has room for what pods request.
func (s *search) fit(n *searched, pods []int) bool {
	size := s.scenario.Nodes[n.index].Size
	cpu, memory := int64(size.Servers[scenario.CPU])*1000, size.MiB
	for _, i := range pods {
		a := s.scenario.Pods[i].Application
		cpu -= a.MilliCPU
		memory -= a.MiB
	}
	return cpu >= 0 && memory >= 0
}
