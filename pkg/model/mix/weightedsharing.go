package mix

import (
	"cmp"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// This file approximates how jobs of unequal weights share the processor, fast enough for a replay: see
// [contention.PredictSharing] for the slow way.
//
// The probability of a set A of threads at the processor is taken to be the product form of equal shares,
//
//	P(A) ∝ Π_{n=1}^{|A|} max(1, n/c) · Π_{k∈A} θ_k,
//
// with odds θ such that each thread arrives as often as it leaves at the share that its weight gives it. With equal weights θ_k is
// the ratio of the mean time of a visit to the time elsewhere, and this is exact. With n threads present, a thread gets the
// average share of water-filling: the other n − 1 are drawn with the probabilities of P, and their total share is at its mean, or
// one standard deviation more or less. These shares are then adjusted so that all threads together take all that there is, and
// each gets at least its water-filling share with all threads present.
//
// A job with a limit is throttled for as long as brings its usage down to the limit, which is the shorter the longer it
// waits, and not at all where the others leave it less.

// threadClass is equal threads of jobs that share the processor.
type threadClass struct {
	weight   float64 // of a job, above 0
	away     float64 // how long a thread is elsewhere per unit of its service, at least 0, when its job is not throttled
	round    float64 // how long that and the time at the processor are at least, by the limit of its job; 0 for no limit
	held     float64 // how long a thread is throttled where shares are equal
	jobs     int
	siblings int // other threads of the same job

	odds    float64 // log θ
	present float64 // probability that one thread is there
	rate    float64 // mean share of a thread present, at most 1
}

func (c *threadClass) threads() int { return c.jobs * (1 + c.siblings) }

// elsewhere returns how long a thread is elsewhere per unit of its service, throttled or not, that has a mean share.
func (c *threadClass) elsewhere(rate float64) float64 { return max(minAway, c.away, c.round-1/rate) }

// weightedSharing solves how some classes share a number of servers. It is scratch memory for one after the other.
type weightedSharing struct {
	servers float64
	classes []threadClass
	weights []float64     // of a thread of each class
	number  []float64     // probability of each number of threads at the processor
	given   [][]float64   // of each class, by the number, the probability that one thread of it is there
	share   []float64     // of each class, with one number
	least   []float64     // share of a thread of each class while it is present, with any others
	order   []int         // classes by falling weight of a thread
	sums    []partialSums // of the classes before each one in that order, with one number
	hint    int           // number of classes that were found to have a server per thread
	chance  []float64
	all     poissonbinomial.Distribution
	without poissonbinomial.Distribution
	sets    threadSets
}

// partialSums are sums over threads, given how likely each is there: of the probabilities and of weights by them, of their
// variances and third central moments, times powers of the weight.
type partialSums struct {
	count, weight, squares float64
	variance, skew         [4]float64
}

const (
	// sharingRounds bounds how often the odds are moved, and sharingTolerance is by which fraction the rates of the last round may
	// differ: far less than the error of the model.
	sharingRounds, sharingTolerance = 60, 5e-3
	// oddsStep is which part of its way a thread's odds go in a round, maxOddsStep the farthest.
	oddsStep, maxOddsStep = 0.8, 3
	// rare is the probability of numbers of threads that do not matter.
	rare = 1e-6
	// minAway is the shortest time elsewhere: less is none.
	minAway = 1e-6
	// leastShare is the smallest share that counts as above zero.
	leastShare = math.SmallestNonzeroFloat64 * 1e16
	// scalings bounds the steps to the factor of shares.
	scalings = 50
)

// stretches returns the ratio of a thread's time at the processor to its service, by class: with equal shares and the throttling
// of that case, with the weights and limits of the classes, and its maximum.
func (p *weightedSharing) stretches(servers int, list []threadClass) (equal, weighted, most []float64) {
	p.reset(servers, list)
	equal, weighted, most = make([]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))
	limited := false
	for l := range list {
		list[l].start(list[l].away + list[l].held)
		limited = limited || list[l].round > 0
	}
	p.measure(true)
	for l := range list {
		equal[l] = 1 / list[l].rate
	}
	if limited { // throttling grows from zero to the required value
		for l := range list {
			list[l].start(list[l].away)
		}
	}
	for range sharingRounds {
		p.setWeights()
		p.measure(false)
		if p.balance() < sharingTolerance {
			break
		}
	}
	for l := range list {
		weighted[l], most[l] = 1/list[l].rate, 1/p.least[l]
	}
	return equal, weighted, most
}

