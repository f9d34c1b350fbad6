package mix

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Mixes predicts the mixes of jobs that occur on the nodes of one class, each mix once: dilations
// depend only on the loading vectors present (for types with a single job, scaling its demands
// changes no queue), so a replay of a million jobs meets the same few mixes again and again. When a
// job starts or ends, finding the next mix is one pointer lookup.
//
// Mixes is not safe for concurrent use.
type Mixes struct {
	class   NodeClass
	options queueing.Options
	types   map[*JobType]*localType
	mixes   map[string]*Mix
	size    int // parts of all mixes
	empty   *Mix
	err     error

	weighted   bool // the threads of some type have another weight than 1
	interferes bool // some type has an effect

	walk    walk            // scratch
	sharing weightedSharing // scratch
	list    []threadClass   // scratch
}

// localType is a type of jobs, converted to the nodes of the class.
type localType struct {
	*JobType
	number     int    // among the types, in the order in which they were met
	key        string // identifies its vector
	vector     loading.Vector
	weight     float64 // of a thread at the processor; 0 if it is never there
	stretch    float64
	slack      float64        // fraction of its time alone on the node that its limit holds it back for: less once it waits
	alone      float64        // see Alone
	burst      float64        // at the processor, in seconds, 0 if that is not known
	wokenAlone float64        // wait of a thread for a processor that is due to it, when the job is alone, over its service
	network    queueing.Class // its class in a closed network, without copies
	candidate  *price.Candidate
}

// Part is the jobs of one type in a mix.
type Part struct {
	Type   *JobType
	Copies int // at least 1
}

// NewMixes returns a cache of the mixes on nodes of a class, predicted with the
// options as by [contention.Predict]. Start in the options is not used.
func NewMixes(class NodeClass, options queueing.Options) (*Mixes, error) {
	if err := class.Validate(); err != nil {
		return nil, err
	}
	options.Start = nil
	m := &Mixes{class: class, options: options}
	m.Forget()
	return m, nil
}

// Empty returns the mix of no jobs.
func (m *Mixes) Empty() *Mix { return m.empty }

// Of returns the mix of some jobs, given by their types.
func (m *Mixes) Of(types ...*JobType) *Mix {
	var parts []part
	for _, t := range types {
		l := m.local(t)
		at := slices.IndexFunc(parts, func(p part) bool { return p.localType == l })
		if at < 0 {
			at = len(parts)
			parts = append(parts, part{localType: l})
		}
		parts[at].Copies++
	}
	return m.ordered(parts)
}

// ordered returns the mix of some parts that are in any order.
func (m *Mixes) ordered(parts []part) *Mix {
	slices.SortFunc(parts, func(a, b part) int { return a.compare(b.localType) })
	return m.remember(parts)
}

// Size returns how much is remembered: the number of parts of all mixes, each
// worth about 200 bytes.
func (m *Mixes) Size() int { return m.size }

// Forget drops all mixes and types. A mix that is still in use must be replaced by the result of
// [Mixes.Recall] for it; otherwise it keeps the dropped mixes in memory.
func (m *Mixes) Forget() {
	m.types, m.mixes, m.size = map[*JobType]*localType{}, map[string]*Mix{}, 0
	m.walk = walk{}
	m.empty = m.remember(nil)
}

// Recall returns the mix of the same jobs as another one, from before Forget.
func (m *Mixes) Recall(before *Mix) *Mix {
	parts := make([]part, len(before.parts))
	for k, p := range before.parts {
		parts[k] = part{localType: m.local(p.JobType), Copies: p.Copies}
	}
	return m.ordered(parts)
}

// Err returns the first error of a prediction, or of an invalid vector, since the
// beginning; nil if there is none. What is predicted after an error is worth
// nothing.
func (m *Mixes) Err() error { return m.err }

// Stretch returns the ratio of a type's neutral time on the nodes of the class to its own time on a
// node of speed 1: 1 where they have speed 1, and a server for each thread, and the type needs no
// more than its limit.
func (m *Mixes) Stretch(t *JobType) float64 { return m.local(t).stretch }

