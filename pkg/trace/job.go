package trace

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"loadline.dev/loadline/pkg/model/loading"
)

// Job is one job of a trace: what it asks for, when it came, and what became of
// it. It has a type, or demands and a neutral time, or all of them.
type Job struct {
	// Line is where the job stands in the (decompressed) file, from 1.
	Line int
	// Name is the job's name or number in its trace, never empty. Not
	// necessarily unique.
	Name string
	// Type is what maps the job to a WorkloadProfile: name or namespace/name.
	// Empty if the trace has none.
	Type string
	// Arrival is when the job was asked for, in seconds since the start of the
	// trace, ≥ 0.
	Arrival float64
	// Neutral is the time that the job takes alone, in seconds, at least the
	// sum of the demands (but for rounding: 1e-9 of it). 0 if it is not given:
	// then the type's profile must know it.
	Neutral float64
	// Demands are the service demands, each resource at most once. Empty if
	// they are not given: then the type's profile must know them. A job that
	// is known to need nothing has a demand of 0.
	Demands []ServiceDemand
	// Requests is what the scheduler is to set aside for the job, each resource
	// at most once: cpu in cores, memory in bytes, gpu in GPUs.
	Requests []Request
	// CPULimit is how many cores the job may use on average over the periods of its quota, up to 2⁶⁰ and not less
	// than it requests; 0 means no limit.
	CPULimit float64
	// Start is when the job began to run in reality, not before Arrival.
	Start Moment
	// End is when it was done in reality, not before Arrival and Start.
	End Moment
	// Node is where it ran in reality; empty if that is unknown.
	Node string
}

// ServiceDemand is the service that a job needs at a resource.
type ServiceDemand struct {
	// Resource is a DNS label: cpu, disk, network, memory-bandwidth, ….
	Resource string
	// Seconds is the service demand of each thread, ≥ 0.
	Seconds float64
	// Threads is how many threads of the job are there at once, 1 to
	// [contention.MaxThreads].
	Threads int
}

// Request is an amount of a resource that is set aside for a job.
type Request struct {
	// Resource is a DNS label: cpu, memory, gpu, ….
	Resource string
	// Amount is in cores, bytes, GPUs or what else the resource is counted in,
	// from 0 to 2⁶⁰.
	Amount float64
}

// Bounds of what a job may say. The longest time, 292 years, is that of a
// [time.Duration]; a time in milliseconds since 1970 lies beyond it.
const (
	maxSeconds = 9_223_372_036
	maxAmount  = 1 << 60
)

// complete fills in what follows from the rest: a job whose neutral time is not
// given is never idle, so that it takes what its demands add up to.
func (j *Job) complete() {
	if j.Neutral == 0 {
		j.Neutral = j.demanded()
	}
}

func (j *Job) demanded() float64 {
	total := 0.0
	for _, d := range j.Demands {
		total += d.Seconds
	}
	return total
}

// requested returns how much of a resource the job requests, 0 if it does not say.
func (j *Job) requested(resource string) float64 {
	for _, r := range j.Requests {
		if r.Resource == resource {
			return r.Amount
		}
	}
	return 0
}

// flaw is a rule that a job breaks: the column of our CSV that breaks it, what
// stands there, and the rule.
type flaw struct{ column, value, rule string }

// flaw returns the first rule that a completed job breaks, nil if it breaks
// none. Names of resources are checked by the readers that know the columns.
func (j *Job) flaw() *flaw {
	if f := j.textFlaw(); f != nil {
		return f
	}
	if f := j.numberFlaw(); f != nil {
		return f
	}
	demanded := j.demanded()
	switch {
	case j.Type == "" && len(j.Demands) == 0:
		return &flaw{columnType, "", "must not be empty in a row without demands: the type's profile has to know them"}
	case j.Type == "" && j.Neutral == 0:
		return &flaw{columnNeutral, "0", "must be above 0 for a job that has neither a type nor a demand above 0"}
	case j.Neutral > 0 && demanded > j.Neutral*(1+1e-9):
		return &flaw{columnNeutral, number(j.Neutral), "is less than the demands, which add up to " + number(demanded) +
			"; loadings are demand / neutral time and may add up to 1 at most"}
	case j.CPULimit > 0 && j.CPULimit < j.requested(resourceCPU):
		return &flaw{columnLimit, number(j.CPULimit), "is less than request.cpu, " + number(j.requested(resourceCPU))}
	case j.Start.before(j.Arrival):
		return &flaw{columnStart, number(j.Start.At), "is before arrival, " + number(j.Arrival)}
	case j.End.before(j.Arrival):
		return &flaw{columnEnd, number(j.End.At), "is before arrival, " + number(j.Arrival)}
	case j.Start.Happened && j.End.before(j.Start.At):
		return &flaw{columnEnd, number(j.End.At), "is before start, " + number(j.Start.At)}
	}
	return nil
}

