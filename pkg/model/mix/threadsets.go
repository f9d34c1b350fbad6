package mix

import "math"

// threadSets looks at each set of threads of some classes that can be at the processor, where there are few: see weightedSharing. It is
// scratch memory.
type threadSets struct {
	chance []float64   // of each set
	terms  [][]float64 // by class and by the number of its threads present: its part of the logarithm of the probability
	there  []int       // threads of each class in a set
	share  []float64   // of a thread of each class in a set
}

// maxSets is the largest number of sets that are enumerated.
const maxSets = 128

// fewSets reports whether some classes have few sets of threads.
func fewSets(list []threadClass) bool {
	sets := 1
	for l := range list {
		if sets *= list[l].threads() + 1; sets > maxSets {
			return false
		}
	}
	return true
}

// measure sets the sums, over all sets, of how likely each thread is there and of its share, an equal one or by its weight.
func (s *threadSets) measure(p *weightedSharing, equal bool) {
	s.weigh(p)
	for l := range p.classes {
		p.classes[l].present, p.classes[l].rate = 0, 0
	}
	set := 0
	s.each(p.classes, func(threads int) {
		s.divide(p, threads, equal)
		for l, n := range s.there {
			part := s.chance[set] * float64(n) / float64(p.classes[l].threads())
			p.classes[l].present += part
			p.classes[l].rate += part * s.share[l]
		}
		set++
	})
}

// weigh sets the chance of each set.
func (s *threadSets) weigh(p *weightedSharing) {
	s.terms = s.terms[:0]
	for l := range p.classes {
		n := p.classes[l].threads()
		terms := make([]float64, n+1)
		for k := 1; k <= n; k++ { // in C(n, k) ways
			terms[k] = terms[k-1] + p.classes[l].odds + math.Log(float64(n-k+1)/float64(k))
		}
		s.terms = append(s.terms, terms)
	}
	s.chance = s.chance[:0]
	largest := math.Inf(-1)
	s.each(p.classes, func(threads int) {
		sum := 0.0
		for l, n := range s.there {
			sum += s.terms[l][n]
		}
		for k := 1; k <= threads; k++ {
			sum += math.Log(max(1, float64(k)/p.servers))
		}
		s.chance = append(s.chance, sum)
		largest = max(largest, sum)
	})
	total := 0.0
	for a, logarithm := range s.chance {
		s.chance[a] = math.Exp(logarithm - largest)
		total += s.chance[a]
	}
	for a := range s.chance {
		s.chance[a] /= total
	}
}

// each calls visit for each set, with the number of its threads.
func (s *threadSets) each(list []threadClass, visit func(threads int)) {
	s.there = s.there[:0]
	for range list {
		s.there = append(s.there, 0)
	}
	for threads := 0; ; {
		visit(threads)
		l := 0
		for l < len(list) && s.there[l] == list[l].threads() {
			threads -= s.there[l]
			s.there[l] = 0
			l++
		}
		if l == len(list) {
			return
		}
		s.there[l]++
		threads++
	}
}

// divide sets the share of a thread of each class in the set, by water-filling: those that would get a server or more have one, and
// the others share the rest by weight.
func (s *threadSets) divide(p *weightedSharing, threads int, equal bool) {
	s.share = s.share[:0]
	for range s.there {
		s.share = append(s.share, min(1, p.servers/float64(max(1, threads))))
	}
	if equal || float64(threads) <= p.servers {
		return
	}
	clear(s.share)
	for left := p.servers; ; {
		weight, capped := 0.0, 0
		for l, n := range s.there {
			if s.share[l] < 1 {
				weight += float64(n) * p.weightAmong(l, n)
			}
		}
		for l, n := range s.there {
			if n > 0 && s.share[l] < 1 && p.weightAmong(l, n)*left >= weight {
				s.share[l] = 1
				capped += n
			}
		}
		if left -= float64(capped); capped > 0 {
			continue
		}
		for l, n := range s.there {
			if n > 0 && s.share[l] < 1 {
				s.share[l] = max(0, p.weightAmong(l, n)*left/weight)
			}
		}
		return
	}
}
