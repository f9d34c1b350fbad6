package queueing

import (
	"encoding/binary"
	"math"
	"slices"
)

// warmStart is the part of a solution that the next one can start from.
type warmStart struct {
	keys          []string // see keys; per class of the network
	tolerance     float64
	approximation *approximation
	linearizer    *linearizer // nil after Schweitzer
	from          []int       // per class of the reduced network, the class of Start's reduced network; −1 if it is new
	stations      []int       // and so per station
}

// keys returns, for each class, all that its dilation depends on, as bytes. Copies are left out:
// their number does not distinguish classes.
func (n *Network) keys() []string {
	var all []byte
	ends := make([]int, len(n.Classes))
	for k := range n.Classes {
		c := &n.Classes[k]
		neutral := c.neutral()
		for i := range n.Servers {
			all = binary.LittleEndian.AppendUint64(all, math.Float64bits(c.demand(i)/neutral))
			if c.Pressures != nil {
				all = binary.LittleEndian.AppendUint64(all, math.Float64bits(c.pressure(i)/neutral))
			}
			if c.Sensitivities != nil {
				all = binary.LittleEndian.AppendUint64(all, math.Float64bits(c.exposure(i)))
			}
			if c.Threads != nil {
				all = binary.LittleEndian.AppendUint64(all, uint64(c.threads(i)))
			}
		}
		ends[k] = len(all)
	}
	keys, text, start := make([]string, len(ends)), string(all), 0
	for k, end := range ends {
		keys[k] = text[start:end]
		start = end
	}
	return keys
}

// match finds the classes and stations of the reduced network in that of another
// solution, and reports whether there are any of both.
func (w *warmStart) match(c *closed, old *Solution) bool {
	if old == nil || old.warm == nil {
		return false
	}
	before := old.warm.approximation.closed
	byKey := make(map[string]int, before.n)
	for r, k := range before.class {
		byKey[old.warm.keys[k]] = r
	}
	found := false
	w.from = make([]int, c.n)
	for r, k := range c.class {
		w.from[r] = -1
		if from, ok := byKey[w.keys[k]]; ok {
			w.from[r] = from
			found = true
		}
	}
	w.stations = make([]int, c.m)
	for i, station := range c.station {
		w.stations[i] = slices.Index(before.station, station)
	}
	return found && slices.Max(w.stations) >= 0
}

// startFrom starts from the presences of another solution, and reports whether
// it could. New classes wait at each station like those known there.
func (a *approximation) startFrom(w *warmStart, old *Solution) bool {
	if !w.match(a.closed, old) {
		w.from = nil
		return false
	}
	before := old.warm.approximation
	for r, from := range w.from {
		if from < 0 {
			continue
		}
		for i, station := range w.stations {
			if station < 0 {
				continue
			}
			x, y := r*a.m+i, from*before.m+station
			a.presence[x], a.waits[x] = before.presence[y], before.waits[y]
			if a.servers[i] == before.servers[station] {
				a.expansions[x], a.tilts[x] = before.expansions[y], before.tilts[y]
			}
		}
	}
	a.placeNew(w.from)
	for r := range a.dilation {
		a.dilation[r] = a.response(r, a.waits)
	}
	a.sum()
	return true
}

// placeNew puts classes that come from nowhere where they would be if they waited
// at each station as the others do on average.
func (a *approximation) placeNew(from []int) {
	waits := make([]float64, a.m)
	for i := range waits {
		there := 0.0
		for r := range from {
			if x := r*a.m + i; from[r] >= 0 {
				waits[i] += a.presence[x] * a.waits[x]
				there += a.presence[x]
			}
		}
		if there > 0 {
			waits[i] /= there
		}
	}
	for r := range from {
		if from[r] >= 0 {
			continue
		}
		copy(a.waits[r*a.m:], waits)
		dilation := a.response(r, a.waits)
		for x := r * a.m; x < (r+1)*a.m; x++ {
			a.presence[x] = min(1, (a.pressure[x]+a.waiting(x)*a.waits[x])/dilation)
		}
	}
}

// startFrom starts from the effect of a job's absence in another solution.
func (l *linearizer) startFrom(w *warmStart, old *Solution) {
	if w.from == nil || old.warm.linearizer == nil {
		return
	}
	before := old.warm.linearizer
	for j, fromJ := range w.from {
		for k, fromK := range w.from {
			if fromJ < 0 || fromK < 0 {
				continue
			}
			now, then := l.lacks[j][k*l.m:(k+1)*l.m], before.lacks[fromJ][fromK*before.m:(fromK+1)*before.m]
			for i, station := range w.stations {
				if station >= 0 {
					now[i] = then[station]
				}
			}
		}
	}
	l.known = before.n == l.n && slices.Equal(before.station, l.station) && slices.Equal(before.servers, l.servers) &&
		!slices.Contains(w.from, -1) && old.warm.tolerance <= w.tolerance
	for k := 0; k < l.n && l.known; k++ {
		from := w.from[k]
		l.known = slices.Equal(l.threads[k*l.m:(k+1)*l.m], before.threads[from*l.m:(from+1)*l.m])
	}
}
