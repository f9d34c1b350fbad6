package replays

import (
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/trace"
)

// memory is the request that kube-scheduler scores beside that for the cpu.
const memory = "memory"

// requestsOf returns the requests of a job, in the order of r.requests. A job without a cpu request
// requests its limit in cores, or if that is 0 the cores that it keeps busy. Requests are rounded
// up to thousandths, as the API server rounds those of pods.
func (r *Replay) requestsOf(said []trace.Request, limit float64, kind *mix.JobType) []float64 {
	requests := make([]float64, len(r.requests))
	if limit == 0 {
		limit = coresOf(kind)
	}
	requests[slices.Index(r.requests, cpu)] = roundedUp(limit)
	for _, request := range said {
		if i := slices.Index(r.requests, request.Resource); i >= 0 {
			requests[i] = roundedUp(request.Amount)
		}
	}
	return requests
}

// roundedUp rounds an amount up to thousandths. Quantities have no more than nine decimals: smaller
// digits are the rounding of floating-point numbers.
func roundedUp(amount float64) float64 {
	const rounding = 0.5e-9 * 1000
	return math.Ceil(amount*1000-rounding) / 1000
}

// coresOf returns how many cores a job without a request keeps busy when it is
// alone. The cpu is the first resource.
func coresOf(t *mix.JobType) float64 {
	if len(t.Vector) == 0 {
		return 0
	}
	return t.Vector[0].Loading * float64(max(1, t.Vector[0].Threads))
}

// scored returns the requests that kube-scheduler scores by default.
func (r *Replay) scored() []placement.Scored {
	scored := []placement.Scored{placement.ScoredCPU(slices.Index(r.requests, cpu))}
	if i := slices.Index(r.requests, memory); i >= 0 {
		scored = append(scored, placement.ScoredMemory(i))
	}
	return scored
}
