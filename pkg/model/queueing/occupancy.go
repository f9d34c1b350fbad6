package queueing

// occupancy lists the states of busy servers: how many are in each phase of service.
// A state is given by the phases from the second on, the rest of the busy servers being
// in the first. So states have the same numbers whatever the number of busy servers j,
// and those with j are the first of the list, size[j].
type occupancy struct {
	counts     [][]int // [state][phase − 1] servers
	total      []int   // [state] servers in all phases but the first
	more, less [][]int // [state][phase − 1]: the state with one server more, and less, in that phase; −1 if there is none (yet)
	size       []int   // [j] states with j busy servers
}

// newOccupancy returns the one state without busy servers.
func newOccupancy(phases int) *occupancy {
	return &occupancy{counts: [][]int{make([]int, phases-1)}, total: []int{0}, more: [][]int{none(phases - 1)}, less: [][]int{none(phases - 1)}, size: []int{1}}
}

// grow adds the states with one more busy server: C(servers + phases − 1, phases − 1)
// in all.
func (o *occupancy) grow() {
	first, index := 0, map[string]int{}
	if j := len(o.size); j > 1 {
		first = o.size[j-2]
	}
	for n := first; n < o.size[len(o.size)-1]; n++ {
		for i := range o.counts[n] {
			o.link(n, i, index)
		}
	}
	o.size = append(o.size, len(o.counts))
}

func none(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// link finds or adds the state with one server more in a phase.
func (o *occupancy) link(n, i int, index map[string]int) {
	counts := append([]int(nil), o.counts[n]...)
	counts[i]++
	key := make([]rune, len(counts))
	for k, c := range counts {
		key[k] = rune(c)
	}
	at, known := index[string(key)]
	if !known {
		at = len(o.counts)
		index[string(key)] = at
		o.counts = append(o.counts, counts)
		o.total = append(o.total, o.total[n]+1)
		o.more, o.less = append(o.more, none(len(counts))), append(o.less, none(len(counts)))
	}
	o.more[n][i], o.less[at][i] = at, n
}

// servers returns how many of j busy servers are in a phase.
func (o *occupancy) servers(state, phase, j int) int {
	if phase == 0 {
		return j - o.total[state]
	}
	return o.counts[state][phase-1]
}

// with returns the state with one server more in a phase.
func (o *occupancy) with(state, phase int) int {
	if phase == 0 {
		return state
	}
	return o.more[state][phase-1]
}

// without returns the state with one server less in a phase, in which there is one.
func (o *occupancy) without(state, phase int) int {
	if phase == 0 {
		return state
	}
	return o.less[state][phase-1]
}
