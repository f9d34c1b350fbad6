package linuxsched

import "time"

// Usage is where the time of a pod's threads went.
type Usage struct {
	Elapsed   time.Duration // the window, times the threads
	Own       time.Duration // what was done of bursts, sleeps and service, which would take as long without any other thread
	Run       time.Duration // on a processor, with what the kernel did there meanwhile
	WaitOwn   time.Duration // runnable, while another thread of the pod ran on the processor
	WaitOther time.Duration // runnable, while a thread of another pod did
	Throttled time.Duration // runnable, but its quota or that of a group around it was used up
	Sleep     time.Duration
	Service   time.Duration // at stations
	WaitThere time.Duration // at stations
	Bursts    int           // that ended
}

// Stretch returns how many times longer the pod's threads took than they would have without waiting: 1 of a pod without threads, and
// infinity if they did nothing in the window.
func (u Usage) Stretch() float64 {
	if u.Elapsed == 0 {
		return 1
	}
	return float64(u.Elapsed) / float64(u.Own)
}

// Add adds what happened to other threads, or in another window.
func (u *Usage) Add(v Usage) {
	u.Elapsed += v.Elapsed
	u.Own += v.Own
	u.Run += v.Run
	u.WaitOwn += v.WaitOwn
	u.WaitOther += v.WaitOther
	u.Throttled += v.Throttled
	u.Sleep += v.Sleep
	u.Service += v.Service
	u.WaitThere += v.WaitThere
	u.Bursts += v.Bursts
}

// Result is what happened in the window of a simulation.
type Result struct {
	Pods   []Usage
	Blame  [][]time.Duration // for how long threads of a pod (row) waited while threads of a pod (column) ran on their processor
	Events int
}

// settle accounts for the waiting of a processor's threads until now.
func (s *simulation) settle(c *cpu) {
	for _, t := range c.threads {
		if t.state != waits {
			continue
		}
		waited := time.Duration(s.now - t.since)
		t.since = s.now
		if waited == 0 {
			continue
		}
		u := &s.usage[t.pod]
		switch running := c.running; {
		case t.entity.queue.throttles > 0:
			u.Throttled += waited
		case running == nil:
			u.WaitOther += waited
		default:
			s.blame[t.pod][running.pod] += waited
			if running.pod == t.pod {
				u.WaitOwn += waited
			} else {
				u.WaitOther += waited
			}
		}
	}
}

// credit adds what a thread has done of its step, and not counted yet, to what its pod has done.
func (s *simulation) credit(t *thread) {
	if t.step.Kind == Fork {
		if t.child != nil {
			s.credit(t.child)
		}
		return
	}
	length := int64(t.step.Length)
	done := length
	u := &s.usage[t.pod]
	switch t.state {
	case runs, waits:
		if t.left > 0 {
			left := t.left
			if t.state == runs {
				left -= s.now - t.started
			}
			done = max(t.counted, min(length, length-left))
		}
	case sleeps:
		done = min(length, s.now-t.began)
		u.Sleep += time.Duration(s.now - t.since)
	case visits:
		left, served := s.stations[t.step.Station].progress(s, t)
		done = length - left
		u.Service += time.Duration(served)
		u.WaitThere += time.Duration(s.now-t.since) - time.Duration(served)
	case forks:
	}
	u.Own += time.Duration(done - t.counted)
	t.counted = done
	if t.state == sleeps || t.state == visits {
		t.since = s.now
	}
}

// account brings the usage of all pods up to date.
func (s *simulation) account() {
	for _, c := range s.cpus {
		s.settle(c)
		if t := c.running; t != nil {
			s.usage[t.pod].Run += time.Duration(s.now - t.since)
			t.since = s.now
		}
	}
	for _, t := range s.threads {
		s.credit(t)
	}
}