// reset makes room for some classes, and finds the least share of each.
func (p *weightedSharing) reset(servers int, list []threadClass) {
	p.servers, p.classes = float64(servers), list
	n := 0
	p.order, p.hint = p.order[:0], 0
	for l := range list {
		p.order = append(p.order, l)
		n += list[l].threads()
	}
	p.given = slices.Grow(p.given[:0], len(list))[:len(list)]
	p.number = slices.Grow(p.number[:0], n+1)[:n+1]
	p.sums = slices.Grow(p.sums[:0], len(list)+1)[:len(list)+1]
	for _, values := range []*[]float64{&p.share, &p.least, &p.chance, &p.weights} {
		*values = slices.Grow((*values)[:0], len(list))[:len(list)]
	}
	for l := range list {
		p.weights[l] = list[l].weight / float64(1+list[l].siblings)
	}
	p.sortByWeight()
	weight := 0.0 // of the threads of a class and of all lighter ones
	for _, l := range slices.Backward(p.order) {
		weight += float64(list[l].threads()) * p.weights[l]
		p.least[l] = p.weights[l] / weight
	}
	left := p.servers
	for _, l := range p.order { // water-filling: the heaviest have a server first
		p.least[l] = max(leastShare, min(1, p.least[l]*left))
		left = max(0, left-float64(list[l].threads())*p.least[l])
	}
}

// start has the threads of a class be where they would be if they never waited.
func (c *threadClass) start(away float64) {
	c.odds, c.present = -math.Log(max(minAway, away)), 1/(1+away)
}

// setWeights sets the weight of a thread of each class: that of its job, divided among the siblings present.
func (p *weightedSharing) setWeights() {
	for l := range p.classes {
		c := &p.classes[l]
		p.weights[l] = c.weight / (1 + float64(c.siblings)*c.present)
	}
	p.sortByWeight()
}

// weightAmong returns the weight of a thread of a class with the given number of threads present.
func (p *weightedSharing) weightAmong(l, there int) float64 {
	if c := &p.classes[l]; c.jobs == 1 {
		return c.weight / float64(max(1, there))
	}
	return p.weights[l]
}

func (p *weightedSharing) sortByWeight() {
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(p.weights[b], p.weights[a]) })
}

// distribute computes the distribution of the number of threads at the processor, and the probability of each thread's presence
// given that number.
func (p *weightedSharing) distribute() {
	// Only the product of a factor per thread and θ matters: choosing it so that the odds are close to those of presence keeps the
	// sums below within range.
	shift, threads := 0.0, 0.0
	for l := range p.classes {
		c := &p.classes[l]
		present := max(rare, min(1-rare, c.present))
		shift += float64(c.threads()) * (math.Log(present/(1-present)) - c.odds)
		threads += float64(c.threads())
	}
	shift /= threads
	p.all.Reset()
	for l := range p.classes {
		p.chance[l] = 1 / (1 + math.Exp(-p.classes[l].odds-shift))
		for range p.classes[l].threads() {
			p.all.Add(p.chance[l])
		}
	}
	base := p.all.Probability()
	factor, largest := 0.0, math.Inf(-1) // log of the factor of the number
	for k := range p.number {
		if k > 0 {
			factor += math.Log(max(1, float64(k)/p.servers)) - shift
		}
		p.number[k] = math.Inf(-1)
		if k < len(base) && base[k] > 0 {
			p.number[k] = math.Log(base[k]) + factor
			largest = max(largest, p.number[k])
		}
	}
	total := 0.0
	for k := range p.number {
		p.number[k] = math.Exp(p.number[k] - largest)
		total += p.number[k]
	}
	for k := range p.number {
		if p.number[k] /= total; p.number[k] < rare {
			p.number[k] = 0
		}
	}
	for l := range p.classes {
		given := slices.Grow(p.given[l][:0], len(p.number))[:len(p.number)]
		p.without.Without(&p.all, p.chance[l])
		others := p.without.Probability()
		for k := range given {
			given[k] = 0
			if k > 0 && k-1 < len(others) && k < len(base) && base[k] > 0 {
				given[k] = min(1, p.chance[l]*others[k-1]/base[k])
			}
		}
		p.given[l] = given
	}
}