// local returns the type converted to these nodes.
func (m *Mixes) local(t *JobType) *localType {
	if l, ok := m.types[t]; ok {
		return l
	}
	l := &localType{JobType: t, number: len(m.types), key: string(t.Vector.AppendKey(nil)), stretch: 1, alone: 1}
	vector := t.Vector
	for last := len(vector) - 1; last >= len(m.class.Servers) && vector[last].Idle(); last-- {
		vector = vector[:last] // no job has a demand at the missing resources
	}
	if err := vector.ValidateOn(m.class.Servers); err != nil {
		m.fail(fmt.Errorf("jobs of type %q: %w", t.Name, err))
	} else if vector.OnLaterDevice() {
		m.fail(fmt.Errorf("jobs of type %q: are assigned to a device that is not the first: give each device a resource of its own", t.Name))
	} else if err := t.validateShare(); err != nil {
		m.fail(fmt.Errorf("jobs of type %q: %w", t.Name, err))
	} else {
		var held float64
		l.vector, l.stretch = m.class.On(loading.InEffect([]loading.Vector{vector}, m.class.Servers)[0])
		if l.vector, held, err = contention.Throttled(l.vector, m.class.Processor, t.Limit, m.class.Servers, m.options); err != nil {
			m.fail(fmt.Errorf("jobs of type %q alone: %w", t.Name, err))
		}
		if held > 1 {
			l.stretch *= held
			l.slack = 1 - 1/held
		}
		if held > 1 || t.Limit > 0 && l.vector.Interferes() {
			l.key = string(binary.LittleEndian.AppendUint64([]byte(l.key), math.Float64bits(t.Limit)))
		}
		if l.vector.Uses(m.class.Processor) {
			l.weight = l.vector[m.class.Processor].ThreadWeight(t.weight())
		}
		l.network = contention.QueueingClass(l.vector)
		if l.alone, err = contention.SolveAlone(l.vector, m.class.Servers, m.options); err != nil {
			m.fail(fmt.Errorf("jobs of type %q alone: %w", t.Name, err))
			l.alone = 1
		}
		l.stretch *= l.alone
		l.wakeAlone(m.class.Servers, m.class.Processor)
	}
	m.weighted = m.weighted || l.weight != 0 && l.weight != 1
	m.interferes = m.interferes || l.vector.Interferes()
	m.types[t] = l
	return l
}

// compare orders types by their content, so that no result, not even its last digit, depends on
// which type was met first.
func (l *localType) compare(other *localType) int {
	return cmp.Or(strings.Compare(l.key, other.key), cmp.Compare(l.weight, other.weight), cmp.Compare(l.number, other.number))
}

func (m *Mixes) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// remember returns the mix of some parts, in order, and keeps them.
func (m *Mixes) remember(parts []part) *Mix {
	var key []byte
	for _, p := range parts {
		key = binary.AppendUvarint(key, uint64(p.number))
		key = binary.AppendUvarint(key, uint64(p.Copies))
	}
	if x, ok := m.mixes[string(key)]; ok {
		return x
	}
	x := &Mix{of: m, parts: parts}
	for k := range parts {
		parts[k].dilation, parts[k].without = 0, nil // as nothing is known yet
		x.jobs += parts[k].Copies
	}
	m.mixes[string(key)] = x
	m.size += len(parts) + 1
	return x
}

// Mix is the jobs that run on a node: a multiset of types. It is known by its
// address: equal mixes of one [Mixes] are the same.
type Mix struct {
	of    *Mixes
	parts []part // in order of the types
	jobs  int

	// As far as asked for.
	solved      bool
	with        map[*JobType]*Mix // with one job more
	utilization []float64         // per resource
	busiest     float64           // the largest of them
	prices      *price.Prices
}

// part is the jobs of one type in a mix.
type part struct {
	*localType
	Copies int

	// As far as asked for.
	dilation float64
	without  *Mix // with one of the jobs less
}

// Jobs returns the number of jobs.
func (x *Mix) Jobs() int { return x.jobs }

// Parts returns the jobs by type, in an order that depends on their vectors; types
// of equal vectors in that in which the [Mixes] met them.
func (x *Mix) Parts() []Part {
	parts := make([]Part, len(x.parts))
	for k, p := range x.parts {
		parts[k] = Part{p.JobType, p.Copies}
	}
	return parts
}

// With returns the mix with one more job of a type.
func (x *Mix) With(t *JobType) *Mix {
	if y, ok := x.with[t]; ok {
		return y
	}
	return x.change(t, 1)
}

// Without returns the mix with one job less of a type, which must be in it.
func (x *Mix) Without(t *JobType) *Mix {
	if y := x.part(t).without; y != nil {
		return y
	}
	return x.change(t, -1)
}

// change finds the mix that has one job more or less, and notes the way.
func (x *Mix) change(t *JobType, by int) *Mix {
	l := x.of.local(t)
	parts := make([]part, 0, len(x.parts)+1)
	at, present := slices.BinarySearchFunc(x.parts, l, func(p part, l *localType) int { return p.compare(l) })
	parts = append(parts, x.parts[:at]...)
	copies := by
	rest := x.parts[at:]
	if present {
		copies += rest[0].Copies
		rest = rest[1:]
	}
	if copies > 0 {
		parts = append(parts, part{localType: l, Copies: copies})
	}
	parts = append(parts, rest...)
	y := x.of.remember(parts)
	if by > 0 {
		x.link(t, y)
	} else {
		y.link(t, x)
	}
	return y
}

// link notes that a mix has one job of a type more.
func (x *Mix) link(t *JobType, more *Mix) {
	if x.with == nil {
		x.with = map[*JobType]*Mix{}
	}
	x.with[t], more.part(t).without = more, x
}

// Dilation returns the dilation of the jobs of a type, at least 1. The type must
// be in the mix.
func (x *Mix) Dilation(t *JobType) float64 {
	x.solve()
	return x.part(t).dilation
}

