package contention

import (
	"slices"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/wakeup"
)

// wakes reports whether threads of some job may wait for a processor that is due to them: see package wakeup.
func (s *Sharing) wakes(jobs []loading.Vector, servers []int) bool {
	return servers[s.Resource] > 1 && slices.ContainsFunc(jobs, func(v loading.Vector) bool { return s.burst(v) > 0 })
}

// burst returns for how long a thread of a job computes at a time, in seconds; 0 where that is not known.
func (s *Sharing) burst(v loading.Vector) float64 {
	if s.Resource >= len(v) {
		return 0
	}
	return v[s.Resource].Burst
}

// woken returns for how long a thread of each job waits for a processor that is due to it, as a multiple of the time for which it
// computes. The jobs, which are throttled for some own times, have a solution of their network.
func (s *Sharing) woken(jobs []loading.Vector, servers []int, solution *gps.Solution, throttled []float64) []float64 {
	if !s.wakes(jobs, servers) {
		return make([]float64, len(jobs))
	}
	classes := make([]wakeup.Class, len(jobs))
	for j, v := range jobs {
		if s.Resource >= len(v) || v[s.Resource].Idle() {
			continue
		}
		d, response := v[s.Resource], solution.Responses[j]*(1+throttled[j])
		classes[j] = wakeup.Class{
			Threads: d.ThreadCount(), Loading: d.Loading, Burst: d.Burst,
			Present: min(1, d.Loading*solution.Stretches[j][0]/response), Running: min(1, d.Loading/response),
		}
	}
	return wakeup.Delays(servers[s.Resource], classes)
}
