package probe

import (
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/probe/result"
)

// pause is the process that holds the namespaces of a pod.
const pause = 1

// watcher keeps account of the processes in a namespace, look by look. A look costs a
// few system calls for each measured thread; all processes are gone through only when
// ids have been given since the last look.
type watcher struct {
	proc      proc
	self      int
	processes map[int]*watched // by pid: those that were there when last gone through
	accounts  map[int]*account // by thread id, likewise
	newest    int              // the newest thread id, at the last look
	unseen    []int            // ids that were given before it to no thread that was there
	looked    int64            // when that was, 0 for never
	result    result.Watch     // with the CPUNanos and WaitNanos of closed accounts
	justEnded bool             // the last container has ended since the look before
	used      func() (usage, error)
	before    usage // when the first container began
}

// usage is what others than the containers have used of each of the processors that may
// be used, in the mean, in nanoseconds.
type usage struct {
	stolen   int64 // by a hypervisor
	observer int64
}

// watched is a process.
type watched struct {
	measured  bool
	container bool // the first process of a measured container
	met       bool // its state is known
	starting  bool // still the runtime's, not yet the container's
	ended     bool
}

// account is what a thread has used.
type account struct {
	process       int
	measured      bool
	ran, waited   int64 // at the last look
	ran0, waited0 int64 // before it was the container's
}

func newWatcher(p proc, self int, used func() (usage, error)) *watcher {
	return &watcher{proc: p, self: self, used: used, processes: map[int]*watched{}, accounts: map[int]*account{}, result: result.Watch{Complete: true}}
}

// running returns the containers' processes that have not ended.
func (w *watcher) running() (pids []int) {
	for pid, p := range w.processes {
		if p.container && !p.ended {
			pids = append(pids, pid)
		}
	}
	return pids
}

// look takes stock at a time.
func (w *watcher) look(now int64) error {
	newest, err := w.proc.newest() // first: what is newer may come later
	if err != nil {
		return err
	}
	if w.looked == 0 || newest != w.newest || len(w.unseen) > 0 {
		if err := w.survey(); err != nil {
			return err
		}
	}
	started, err := w.meet(now)
	if err != nil {
		return err
	}
	w.noteUnseen(newest, started)
	if err := w.charge(); err != nil {
		return err
	}
	w.looked = now
	return w.conclude(now)
}

// survey goes through all processes and their threads, for those that are new.
func (w *watcher) survey() error {
	pids, err := w.proc.processes()
	if err != nil {
		return err
	}
	slices.Sort(pids) // parents before children
	there := map[int]bool{}
	for _, pid := range pids {
		if _, ok := w.processes[pid]; !ok {
			p, err := w.proc.process(pid)
			if gone(err) {
				continue
			}
			if err != nil {
				return err
			}
			w.introduce(p)
		}
		there[pid] = true
		threads, err := w.proc.threads(pid)
		if err != nil && !gone(err) {
			return err
		}
		for _, thread := range threads {
			if _, ok := w.accounts[thread]; !ok {
				w.accounts[thread] = &account{process: pid, measured: w.processes[pid].measured}
			}
		}
	}
	for pid := range w.processes {
		if !there[pid] {
			delete(w.processes, pid)
		}
	}
	return nil
}

// introduce says what a process is that was not there before.
func (w *watcher) introduce(p process) {
	known := &watched{}
	w.processes[p.pid] = known
	switch later := p.pid > w.self; { // than the observer
	case p.pid == pause || p.pid == w.self:
	case p.parent == 0:
		known.measured, known.container = later, later
	case p.parent == pause: // an orphan
		known.measured = later
	default:
		parent, ok := w.processes[p.parent]
		known.measured = !ok || parent.measured
	}
	if known.measured && !known.container {
		w.result.Processes++
	}
}