// part returns the jobs of a type, which there must be.
func (x *Mix) part(t *JobType) *part { return &x.parts[x.find(t)] }

// find returns the part that holds the jobs of a type, which there must be.
func (x *Mix) find(t *JobType) int {
	for k := range x.parts {
		if x.parts[k].JobType == t {
			return k
		}
	}
	panic("contention: no job of type " + t.Name + " is in the mix")
}

// first returns where the jobs of a type begin among all jobs.
func (x *Mix) first(t *JobType) int {
	jobs := 0
	for _, p := range x.parts[:x.find(t)] {
		jobs += p.Copies
	}
	return jobs
}

// Utilization returns which fraction of the servers of a resource is busy, from 0
// to 1: Σ loading·threads over the jobs' responses in own times, by the number of
// servers. It is more
// than 1 where jobs that press less than they load do not get in each other's way.
func (x *Mix) Utilization(resource int) float64 {
	x.solve()
	return x.utilization[resource]
}

// MaxUtilization returns the utilization of the busiest resource.
func (x *Mix) MaxUtilization() float64 {
	x.solve()
	return x.busiest
}

// Price returns ΔW ≥ 0, the growth of the node's total wait, to first order, with one more job of a
// type: see [price.Prices.Of].
func (x *Mix) Price(t *JobType) float64 {
	l := x.of.local(t)
	if l.candidate == nil {
		l.candidate = price.NewShareCandidate(l.vector, x.of.class.Processor, loading.Share{Weight: l.Weight}).Throttled(l.slack)
	}
	if x.prices == nil {
		x.prices = x.load().Prices()
	}
	return x.prices.Of(l.candidate)
}

// load returns the load of the jobs, with shares only where those of threads may differ.
func (x *Mix) load() *price.Load {
	class := &x.of.class
	load := price.NewLoad(class.Servers)
	if x.of.weighted {
		load = price.NewSharedLoad(class.Servers, class.Processor)
	}
	for _, p := range x.parts {
		for range p.Copies {
			if x.of.weighted {
				load.AddShare(p.vector, loading.Share{Weight: p.Weight})
			} else {
				load.Add(p.vector)
			}
		}
	}
	return load
}

// solve predicts the mix, once.
func (x *Mix) solve() {
	if !x.solved {
		x.solved = true
		x.predict()
	}
}

// predict fills in dilations and utilizations.
func (x *Mix) predict() {
	servers := x.of.class.Servers
	x.utilization = make([]float64, len(servers))
	classes := x.classes()
	slowing := x.inflate(classes)
	defer func() { x.slow(classes, slowing) }()
	solution := x.solution(classes)
	defer func() { x.wake(classes, solution) }()
	if solution != nil && (x.unequal() || throttled(classes)) {
		x.predictUnequal(classes, solution)
		return
	}
	for c, class := range classes {
		response := class.alone
		if solution != nil && waitsForOthers(classes, solution, c) {
			response = max(response, class.vector.Response(solution.Waits[c]))
		}
		for k := class.first; k < class.end; k++ {
			x.parts[k].dilation = response / class.alone
		}
		for i, d := range class.vector {
			x.utilization[i] += float64(class.copies*d.ThreadCount()) * d.Loading / (response * float64(servers[i]))
		}
	}
	x.setBusiest()
}

func (x *Mix) setBusiest() {
	for _, u := range x.utilization {
		x.busiest = max(x.busiest, u)
	}
}

// class is the parts of a mix from first to before end, whose vectors are equal.
type class struct {
	*localType
	first, end, copies int
}

// classes returns the parts by their vectors. Those that are equal are next to each
// other.
func (x *Mix) classes() []class {
	classes := make([]class, 0, len(x.parts))
	for k, p := range x.parts {
		if k == 0 || p.key != x.parts[k-1].key {
			classes = append(classes, class{localType: p.localType, first: k})
		}
		last := &classes[len(classes)-1]
		last.end = k + 1
		last.copies += p.Copies
	}
	return classes
}

// waitsForOthers reports whether a job of a class waits for other jobs, and not only its
// threads for each other: see [contention.Prediction.compare].
func waitsForOthers(classes []class, solution *queueing.Solution, c int) bool {
	for i, d := range classes[c].vector {
		if d.Loading*solution.Waits[c][i] == 0 {
			continue
		}
		for k, other := range classes {
			if (k != c || other.copies > 1) && solution.Presences[k][i] > 0 {
				return true
			}
		}
	}
	return false
}

// solution solves the jobs of each class, as [contention.Predict] does, or returns nil after an error.
func (x *Mix) solution(classes []class) *queueing.Solution {
	m := x.of
	if m.err != nil {
		return nil
	}
	network := &queueing.Network{Servers: m.class.Servers, Classes: make([]queueing.Class, len(classes))}
	for c, class := range classes {
		network.Classes[c] = class.network
		network.Classes[c].Copies = class.copies
	}
	solution, err := queueing.Solve(network, m.options)
	if err != nil {
		m.fail(err)
		return nil
	}
	return solution
}