// measure sets how likely each thread is there and which share it has, an equal one or by its weight.
func (p *weightedSharing) measure(equal bool) {
	if fewSets(p.classes) {
		p.sets.measure(p, equal)
	} else {
		p.distribute()
		p.add(equal)
	}
	for l := range p.classes {
		c := &p.classes[l]
		if c.present > 0 {
			c.rate /= c.present
		}
		if c.present == 0 || c.rate > 1 {
			c.rate = 1
		}
		c.rate = max(c.rate, leastShare)
	}
}

// add sets the sums, over the numbers of threads, of how likely each thread is there and of its share.
func (p *weightedSharing) add(equal bool) {
	for l := range p.classes {
		p.classes[l].present, p.classes[l].rate = 0, 0
	}
	for k, probability := range p.number {
		if probability == 0 || k == 0 {
			continue
		}
		if equal {
			for l := range p.share {
				p.share[l] = min(1, p.servers/float64(k))
			}
		} else {
			p.divide(k)
		}
		for l := range p.classes {
			there := probability * p.given[l][k]
			p.classes[l].present += there
			p.classes[l].rate += there * p.share[l]
		}
	}
}

// balance moves the odds of each thread towards where it comes as often as it leaves, and returns by which fraction,
// at most, that differs.
func (p *weightedSharing) balance() float64 {
	worst := 0.0
	for l := range p.classes {
		c := &p.classes[l]
		present := max(math.SmallestNonzeroFloat64, min(1-1e-12, c.present))
		due := -math.Log(c.rate*c.elsewhere(c.rate)) - math.Log(present/(1-present))
		worst = max(worst, math.Abs(due))
		c.odds += oddsStep * max(-maxOddsStep, min(maxOddsStep, due))
	}
	return worst
}

// divide sets the mean share that a thread of each class has when k threads are there.
func (p *weightedSharing) divide(k int) {
	if float64(k) <= p.servers {
		for l := range p.share {
			p.share[l] = 1
		}
		return
	}
	var s partialSums
	for at, l := range p.order {
		p.sums[at] = s
		n, q, w := float64(p.classes[l].threads()), p.given[l][k], p.weights[l]
		v := n * q * (1 - q)
		s.count += n * q
		s.weight += n * q * w
		s.squares += v * q * (1 - q)
		third := v * (1 - 2*q)
		for i := range s.skew {
			s.variance[i] += v
			s.skew[i] += third
			v, third = v*w, third*w
		}
	}
	p.sums[len(p.order)] = s
	for at := range p.order {
		p.share[p.order[at]] = p.shareOf(at, k)
	}
	p.conserve(k)
}

// conserve scales the shares of k threads, more than there are servers, until they take all servers together, each thread at least
// its guaranteed share and at most a server. The sum grows with the factor, piecewise linearly (Newton's method between bounds).
func (p *weightedSharing) conserve(k int) {
	factor, low, high := 1.0, 0.0, math.Inf(1)
	for range scalings {
		taken, slope := 0.0, 0.0
		for l, share := range p.share {
			there := float64(p.classes[l].threads()) * p.given[l][k]
			scaled := max(p.least[l], min(1, share*factor))
			taken += there * scaled
			if scaled == share*factor {
				slope += there * share
			}
		}
		if math.Abs(taken-p.servers) <= roundings*p.servers {
			break
		}
		if taken > p.servers {
			high = factor
		} else {
			low = factor
		}
		if factor += (p.servers - taken) / slope; !(factor > low && factor < high) { // also where the slope is 0
			factor = min(2*low, low+(high-low)/2)
			if low == 0 {
				factor = high / 2
			}
		}
	}
	for l, share := range p.share {
		p.share[l] = max(p.least[l], min(1, share*factor))
	}
}

// shareOf returns the mean share of a thread, of the class at a place in the order, when k threads are there.
func (p *weightedSharing) shareOf(at, k int) float64 {
	t := p.threadAt(at, k)
	level, capped := t.level(1)
	take := t.capped(capped) + t.weighing(capped)*level
	deviation, skewness := t.spread(level, capped)
	if deviation == 0 {
		return t.shareAt(1)
	}
	// Two values with that mean, deviation and skewness, within the range of the others' total share.
	deviation /= take
	root := math.Sqrt(skewness*skewness + 4)
	low, high := 1-deviation*(root-skewness)/2, 1+deviation*(root+skewness)/2
	last := p.order[len(p.order)-1]
	others := float64(k-1) / take
	lowest, highest := others*min(1, p.weights[last]*level), others*min(1, p.weights[p.order[0]]*level)
	if low < lowest {
		low = lowest
		high = 1 + deviation*deviation/(1-low)
	}
	if high > highest {
		high = highest
		low = max(lowest, 1-deviation*deviation/(high-1))
	}
	if !(low < 1 && high > 1) {
		return t.shareAt(1)
	}
	often := (1 - low) / (high - low) // of the higher
	return (1-often)*t.shareAt(low) + often*t.shareAt(high)
}

