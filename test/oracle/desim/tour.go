package desim

import "math/rand/v2"

// visitsPerRound is how often a job goes to each of its stations in a round.
const visitsPerRound = 4

// tour is the sequence of visits of a job.
type tour struct {
	work   []visit // the demands, one for each station that it visits
	round  float64 // the mean fraction of the work that a round brings
	left   float64 // the fraction that no round has brought yet
	visits []visit // left in this round
}

// visit is a station and the work demanded there.
type visit struct {
	station int
	work    float64
}

// newTour plans rounds of visits of about the given length.
func newTour(job *Job, server Server, length float64) tour {
	var t tour
	for i, demand := range job.Demands {
		if demand > 0 {
			t.work = append(t.work, visit{i, demand})
		}
	}
	if job.Idle > 0 {
		t.work = append(t.work, visit{len(server), job.Idle})
	}
	if len(t.work) > 0 {
		perRound := visitsPerRound * len(t.work)
		t.round = length * float64(perRound) / job.neutral(server)
		t.left = 1
		t.visits = make([]visit, 0, perRound)
	}
	return t
}

// next returns the next visit, and false when there is none.
func (t *tour) next(rng *rand.Rand) (v visit, ok bool) {
	if len(t.visits) == 0 {
		if t.left == 0 {
			return visit{}, false
		}
		t.draw(rng)
	}
	last := len(t.visits) - 1
	v = t.visits[last]
	t.visits = t.visits[:last]
	return v, true
}

// draw draws a round: how much of the work it brings, and for each station that
// in visits of exponential lengths, stretched to add up, all in random order. The
// last round brings what is left.
func (t *tour) draw(rng *rand.Rand) {
	fraction := min(t.left, t.round*rng.ExpFloat64())
	t.left -= fraction
	for _, all := range t.work {
		var parts [visitsPerRound]float64
		sum := 0.0
		for i := range parts {
			parts[i] = rng.ExpFloat64()
			sum += parts[i]
		}
		for _, part := range parts {
			t.visits = append(t.visits, visit{all.station, all.work * fraction * part / sum})
		}
	}
	rng.Shuffle(len(t.visits), func(i, j int) { t.visits[i], t.visits[j] = t.visits[j], t.visits[i] })
}