// meet brings the states of the containers up to date, and reports whether one is being
// started, or was since the last look.
func (w *watcher) meet(now int64) (started bool, err error) {
	for pid, known := range w.processes {
		if !known.container || known.ended {
			continue
		}
		p, err := w.proc.process(pid)
		if gone(err) {
			delete(w.processes, pid)
			continue
		}
		if err != nil {
			return false, err
		}
		was := known.starting
		known.starting, known.ended = runtimes(p.command), p.ended
		if !known.starting && (was || !known.met) {
			w.result.Processes++
			if w.result.Begin == 0 {
				w.result.Begin = w.begin(p, was, now)
				if w.before, err = w.used(); err != nil {
					return false, err
				}
			}
		}
		started = started || known.starting || was || !known.met
		known.met = true
	}
	return started, nil
}

// begin returns when a container began that has done so since the last look.
func (w *watcher) begin(p process, wasStarting bool, now int64) int64 {
	if wasStarting {
		return w.looked + (now-w.looked)/2
	}
	return min(max(p.started+tick/2, w.looked), now)
}

// runtimes reports whether a command is that of a container runtime, which has made the
// process and will replace itself by the container's command.
func runtimes(command string) bool {
	return strings.HasPrefix(command, "runc:[") || command == "crun" || command == "youki"
}

// noteUnseen finds out whether threads have come and gone unseen: then no thread that is there
// has the number of their id. As one may have got its id but not be there yet, that is
// certain only at the next look. The threads of a container's runtime come and go, and
// do not matter.
func (w *watcher) noteUnseen(newest int, started bool) {
	for _, id := range w.unseen {
		if _, ok := w.accounts[id]; !ok {
			w.result.Complete = false
		}
	}
	w.unseen = nil
	if w.looked != 0 && !started {
		const many = 1000 // ids, from which on it does not matter which
		w.result.Complete = w.result.Complete && newest >= w.newest && newest-w.newest < many
		for id := w.newest + 1; id <= newest && w.result.Complete; id++ {
			if _, ok := w.accounts[id]; !ok {
				w.unseen = append(w.unseen, id)
			}
		}
	}
	w.newest = newest
}

// charge brings the accounts of measured threads up to date, and closes those of threads
// that are no more.
func (w *watcher) charge() error {
	for thread, a := range w.accounts {
		p, ok := w.processes[a.process]
		if ok && !a.measured {
			continue
		}
		ran, waited, err := w.proc.times(a.process, thread)
		if gone(err) {
			w.bank(a)
			delete(w.accounts, thread)
			continue
		}
		if err != nil {
			return err
		}
		if ran < a.ran { // another thread with the same id
			w.bank(a)
			a.ran0, a.waited0 = 0, 0
		}
		a.ran, a.waited = ran, waited
		if w.looked == 0 || ok && p.starting {
			a.ran0, a.waited0 = ran, waited
		}
	}
	return nil
}

// bank adds what a thread has used to the closed accounts.
func (w *watcher) bank(a *account) { w.result = a.addTo(w.result) }

// addTo adds what a thread has used to a result.
func (a *account) addTo(r result.Watch) result.Watch {
	if a.measured {
		r.CPUNanos += a.ran - a.ran0
		r.WaitNanos += a.waited - a.waited0
	}
	return r
}

// report returns what there is to report.
func (w *watcher) report() result.Watch {
	r := w.result
	for _, a := range w.accounts {
		r = a.addTo(r)
	}
	r.Complete = r.Complete && len(w.unseen) == 0
	return r
}

// conclude notes whether the last container has ended.
func (w *watcher) conclude(now int64) error {
	over := w.result.Begin != 0 && len(w.running()) == 0
	w.justEnded = over && w.result.End == 0
	switch {
	case w.justEnded:
		used, err := w.used()
		if err != nil {
			return err
		}
		most := now - w.result.Begin - 1 // ticks are coarse
		w.result.End = now
		w.result.StolenNanos = max(0, min(used.stolen-w.before.stolen, most))
		w.result.ObserverNanos = max(0, min(used.observer-w.before.observer, most))
	case !over:
		w.result.End, w.result.StolenNanos, w.result.ObserverNanos = 0, 0, 0
	}
	return nil
}