// thread is one thread that is at the processor with k − 1 others.
type thread struct {
	*weightedSharing
	at          int // of its class, in the order
	weight      float64
	probability float64 // that it is there, before it is known to be
	variance    float64 // of that, and
	shift       float64 // reduction of the presence of each other, per unit of its variance
}

func (p *weightedSharing) threadAt(at, k int) thread {
	l := p.order[at]
	q := p.given[l][k]
	t := thread{weightedSharing: p, at: at, weight: p.weights[l], probability: q, variance: q * (1 - q)}
	if rest := p.sums[len(p.order)].variance[0] - t.variance; rest > roundings {
		t.shift = (1 - q) / rest
	}
	return t
}

// roundings bounds the rounding error of a variance of 0.
const roundings = 1e-9

// capped returns the mean number of other threads present of the classes before a place in the order, and weighing the total
// weight of those from there on.
func (t *thread) capped(until int) float64 {
	s := &t.sums[until]
	count, variance := s.count, s.variance[0]
	if t.at < until {
		count -= t.probability
		variance -= t.variance
	}
	return count - t.shift*variance
}

func (t *thread) weighing(from int) float64 {
	s, all := &t.sums[from], &t.sums[len(t.order)]
	weight, covariance := all.weight-s.weight, all.variance[1]-s.variance[1]
	if t.at >= from {
		weight -= t.probability * t.weight
		covariance -= t.variance * t.weight
	}
	return max(0, weight-t.shift*covariance)
}

// room reports whether all are satisfied at the level at which threads of a class, given by its place in the order, just have a
// server, when the others take the given multiple of their average.
func (t *thread) room(place int, times float64) bool {
	full := 1 / t.weights[t.order[place]]
	return times*(t.capped(place)+t.weighing(place)*full)+min(1, t.weight*full) < t.servers
}

// level returns at which level the processor is shared: a thread has its weight times that, at most a server. Those
// of the classes before a place in the order have one.
func (t *thread) level(times float64) (level float64, capped int) {
	for capped = t.hint; capped < len(t.order) && t.room(capped, times); {
		capped++
	}
	for capped > 0 && !t.room(capped-1, times) {
		capped--
	}
	t.hint = capped
	if capped == len(t.order) {
		return 1 / t.weights[t.order[capped-1]], capped
	}
	room, weight := t.servers-times*t.capped(capped), times*t.weighing(capped)
	if t.at < capped {
		room--
	} else {
		weight += t.weight
	}
	if weight <= 0 {
		return 1 / t.weights[t.order[capped]], capped
	}
	return max(0, room/weight), capped
}

func (t *thread) shareAt(times float64) float64 {
	level, capped := t.level(times)
	if t.at < capped {
		return 1
	}
	return min(1, t.weight*level)
}

// spread returns the standard deviation and the skewness of the others' total share at a level, given their number: of the part of
// each share that does not follow from the number.
func (t *thread) spread(level float64, capped int) (deviation, skewness float64) {
	s, all := &t.sums[capped], &t.sums[len(t.order)]
	variance, squares := all.variance[0]-t.variance, all.squares-t.variance*t.variance
	if variance <= roundings || squares <= 0 {
		return 0, 0
	}
	number := variance * variance / squares // of others that may be there or not
	if number <= 1+roundings {
		return 0, 0
	}
	takes := min(1, t.weight*level)
	if t.at < capped {
		takes = 1
	}
	var second, third [4]float64 // of the others, by powers of their share
	mine, cube, power := t.variance, t.variance*(1-2*t.probability), 1.0
	for i := range third {
		second[i] = s.variance[0] + (all.variance[i]-s.variance[i])*power - mine
		third[i] = s.skew[0] + (all.skew[i]-s.skew[i])*power - cube
		mine, cube, power = mine*takes, cube*takes, power*level
	}
	b := second[1] / variance
	correction := min(2, number/(number-1)) // as for a sample
	square := (second[2] - b*second[1]) * correction
	if square <= roundings*roundings {
		return 0, 0
	}
	deviation = math.Sqrt(square)
	cubed := (third[3] - b*(3*third[2]-b*(3*third[1]-b*third[0]))) * correction * correction
	return deviation, cubed / (square * deviation)
}
