package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Account is what a program did between two moments, by itself. Times are in seconds.
type Account struct {
	// Rounds is how many rounds began and ended in between, at least 1.
	Rounds int `json:"rounds"`
	// Round is how long a round took on average, with the mean pause of the Spec in the place of those that were drawn.
	Round float64 `json:"round"`
	// Work is how long the work of a round took, which for a server is how long a request took: on average, and the 95th
	// percentile.
	Work    float64 `json:"work"`
	WorkP95 float64 `json:"workP95"`
	// Computed is how long the threads of the process ran, and Seconds the time between the moments.
	Computed float64 `json:"computed"`
	Seconds  float64 `json:"seconds"`
}

// Parse reads the account that a pod left as its last word.
func Parse(text string) (*Account, error) {
	a := &Account{}
	if err := json.Unmarshal([]byte(text), a); err != nil {
		return nil, fmt.Errorf("account %q: %w", text, err)
	}
	switch {
	case a.Rounds < 1:
		return nil, fmt.Errorf("account: rounds: %d is not at least 1", a.Rounds)
	case !(a.Round > 0) || math.IsInf(a.Round, 0):
		return nil, fmt.Errorf("account: round: %v is not above 0", a.Round)
	case !(a.Work > 0) || math.IsInf(a.Work, 0):
		return nil, fmt.Errorf("account: work: %v is not above 0", a.Work)
	case !(a.WorkP95 > 0) || math.IsInf(a.WorkP95, 0):
		return nil, fmt.Errorf("account: workP95: %v is not above 0", a.WorkP95)
	case !(a.Seconds > 0):
		return nil, fmt.Errorf("account: seconds: %v is not above 0", a.Seconds)
	}
	return a, nil
}

// lap is a round that is over.
type lap struct {
	began, worked, ended time.Time
	pause                time.Duration // as drawn
}

// errNoRound means that a program was so slow that not one round fits.
var errNoRound = errors.New("no round began and ended in time")

// sum sums up the rounds that began and ended between two moments.
func sum(laps []lap, think time.Duration, from, to time.Time) (*Account, error) {
	var rounds, work []float64
	for _, l := range laps {
		if l.began.Before(from) || l.ended.After(to) {
			continue
		}
		rounds = append(rounds, (l.ended.Sub(l.began) - l.pause + think).Seconds())
		work = append(work, l.ended.Sub(l.worked).Seconds())
	}
	if len(work) == 0 {
		return nil, errNoRound
	}
	slices.Sort(work)
	return &Account{
		Rounds: len(work), Round: stat.Mean(rounds, nil), Seconds: to.Sub(from).Seconds(),
		Work: stat.Mean(work, nil), WorkP95: stat.Quantile(0.95, stat.Empirical, work, nil),
	}, nil
}
