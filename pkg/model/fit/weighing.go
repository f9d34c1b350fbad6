package fit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Processor is the resource that requests and limits are about.
const Processor = "cpu"

// weighing is the effect of requests and limits: the ratio of each member's excess dilation in a run to that with equal shares of
// the processor. Vectors are taken as fractions at resources of one server.
type weighing struct {
	processor int
	shares    [][]loading.Share // per run, nil where all members share alike

	mutex sync.Mutex
	known map[string][]float64 // factors, which take long to find
}

// How far apart the vectors are, in loadings, for which factors are found: while models are compared, and for the one that is
// kept.
const (
	coarse = 0.02
	fine   = 1e-3
)

// newWeighing returns the effect of requests and limits in some runs, nil if there is none.
func newWeighing(runs []Run, o Options) (*weighing, error) {
	w := &weighing{processor: slices.Index(o.Resources, Processor), shares: make([][]loading.Share, len(runs)), known: map[string][]float64{}}
	some := false
	for r := range runs {
		if w.shares[r] = runs[r].shares(o.Weight); w.shares[r] == nil {
			continue
		}
		if w.processor < 0 {
			return nil, fmt.Errorf("run %q: %w", runs[r].Name, ErrNoProcessor)
		}
		some = true
	}
	if !some {
		return nil, nil
	}
	return w, nil
}

// ErrNoProcessor is wrapped by the error of [Fit] when members of a run have unequal requests, or limits, and no resource is
// called [Processor].
var ErrNoProcessor = errors.New("requests or limits differ, which say how the resource " + Processor + " is shared: name it among the resources")

// shares returns the shares of the members, nil if these are equal.
func (r *Run) shares(weight func(request float64) float64) []loading.Share {
	shares := make([]loading.Share, len(r.Members))
	equal := true
	for a, m := range r.Members {
		shares[a] = loading.Share{Weight: 1, Limit: m.Limit}
		if m.Request != nil {
			shares[a].Weight = weight(*m.Request)
		}
		equal = equal && shares[a] == shares[0] && m.Limit == 0
	}
	if equal {
		return nil
	}
	return shares
}

// mostWeighed bounds the factor of an excess dilation by weights.
const mostWeighed = 1000

// factors returns the factors of the excess dilations of the members of a run, for the nearest vectors on a grid; nil for none.
func (w *weighing) factors(run int, sensitivity, pressure [][]float64, grid float64) []float64 {
	if w == nil || w.shares[run] == nil {
		return nil
	}
	key := binary.AppendVarint(nil, int64(run))
	near := make([][]float64, 0, 2*len(sensitivity))
	for _, v := range slices.Concat(sensitivity, pressure) {
		rounded := make([]float64, len(v))
		for i, x := range v {
			steps := math.Round(min(x, 1) / grid)
			rounded[i] = steps * grid
			key = binary.AppendVarint(key, int64(steps))
		}
		near = append(near, rounded)
	}
	key = binary.BigEndian.AppendUint64(key, math.Float64bits(grid))
	w.mutex.Lock()
	found, known := w.known[string(key)]
	w.mutex.Unlock()
	if !known {
		found = w.solve(run, near[:len(sensitivity)], near[len(sensitivity):])
		w.mutex.Lock()
		w.known[string(key)] = found
		w.mutex.Unlock()
	}
	return found
}

// solve finds factors: it solves the run twice.
func (w *weighing) solve(run int, sensitivity, pressure [][]float64) []float64 {
	vectors := make([]loading.Vector, len(sensitivity))
	for a, s := range sensitivity {
		vectors[a] = fractions(s, pressure[a])
	}
	servers := slices.Repeat([]int{1}, len(sensitivity[0]))
	equal, err := contention.Predict(vectors, servers, queueing.Options{})
	if err != nil {
		return nil // vectors that the model does not take count as with equal shares
	}
	shared, err := contention.PredictSharing(vectors, servers, contention.Sharing{Resource: w.processor, Shares: w.shares[run]}, queueing.Options{})
	if err != nil {
		return nil
	}
	factors := make([]float64, len(vectors))
	for a := range factors {
		factors[a] = 1
		if excess := equal.Dilations[a] - 1; excess > leastExcess {
			factors[a] = min((shared.Dilations[a]-1)/excess, mostWeighed)
		}
	}
	return factors
}

// fractions returns the nearest vector whose loadings are fractions of time.
func fractions(sensitivity, pressure []float64) loading.Vector {
	v, total := make(loading.Vector, len(sensitivity)), max(1, sum(sensitivity))
	for i, s := range sensitivity {
		v[i] = loading.Demand{Loading: s / total, Pressure: min(1, pressure[i])}
	}
	return v
}

// requestRule returns the rule that a request breaks, or nothing.
func requestRule(request float64) string {
	if !(request >= 0 && request <= mostCores) {
		return fmt.Sprintf("is not a number of cores from 0 to %g", float64(mostCores))
	}
	return ""
}

// limitRule returns the rule that a limit breaks, or nothing.
func limitRule(limit float64) string {
	if !(limit > 0 && limit <= mostCores) {
		return fmt.Sprintf("is not a number of cores above 0 and up to %g (leave it empty where there is none)", float64(mostCores))
	}
	return ""
}

// mostCores bounds requests and limits.
const mostCores = 1 << 14

// validateClaims returns an error for requests and limits that cannot be.
func (r *Run) validateClaims() error {
	known := 0
	for _, m := range r.Members {
		if m.Limit != 0 {
			if rule := limitRule(m.Limit); rule != "" {
				return fmt.Errorf("run %q: job %q: limit: %v %s", r.Name, m.Job, m.Limit, rule)
			}
		}
		if m.Request == nil {
			continue
		}
		known++
		if rule := requestRule(*m.Request); rule != "" {
			return fmt.Errorf("run %q: job %q: request: %v %s", r.Name, m.Job, *m.Request, rule)
		}
		if m.Limit != 0 && *m.Request > m.Limit {
			return fmt.Errorf("run %q: job %q: request: %v is more than the limit, %v", r.Name, m.Job, *m.Request, m.Limit)
		}
	}
	if known != 0 && known != len(r.Members) {
		return fmt.Errorf("run %q: request: %w", r.Name, errSomeRequests)
	}
	return nil
}

var errSomeRequests = errors.New("it is known of some of the jobs that ran together: give that of each, 0 for none, or of none")

// proportional is the weight of a request unless the options say otherwise.
func proportional(request float64) float64 { return math.Max(request, leastRequest) }

// leastRequest is the request that stands for zero, in cores.
const leastRequest = 0.002
