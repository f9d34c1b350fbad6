package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// mix is a number of jobs that run together, each in a pod of its own.
type mix struct {
	Name string `json:"name"`
	Jobs []spec `json:"jobs"`
}

// maxPods is how many pods a mix has at most, and fileBytes how large the file of each is.
const (
	maxPods     = 5
	fileBytes   = 256 << 20
	cachedBytes = 8 << 20
)

// draw returns a number of mixes of 2 to 5 pods. A mix depends on the seed and on its number alone.
func draw(n int, seed uint64) []mix {
	mixes := make([]mix, n)
	for i := range mixes {
		r := rand.New(rand.NewPCG(seed, uint64(i+1)))
		jobs := make([]spec, 2+r.IntN(maxPods-1))
		for j := range jobs {
			jobs[j] = drawJob(r)
		}
		if !jobs[0].usesDisk() { // one pod of a mix, at least, uses the disk
			jobs[0].Cache, jobs[0].FileBytes = direct, fileBytes
		}
		mixes[i] = mix{Name: fmt.Sprintf("mix-%02d", i+1), Jobs: jobs}
	}
	return mixes
}

// weighted are the kinds of jobs, and how often they are drawn.
func weighted() []spec {
	times := func(n int, s spec) []spec {
		all := make([]spec, n)
		for i := range all {
			all[i] = s
		}
		return all
	}
	var all []spec
	all = append(all, times(5, spec{Operation: read, Access: random, Cache: direct})...)
	all = append(all, times(2, spec{Operation: read, Access: sequential, Cache: direct})...)
	all = append(all, times(2, spec{Operation: read, Access: random, Cache: buffered})...)
	all = append(all, times(1, spec{Operation: read, Access: sequential, Cache: buffered})...)
	all = append(all, times(2, spec{Operation: write, Access: random, Cache: direct})...)
	all = append(all, times(2, spec{Operation: write, Access: random, Cache: direct, Sync: dsync})...)
	all = append(all, times(1, spec{Operation: write, Access: sequential, Cache: buffered, Sync: dsync})...)
	all = append(all, times(2, spec{Operation: write, Access: random, Cache: buffered, Sync: fdatasync})...)
	all = append(all, times(2, spec{Operation: read, Access: random, Cache: cached})...)
	return all
}

func drawJob(r *rand.Rand) spec {
	kinds := weighted()
	s := kinds[r.IntN(len(kinds))]
	s.Bytes = int64(unit) << r.IntN(9)
	s.FileBytes = fileBytes
	s.Depth = 1
	if r.IntN(5) >= 3 {
		s.Depth = 2 << r.IntN(5)
	}
	s.Seed = uint64(r.Uint32())
	if s.Cache == buffered && s.Operation == read && s.Access == sequential { // several would find what others read
		s.Depth = 1
	}
	// What a unit takes without thinking, by a round guess of a device; its threads think as long as it, or some times longer.
	const overhead, bandwidth = 50e-6, 1.5e9
	guess := float64(s.Depth) * (overhead + float64(s.Bytes)/bandwidth)
	switch r.IntN(5) {
	case 0: // as fast as it can
	case 1, 2, 3:
		s.Think = logUniform(r, 0.3*guess, 10*guess)
	case 4:
		s.Think = logUniform(r, 0.3*guess, 10*guess)
		s.Work = logUniform(r, 10e-6, 300e-6)
	}
	if !s.usesDisk() { // it would only compute
		s.FileBytes, s.Depth = cachedBytes, 1
		s.Bytes = min(s.Bytes, 128<<10)
		s.Think = max(s.Think, 0.0005)
	}
	return s
}

// logUniform returns a number whose logarithm is uniform, with three digits.
func logUniform(r *rand.Rand, low, high float64) float64 {
	x := low * math.Pow(high/low, r.Float64())
	digits := math.Pow(10, math.Floor(math.Log10(x))-2)
	return math.Round(x/digits) * digits
}

// podUID is the UID of the pod of a job of a mix, and container the ID of its container.
func podUID(pod int) string { return fmt.Sprintf("d15c0000-0000-4000-8000-%012d", pod) }

func container(pod int) string { return fmt.Sprintf("%064x", 0xd15c0000+pod) }
