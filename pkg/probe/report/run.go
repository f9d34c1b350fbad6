package report

// Why a job ended.
const (
	EndedDuration   = "duration"   // its time was over
	EndedUnits      = "units"      // its work was done
	EndedTerminated = "terminated" // it was told to end
)

// Run is a standard job that ran.
type Run struct {
	Version int `json:"version"`
	// Job is one of [Jobs].
	Job string `json:"job"`
	// Intensity is how many workers there were, at least 1.
	Intensity int `json:"intensity"`
	// BootID is the kernel's boot id.
	BootID string `json:"bootID"`
	// Begin is when the workers began.
	Begin int64 `json:"begin"`
	// Series is how many units they had done, over time.
	Series Series `json:"series"`
	// Units is how many they did in all; the end of the series may miss the last.
	Units uint64 `json:"units"`
	// CPUNanos is the CPU time of the process since Begin, in nanoseconds.
	CPUNanos int64 `json:"cpuNanos"`
	// SelfDilation is how many times slower each of two such jobs is: about 2 if one
	// of them saturates the resource, about 1 if there is room for both. It is 0 if it
	// was not looked for.
	SelfDilation float64 `json:"selfDilation,omitempty"`
	// Ended says why the job ended.
	Ended string `json:"ended"`
}

// UndisturbedRate returns how many units per second a job of the CPU does with nobody
// else on the node: what it does in a second of processor time, by all its workers. It
// returns false for other jobs, and where there is no processor time.
func (r Run) UndisturbedRate() (unitsPerSecond float64, ok bool) {
	if r.Job != CPU || r.CPUNanos == 0 || r.Units == 0 {
		return 0, false
	}
	return float64(r.Units) / float64(r.CPUNanos) * 1e9 * float64(r.Intensity), true
}

// ParseRun reads what [Encode] made of a run. Its errors name the field, or are
// [ErrTruncated].
func ParseRun(message string) (Run, error) { return parse[Run](message) }

func (r Run) validate() error {
	var rules rules
	rules.job("job", r.Job)
	rules.require(r.Intensity >= 1, "intensity: %d is not at least 1", r.Intensity)
	rules.bootID(r.BootID)
	rules.notNegative("begin", r.Begin)
	if err := r.Series.validate(); err != nil {
		rules.require(false, "series.%w", err)
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
