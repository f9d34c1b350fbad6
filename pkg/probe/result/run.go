package result

// Why a job ended.
const (
	EndedDuration   = "duration"   // its time was over
	EndedUnits      = "units"      // its work was done
	EndedTerminated = "terminated" // a signal ended it
)

// Run is a standard job that ran.
type Run struct {
	Version int `json:"version"`
	// Job is one of [Jobs].
	Job string `json:"job"`
	// Intensity is how many workers there were, at least 1.
	Intensity int `json:"intensity"`
	// Pressure is, of a job at an interference resource, the fraction of its time that each
	// worker pressed there, if that was not all of it.
	Pressure float64 `json:"pressure,omitempty"`
	// BootID is the kernel's boot id.
	BootID string `json:"bootID"`
	// Begin is when the workers began.
	Begin int64 `json:"begin"`
	// Series is how many units they had done, over time.
	Series Series `json:"series"`
	// Units is how many they did in all; the end of the series may miss the last.
	Units uint64 `json:"units"`
	// Processor is, of a job of the CPU, how many milliseconds its workers had run, over
	// time: what they got of the processors, however fast these were meanwhile.
	Processor Series `json:"processor,omitzero"`
	// Stolen is, of a job of the CPU, for how many milliseconds a hypervisor had kept each
	// of the processors from the node, in the mean, over time.
	Stolen Series `json:"stolen,omitzero"`
	// CPUNanos is the CPU time of the process since Begin, in nanoseconds.
	CPUNanos int64 `json:"cpuNanos"`
	// SelfDilation is how many times slower each of two such jobs is: about 2 if one
	// of them saturates the resource, about 1 if there is room for both. It is 0 if it
	// was not looked for.
	SelfDilation float64 `json:"selfDilation,omitempty"`
	// Ended says why the job ended.
	Ended string `json:"ended"`
}

// milliseconds is how many there are in a second.
const milliseconds = 1000

// Pace returns how fast the job went on between two times, as far as others on the node
// slow it down: of a job of the CPU the processor time that its workers got, in
// milliseconds, of each second that the node had its processors; of other jobs the units
// per second. ok is as that of [Series.Rate].
func (r Run) Pace(from, to int64) (perSecond float64, ok bool) {
	if len(r.Processor.Thousandths) == 0 {
		return r.Series.Rate(from, to)
	}
	perSecond, ok = r.Processor.Rate(from, to)
	first, last := r.Stolen.Span()
	if stolen, known := r.Stolen.Rate(max(from, first), min(to, last)); known && stolen < milliseconds {
		perSecond /= 1 - stolen/milliseconds
	}
	return perSecond, ok
}

// PaceInside is as Pace, of the part of the window that begins and ends with a sample: in
// the samples at its ends the job went on at two paces. It is as Pace where that part is
// too short.
func (r Run) PaceInside(from, to int64) (perSecond float64, ok bool) {
	if s := r.Series; s.Interval > 0 && from >= s.Begin {
		first := s.Begin + (from-s.Begin+s.Interval-1)/s.Interval*s.Interval
		last := s.Begin + (to-s.Begin)/s.Interval*s.Interval
		if perSecond, ok = r.Pace(first, last); ok {
			return perSecond, ok
		}
	}
	return r.Pace(from, to)
}

// UndisturbedPace returns the pace of a job of the CPU alone on the node: all
// the time of a processor for each worker. It returns false for other jobs, which cannot
// know.
func (r Run) UndisturbedPace() (perSecond float64, ok bool) {
	return milliseconds * float64(r.Intensity), len(r.Processor.Thousandths) > 0
}

// ParseRun reads what [Encode] made of a run. Its errors name the field, or are
// [ErrTruncated].
func ParseRun(message string) (Run, error) { return parse[Run](message) }

func (r Run) validate() error {
	var rules rules
	rules.job("job", r.Job)
	rules.require(r.Intensity >= 1, "intensity: %d is not at least 1", r.Intensity)
	rules.require(r.Pressure >= 0 && r.Pressure <= 1, "pressure: %v is not a fraction from 0 to 1", r.Pressure)
	rules.bootID(r.BootID)
	rules.notNegative("begin", r.Begin)
	if err := r.Series.validate(); err != nil {
		rules.require(false, "series.%w", err)
	}
	if err := r.Processor.validate(); err != nil {
		rules.require(false, "processor.%w", err)
	}
	if err := r.Stolen.validate(); err != nil {
		rules.require(false, "stolen.%w", err)
	}
	rules.notNegative("cpuNanos", r.CPUNanos)
	rules.amount("selfDilation", r.SelfDilation)
	rules.ended(r.Ended)
	return rules.err()
}

func (r *rules) ended(why string) {
	r.require(why == EndedDuration || why == EndedUnits || why == EndedTerminated,
		"ended: %q is none of %s, %s, %s", why, EndedDuration, EndedUnits, EndedTerminated)
}
