package inflation

import (
	"cmp"
	"math"
	"slices"
)

const (
	// alike is the correlation from which on two neighbours cannot be told apart.
	alike = 0.9
	// leastLeft is the part of a neighbour's variation that its pods' own load must leave: what goes with half of it may go with all of it where
	// units are counted late. leastVaries is the least variation, in processors.
	leastLeft, leastVaries = 0.5, 0.01
	// awayTo is up to which part of what a neighbour uses at most it is away. What makes all pods of a node slower, such as another virtual
	// machine, has its neighbours use more processors for the same work, but none that is away come.
	awayTo = 0.15
	// maxTested is how many groups are tested, and perSlots for how many slots one.
	maxTested, perSlots = 8, 8
	// minChanges is how often a group must have come or gone: once is a coincidence.
	minChanges = 2
)

// group is neighbours that cannot be told apart.
type group struct {
	members []int
	cpus    []float64 // of all of them, by interval
	left    []float64 // of the regressor, without the pods' own load
	size    float64
	// leftOfLevels is what is left of a regressor that has but two levels beside each pod: as while the group is there, and as while it is away.
	leftOfLevels []float64

	perCPU Value
	named  bool
}

// attribute returns the groups of neighbours that were tested, and says of the others why they were not.
func (s *series) attribute(r *reference, untested map[int]Untested) []*group {
	clear(untested)
	if s.slots < MinTested {
		return nil
	}
	own := s.ownLoad(r)
	groups := s.groups(r, own, untested)
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.size, a.size) })
	tested := min(len(groups), maxTested, s.slots/perSlots)
	for _, g := range groups[tested:] {
		for _, j := range g.members {
			untested[j] = TooMany
		}
	}
	groups = groups[:tested]
	if tested > 0 {
		s.test(own, groups)
	}
	return groups
}

// partial takes out of columns what others explain: that of each pod, and some columns.
type partial struct {
	weights    []float64
	pods       int
	pod        []int
	expected   []float64
	orthogonal [][]float64
}

// ownLoad returns what takes the load of the pods themselves out of columns.
func (s *series) ownLoad(r *reference) *partial {
	p := &partial{weights: r.weights, pods: s.pods, pod: s.pod, expected: r.expected}
	middle := median(r.expected)
	ones, squares := make([]float64, len(s.cpu)), make([]float64, len(s.cpu))
	for i, e := range r.expected {
		ones[i] = 1
		if middle > 0 {
			squares[i] = e * e / middle
		}
	}
	for _, column := range [][]float64{ones, squares} {
		before := dot(column, column, p.weights)
		left := p.out(column)
		if size := dot(left, left, p.weights); size > 1e-6*before {
			p.orthogonal = append(p.orthogonal, left)
		}
	}
	return p
}

// out returns what is left of a column.
func (p *partial) out(column []float64) []float64 {
	left := p.withoutPods(column)
	for range 2 { // twice is enough: Giraud, Langou and Rozložník, Computers & Mathematics with Applications 50, 2005
		for _, o := range p.orthogonal {
			c := dot(left, o, p.weights) / dot(o, o, p.weights)
			for i := range left {
				left[i] -= c * o[i]
			}
		}
	}
	return left
}

// withoutPods returns what is left of a column without the mean of each pod, as a multiple of what is expected.
func (p *partial) withoutPods(column []float64) []float64 {
	sums, squares := make([]float64, p.pods), make([]float64, p.pods)
	for i, k := range p.pod {
		sums[k] += p.weights[i] * p.expected[i] * column[i]
		squares[k] += p.weights[i] * p.expected[i] * p.expected[i]
	}
	left := make([]float64, len(column))
	for i, k := range p.pod {
		left[i] = column[i]
		if squares[k] > 0 {
			left[i] -= sums[k] / squares[k] * p.expected[i]
		}
	}
	return left
}

// groups returns the neighbours that can be tested, in groups of those that cannot be told apart.
func (s *series) groups(r *reference, own *partial, untested map[int]Untested) []*group {
	var groups []*group
	scale := dot(r.expected, r.expected, r.weights)
	for j, cpus := range s.neighbours {
		varying := own.withoutPods(r.regressor(cpus))
		left := own.out(varying)
		before := dot(varying, varying, own.weights)
		levels, comes := s.comesAndGoes(cpus)
		switch {
		case !(before > leastVaries*leastVaries*scale):
			untested[j] = Constant
		case dot(left, left, own.weights) < leastLeft*before:
			untested[j] = WithLoad
		case !comes:
			untested[j] = Staying
		default:
			g := &group{members: []int{j}, cpus: cpus, left: left, leftOfLevels: own.out(own.withoutPods(r.regressor(levels)))}
			g.size = dot(g.left, g.left, own.weights)
			groups = append(groups, g)
		}
	}
	return merge(groups, own)
}

