package runqueue

import (
	"maps"
	"math"
	"time"
)

// Group is a control group of the cpu controller: the inode number of its directory. Groups that the kernel makes for sessions
// (autogroup) are 0.
type Group uint64

// Idle stands in for a group while a processor runs nothing, though a thread waits: on the way to be switched to, or to be moved.
const Idle Group = math.MaxUint64

// Pair is a group whose threads wait, and one whose threads run meanwhile.
type Pair struct{ Waiting, Running Group }

// Account is where the time of threads went. The sums are over threads.
type Account struct {
	// Run is for how long threads ran.
	Run map[Group]time.Duration
	// Waited is for how long threads could run, and others ran on their processor.
	Waited map[Pair]time.Duration
	// Throttled is for how long threads could run, and the limit of their group, or of one above it, held them back.
	Throttled map[Group]time.Duration
}

func newAccount() Account {
	return Account{map[Group]time.Duration{}, map[Pair]time.Duration{}, map[Group]time.Duration{}}
}

// Since returns what was added to an account after an earlier one.
func (a Account) Since(earlier Account) Account {
	return Account{since(a.Run, earlier.Run), since(a.Waited, earlier.Waited), since(a.Throttled, earlier.Throttled)}
}

func since[K comparable](now, earlier map[K]time.Duration) map[K]time.Duration {
	left := make(map[K]time.Duration, len(now))
	for key, d := range now {
		if d -= earlier[key]; d > 0 {
			left[key] = d
		}
	}
	return left
}

func (a Account) clone() Account {
	return Account{maps.Clone(a.Run), maps.Clone(a.Waited), maps.Clone(a.Throttled)}
}

// kind is the kind of an event.
type kind uint32

const (
	switched kind = iota + 1 // from a thread to the next
	woken                    // a thread is put into the queue of a processor
	migrated                 // a thread moves to the queue of another processor
)

// event is what the scheduler did, as the programs in the kernel write it.
type event struct {
	At   int64 // nanoseconds of the monotonic clock
	Kind kind
	CPU  uint32
	// One is the thread that is switched from, woken or migrated; Next the one that is switched to.
	One, Next side
	// Preempted is 1 if the thread that is switched from could run on, and State is not 0 if it sleeps unless it was preempted.
	Preempted, State uint32
}

// side is a thread in an event, with what its group is doing on the processor, which is told of switches only.
type side struct {
	Group  Group
	Thread uint32
	// Limits is how many limits hold the group back now, and Throttled for how long any has, up to the last time that they ended, in
	// nanoseconds.
	Limits    uint32
	Throttled int64
}

// ledger is kept of the events of all processors. Those of one processor must come in the order in which they happened, and then
// every moment of a thread that waits is in the account once.
type ledger struct {
	account Account
	cpus    map[uint32]*processor
	waits   map[uint32]*processor // where each thread waits
}

// processor is a processor and its queue.
type processor struct {
	known   bool // a switch was seen, so that it is known what runs
	thread  uint32
	running Group
	settled int64            // until when the account has what happened here
	waiting map[uint32]Group // the groups of the threads that wait here
	held    map[Group]*held  // those that a limit holds back here
}

// held is a group that a limit began to hold back on a processor. When that ends, the kernel does not say; how long it was, it does,
// once a thread of the group runs again. Until then it is open which part of the waiting was for the limit: the first.
type held struct {
	since, counted int64 // by the clock, and by the kernel's sum
	waits          []wait
}

// wait is a stretch of time for which threads of a group waited while those of another ran.
type wait struct {
	from, to int64
	running  Group
	threads  int64
}

func newLedger() *ledger {
	return &ledger{newAccount(), map[uint32]*processor{}, map[uint32]*processor{}}
}

func (l *ledger) cpu(number uint32) *processor {
	p := l.cpus[number]
	if p == nil {
		p = &processor{waiting: map[uint32]Group{}, held: map[Group]*held{}}
		l.cpus[number] = p
	}
	return p
}

// add adds an event.
func (l *ledger) add(e *event) {
	p := l.cpu(e.CPU)
	l.settle(p, e.At)
	switch e.Kind {
	case switched:
		l.limit(p, &e.One, e.At)
		l.limit(p, &e.Next, e.At)
		l.leave(e.Next.Thread, e.At)
		l.leave(e.One.Thread, e.At) // it ran: the kernel leaves out an event that happens within another one, and so the switch to it
		if e.One.Thread != 0 && (e.Preempted != 0 || e.State == 0) {
			l.enter(&e.One, p, e.At)
		}
		p.known, p.thread, p.running = true, e.Next.Thread, e.Next.Group
		if p.thread == 0 {
			p.running = Idle
		}
	case woken:
		// One that was about to sleep may still run, or wait.
		if runs := p.known && p.thread == e.One.Thread; !runs && l.waits[e.One.Thread] == nil {
			l.enter(&e.One, p, e.At)
		}
	case migrated:
		if l.waits[e.One.Thread] != nil {
			l.enter(&e.One, p, e.At)
		}
	}
}

// enter has a thread wait on a processor, and nowhere else.
func (l *ledger) enter(one *side, p *processor, at int64) {
	l.leave(one.Thread, at)
	p.waiting[one.Thread] = one.Group
	l.waits[one.Thread] = p
}

// leave ends the waiting of a thread, if it does.
func (l *ledger) leave(thread uint32, at int64) {
	if p := l.waits[thread]; p != nil {
		l.settle(p, at)
		delete(p.waiting, thread)
		delete(l.waits, thread)
	}
}

// settle accounts what happened on a processor until a time.
func (l *ledger) settle(p *processor, until int64) {
	from := p.settled
	if until <= from {
		return // the events of several processors may overtake each other
	}
	p.settled = until
	if !p.known {
		return
	}
	if p.running != Idle {
		l.account.Run[p.running] += time.Duration(until - from)
	}
	threads := map[Group]int64{}
	for _, group := range p.waiting {
		threads[group]++
	}
	for group, n := range threads {
		w := wait{from, until, p.running, n}
		if h := p.held[group]; h != nil {
			h.waits = append(h.waits, w)
		} else {
			l.waited(group, w)
		}
	}
}

func (l *ledger) waited(group Group, w wait) {
	l.account.Waited[Pair{group, w.running}] += time.Duration(w.threads * (w.to - w.from))
}

// limit takes what an event says of the limits of a group on a processor.
func (l *ledger) limit(p *processor, s *side, at int64) {
	h := p.held[s.Group]
	switch {
	case s.Limits > 0 && h == nil:
		p.held[s.Group] = &held{since: at, counted: s.Throttled}
	case s.Limits == 0 && h != nil:
		delete(p.held, s.Group)
		until := h.since + s.Throttled - h.counted
		for _, w := range h.waits {
			limited, free := w, w
			limited.to, free.from = min(w.to, until), max(w.from, until)
			if limited.to > limited.from {
				l.account.Throttled[s.Group] += time.Duration(w.threads * (limited.to - limited.from))
			}
			if free.to > free.from {
				l.waited(s.Group, free)
			}
		}
	}
}

// until returns the account of all that happened until a time, but for what groups waited that are being held back.
func (l *ledger) until(at int64) Account {
	for _, p := range l.cpus {
		l.settle(p, at)
	}
	return l.account.clone()
}
