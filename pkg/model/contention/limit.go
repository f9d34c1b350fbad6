package contention

import "loadline.dev/loadline/pkg/model/queueing"

// minLimit is the smallest limit that counts, so that no time is infinite.
const minLimit = 1e-9

// throttled returns what a vector is with a limit at a resource, and by how much the own time is stretched by it: a
// job that needs loading·threads > limit servers on average takes loading·threads/limit as long, and what it is
// held back is idle time, in which it presses on no other job. A limit of 0 is none.
//
// The threads of a job may wait for each other, too, which leaves less to hold back: the time alone on the servers is
// the longer of that with the limit and that without.
//
// The vector must be valid; the error is that of [Alone].
func (v Vector) throttled(resource int, limit float64, servers []int, options queueing.Options) (Vector, float64, error) {
	if limit == 0 || resource < 0 || resource >= len(v) {
		return v, 1, nil
	}
	needs := v[resource].Loading * float64(v[resource].threads())
	if limit = max(limit, minLimit); needs <= limit {
		return v, 1, nil
	}
	most := needs / limit
	if !v.crowds(servers) {
		return v.over(most), most, nil
	}
	alone, err := v.alone(servers, options)
	if err != nil || alone >= most {
		return v, 1, err
	}
	// The stretch s at which s·Alone(v/s) is the time with the limit; the product grows with s.
	low, high := 1.0, most
	for range bisections {
		middle := low + (high-low)/2
		if alone, err = v.over(middle).alone(servers, options); err != nil {
			return v, 1, err
		}
		if middle*alone < most {
			low = middle
		} else {
			high = middle
		}
	}
	return v.over(high), high, nil
}

// over returns what a vector is when the own time is stretched by idle time.
func (v Vector) over(stretch float64) Vector {
	w := make(Vector, len(v))
	for i, d := range v {
		w[i] = Demand{Loading: d.Loading / stretch, Pressure: d.Pressure / stretch, Sensitivity: d.Sensitivity / stretch, Threads: d.Threads, Effect: d.Effect}
	}
	return w
}

// within returns what a vector is with a limit at a resource, where the threads of one job do not wait for each other,
// and which fraction of its time alone the job is throttled.
func (v Vector) within(resource int, limit float64) (limited Vector, throttled float64) {
	if limit == 0 || resource < 0 || resource >= len(v) {
		return v, 0
	}
	needs := v[resource].Loading * float64(v[resource].threads())
	if limit = max(limit, minLimit); needs <= limit {
		return v, 0
	}
	stretch := needs / limit
	return v.over(stretch), 1 - 1/stretch
}