func (j *Job) textFlaw() *flaw {
	if j.Name == "" {
		return &flaw{columnJob, "", "must not be empty"}
	}
	for _, text := range [...]struct{ column, value string }{{columnJob, j.Name}, {columnType, j.Type}, {columnNode, j.Node}} {
		if !printable(text.value) {
			return &flaw{text.column, text.value, notPrintable}
		}
	}
	return nil
}

// numberFlaw looks at the demands first: a neutral time may be derived from them.
func (j *Job) numberFlaw() *flaw {
	for _, d := range j.Demands {
		if !inRange(d.Seconds, maxSeconds) {
			return &flaw{demandPrefix + d.Resource, number(d.Seconds), outside(maxSeconds)}
		}
		if d.Threads < 1 || d.Threads > loading.MaxThreads {
			return &flaw{threadsPrefix + d.Resource, strconv.Itoa(d.Threads), "must be a whole number from 1 to " + grouped(loading.MaxThreads)}
		}
	}
	for _, r := range j.Requests {
		if !inRange(r.Amount, maxAmount) {
			return &flaw{requestPrefix + r.Resource, number(r.Amount), outside(maxAmount)}
		}
	}
	if !inRange(j.CPULimit, maxAmount) {
		return &flaw{columnLimit, number(j.CPULimit), notLimit}
	}
	for _, time := range [...]struct {
		column string
		value  float64
	}{{columnArrival, j.Arrival}, {columnNeutral, j.Neutral}, {columnStart, j.Start.At}, {columnEnd, j.End.At}} {
		if !inRange(time.value, maxSeconds) {
			return &flaw{time.column, number(time.value), outside(maxSeconds)}
		}
	}
	return nil
}

// notLimit is the rule of limits.
var notLimit = "must be a number above 0 and up to " + grouped(maxAmount) + "; leave it empty where there is no limit"

// inRange reports whether x is from 0 to limit, which NaN is not.
func inRange(x float64, limit int64) bool { return x >= 0 && x <= float64(limit) }

func outside(limit int64) string { return "must be a number from 0 to " + grouped(limit) }

// number writes x so that [decimal] reads exactly x.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// decimal reads a number in decimal notation. It returns NaN for anything else,
// which is within no bounds.
func decimal(text string) float64 {
	if x, ok := shortDecimal(text); ok {
		return x
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) || strings.ContainsAny(text, "xX_") {
		return math.NaN()
	}
	return x + 0 // −0 is 0
}

// shortDecimal reads nearly all numbers of nearly all traces, twice as fast: up
// to 15 digits, perhaps with a point. Such digits and such a power of ten are
// exact in a float64, so that their quotient is correctly rounded.
func shortDecimal(text string) (x float64, ok bool) {
	const exact = 15
	powers := [exact + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
	whole, digits, decimals := 0, 0, 0
	pointed := false
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9' && digits < exact:
			whole = whole*10 + int(c-'0')
			digits++
			if pointed {
				decimals++
			}
		case c == '.' && !pointed:
			pointed = true
		default:
			return 0, false
		}
	}
	return float64(whole) / powers[decimals], digits > 0
}

const notPrintable = "must be UTF-8 text without control characters"

// printable reports whether text can be shown, and written on a line.
func printable(text string) bool {
	for i, r := range text {
		if unicode.IsControl(r) {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}
