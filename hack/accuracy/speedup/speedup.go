// Package speedup predicts how the speed of a job grows with its threads, from the
// part of it that is not parallel and from how its CPU time grows.
//
// It takes runs of one job with different numbers of threads: elapsed and CPU time.
// CPU time grows with threads that share a core, its caches and memory, which is the
// inflation of service; what it does to the elapsed time depends on how much of the
// work is parallel (Amdahl, AFIPS 1967):
//
//	T(n) = C(n)/p · (σ + (1 − σ)/n),  at least C(n)/cpus
//
// with C the CPU time, σ the serial part and p the processors that the job keeps
// busy with one thread: more than one where it has threads of its own.
//
// It is pure, and the same input gives the same answer.
package speedup

import (
	"errors"
	"fmt"
	"math"
)

// Run is a job with some threads, alone on a node.
type Run struct {
	// Threads that were asked for, at least 1.
	Threads int
	// Real is the elapsed time and CPU the processors' time, in seconds, above 0.
	Real, CPU float64
}

// Model predicts elapsed times.
type Model struct {
	// Serial is the part of the work that is not parallel, σ, from 0 to 1.
	Serial float64
	busy   float64 // processors, with one thread
	cpus   float64
}

// halvings of the range of the serial part leave it 10⁻⁹ wide.
const halvings = 45

// golden is the part of the range that a step of golden-section search keeps.
const golden = 0.6180339887498949

// Fit finds the serial part by least squares of the logarithms of elapsed times, on
// a node of that many logical CPUs. A run with one thread is needed, which shows how
// many processors that keeps busy, and one with more.
func Fit(runs []Run, cpus int) (Model, error) {
	if cpus < 1 {
		return Model{}, fmt.Errorf("cpus: %d is less than 1", cpus)
	}
	m := Model{cpus: float64(cpus)}
	several := false
	for i, r := range runs {
		if err := r.validate(); err != nil {
			return Model{}, fmt.Errorf("runs[%d]: %w", i, err)
		}
		if r.Threads == 1 {
			m.busy = r.CPU / r.Real
		}
		several = several || r.Threads > 1
	}
	if m.busy == 0 || !several {
		return Model{}, errors.New("runs: one with a single thread and one with several are needed")
	}
	low, high := 0.0, 1.0
	for range halvings {
		a, b := high-golden*(high-low), low+golden*(high-low)
		if m.loss(runs, a) < m.loss(runs, b) {
			high = b
		} else {
			low = a
		}
	}
	m.Serial = (low + high) / 2
	return m, nil
}

func (r Run) validate() error {
	if r.Threads < 1 {
		return fmt.Errorf("threads: %d is less than 1", r.Threads)
	}
	if !(r.Real > 0) || math.IsInf(r.Real, 1) {
		return fmt.Errorf("real: %v is not a finite number of seconds above 0", r.Real)
	}
	if !(r.CPU > 0) || math.IsInf(r.CPU, 1) {
		return fmt.Errorf("cpu: %v is not a finite number of seconds above 0", r.CPU)
	}
	return nil
}

// loss returns the squared errors of the elapsed times with that serial part.
func (m Model) loss(runs []Run, serial float64) float64 {
	m.Serial = serial
	total := 0.0
	for _, r := range runs {
		e := math.Log(m.Real(r.Threads, r.CPU) / r.Real)
		total += e * e
	}
	return total
}

// Real returns the elapsed time with that many threads, at least 1, that take that
// much CPU time, in seconds.
func (m Model) Real(threads int, cpu float64) float64 {
	return max(cpu/m.busy*(m.Serial+(1-m.Serial)/float64(threads)), cpu/m.cpus)
}
