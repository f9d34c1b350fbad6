// Package account holds what a job of the experiment weights says of itself.
package account

import "time"

// Account is what a job did within its window.
type Account struct {
	// Late is how long after the moment at which it was to begin the job began.
	Late time.Duration `json:"late"`
	// Parts are those of each thread, or one of a program.
	Parts []Part `json:"parts"`
}

// Part is what a thread did between two moments at the ends of the window.
type Part struct {
	// Wall is the time between the moments.
	Wall time.Duration `json:"wall"`
	// CPU is how long the thread ran.
	CPU time.Duration `json:"cpu"`
	// Idle is how long it meant to be asleep.
	Idle time.Duration `json:"idle"`
	// Work is how many units of work were done: loops of a thread, operations of a program.
	Work float64 `json:"work"`
}

// Pace returns the progress of a thread per time: the fraction of the time that it would have taken alone.
func (p Part) Pace() float64 {
	if p.Wall <= 0 {
		return 0
	}
	return float64(p.CPU+p.Idle) / float64(p.Wall)
}

// Pace returns the mean pace of the threads; 0 if there are none.
func (a Account) Pace() float64 {
	sum := 0.0
	for _, p := range a.Parts {
		sum += p.Pace()
	}
	if sum == 0 {
		return 0
	}
	return sum / float64(len(a.Parts))
}
