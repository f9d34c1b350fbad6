package sizing

// waiting is a job that waits.
type waiting struct{ arrived, service float64 }

// fifo is a queue in order of arrival.
type fifo struct {
	jobs []waiting
	head int
}

func (f *fifo) empty() bool { return f.head == len(f.jobs) }

func (f *fifo) push(j waiting) {
	if f.head > 64 && f.head > len(f.jobs)/2 {
		f.jobs = f.jobs[:copy(f.jobs, f.jobs[f.head:])]
		f.head = 0
	}
	f.jobs = append(f.jobs, j)
}

func (f *fifo) pop() waiting {
	f.head++
	return f.jobs[f.head-1]
}

// line has the jobs of a class that wait; those put off come last.
type line struct{ due, late fifo }

func (l *line) empty() bool { return l.due.empty() && l.late.empty() }

func (l *line) onlyLate() bool { return l.due.empty() && !l.late.empty() }

func (l *line) push(j waiting) { l.due.push(j) }

func (l *line) pop() waiting {
	if l.due.empty() {
		return l.late.pop()
	}
	return l.due.pop()
}

// putOff puts off the jobs that arrived before a time.
func (l *line) putOff(before float64) {
	for !l.due.empty() && l.due.jobs[l.due.head].arrived < before {
		l.late.push(l.due.pop())
	}
}

// completion is a job in service.
type completion struct {
	at      float64
	class   int
	arrived float64
}

// completions is a heap, the earliest first. The standard library's costs a third of
// the time of a simulation.
type completions []completion

func (h *completions) push(c completion) {
	*h = append(*h, c)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if s[parent].at <= c.at {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = c
}

func (h *completions) pop() completion {
	s := *h
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].at < s[child].at {
			child++
		}
		if last.at <= s[child].at {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = last
	return first
}