// comesAndGoes returns how many processors a neighbour would use if beside each pod it used as much all the time that it is there, and as little
// while it is away, and whether it comes and goes beside some. How much it is slowed down itself is not in these levels.
func (s *series) comesAndGoes(cpus []float64) (levels []float64, some bool) {
	its := make([][]float64, s.pods)
	for i, n := range cpus {
		its[s.pod[i]] = append(its[s.pod[i]], n)
	}
	from := make([]float64, s.pods) // how many processors on it is there
	for k, of := range its {
		from[k] = awayTo * quantile(of, 0.98)
	}
	var sums, numbers [2][]float64 // away, and there
	for there := range sums {
		sums[there], numbers[there] = make([]float64, s.pods), make([]float64, s.pods)
	}
	is := make([]int, len(cpus))
	for i, n := range cpus {
		k := s.pod[i]
		if n > from[k] {
			is[i] = 1
		}
		sums[is[i]][k] += n
		numbers[is[i]][k]++
	}
	levels = make([]float64, len(cpus))
	for i := range cpus {
		k := s.pod[i]
		levels[i] = sums[is[i]][k] / numbers[is[i]][k]
		some = some || numbers[0][k] > 0 && numbers[1][k] > 0
	}
	return levels, some
}

// regressor returns what a neighbour would add if each processor added what is expected.
func (r *reference) regressor(cpus []float64) []float64 {
	column := make([]float64, len(cpus))
	for i, n := range cpus {
		column[i] = r.expected[i] * n
	}
	return column
}

// merge joins the groups whose members correlate, by way of others too.
func merge(singles []*group, own *partial) []*group {
	root := make([]int, len(singles))
	for i := range root {
		root[i] = i
	}
	for i := range singles {
		for k := range i {
			if dot(singles[i].left, singles[k].left, own.weights) > alike*math.Sqrt(singles[i].size*singles[k].size) {
				from, to := root[i], root[k]
				for l := range root {
					if root[l] == from {
						root[l] = to
					}
				}
			}
		}
	}
	joined := map[int]*group{}
	var groups []*group
	for i, single := range singles {
		g := joined[root[i]]
		if g == nil {
			n := len(single.cpus)
			g = &group{cpus: make([]float64, n), left: make([]float64, n), leftOfLevels: make([]float64, n)}
			joined[root[i]] = g
			groups = append(groups, g)
		}
		g.members = append(g.members, single.members...)
		for t := range g.cpus {
			g.cpus[t] += single.cpus[t]
			g.left[t] += single.left[t]
			g.leftOfLevels[t] += single.leftOfLevels[t]
		}
	}
	for _, g := range groups {
		slices.Sort(g.members)
		g.size = dot(g.left, g.left, own.weights)
	}
	return groups
}

// test estimates the effects of groups, and decides which are named.
func (s *series) test(own *partial, groups []*group) {
	y := own.out(s.cpu)
	active := slices.Clone(groups)
	for len(active) > 0 {
		columns := make([][]float64, len(active))
		for k, g := range active {
			columns[k] = g.left
		}
		fitted, is := regress(columns, y, own.weights, s.slot, s.slots)
		if !is {
			return // no effect is known
		}
		lowest := 0
		for k, g := range active {
			margin := fitted.margin(k, NamedConfidence, len(groups))
			c := fitted.coefficients[k]
			g.perCPU = Value{max(0, c), max(0, c-margin), max(0, c+margin)}
			if c < fitted.coefficients[lowest] {
				lowest = k
			}
		}
		if fitted.coefficients[lowest] >= 0 {
			break
		}
		active = slices.Delete(active, lowest, lowest+1)
	}
	// How much a neighbour uses while it is there may be how much it is slowed down itself: that it is there must go with the inflation, too.
	columns := make([][]float64, len(active))
	for k, g := range active {
		columns[k] = g.leftOfLevels
	}
	byLevels, is := regress(columns, y, own.weights, s.slot, s.slots)
	if !is {
		return
	}
	for k, g := range active {
		there, changes := g.presence(s)
		byPresence := byLevels.coefficients[k] > byLevels.margin(k, Confidence, 1)
		g.named = g.perCPU.Low > 0 && byPresence && changes >= minChanges && g.perCPU.Value*there >= Noticeable
	}
}

// presence returns how many processors a group uses while it is there, and how often it came or went beside a pod: it is there from half of its
// range on.
func (g *group) presence(s *series) (there float64, changes int) {
	low, high := slices.Repeat([]float64{math.Inf(1)}, s.pods), make([]float64, s.pods)
	for i, n := range g.cpus {
		k := s.pod[i]
		low[k], high[k] = min(low[k], n), max(high[k], n)
	}
	state := make([]int, s.pods) // 1 there, −1 away, 0 not known
	sum, number := 0.0, 0
	for i, n := range g.cpus {
		k, is := s.pod[i], -1
		if high[k] == low[k] {
			continue
		}
		if n >= (low[k]+high[k])/2 {
			is = 1
			sum, number = sum+n-low[k], number+1
		}
		if state[k] == -is {
			changes++
		}
		state[k] = is
	}
	return sum / max(1, float64(number)), changes
}
