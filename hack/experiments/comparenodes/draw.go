package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"loadline.dev/loadline/hack/experiments/program"
)

// Program is a drawn program.
type Program struct {
	Name string `json:"name"`
	program.Spec
}

// Pod is a pod of a batch: a program, and how wrong its owner's guess of what it needs is.
type Pod struct {
	// Program is an index.
	Program int `json:"program"`
	// Guess is standard normal: what the pod requests over what it uses is exp(0.7·Guess).
	Guess float64 `json:"guess"`
}

// Batch is pods that come together, one after the other.
type Batch []Pod

// sizes are those that programs of a kind can have, whose work then takes some 5 to 60 ms of a processor's time.
func sizes(k program.Kind) (least, greatest float64) {
	switch k {
	case program.Compressor:
		return 400, 3200
	case program.Database:
		return 200, 1600
	case program.Web:
		return 1000, 4000
	case program.Compiler:
		return 1, 6
	case program.Numerical:
		return 256, 576
	case program.Shipper:
		return 800, 6000
	case program.Backup:
		return 16, 64
	}
	panic("there are no sizes of kind " + k)
}

const (
	// ofKind is how many programs of each kind there are.
	ofKind = 2
	// busy is the part of programs that never pause.
	busy = 1.0 / 6
	ms   = float64(time.Millisecond)
)

// drawPrograms draws programs of every kind. All parameters are log-uniform.
func drawPrograms(random *rand.Rand) []Program {
	within := func(least, greatest float64) float64 { return least * math.Pow(greatest/least, random.Float64()) }
	var all []Program
	for _, kind := range program.Kinds() {
		for i := range ofKind {
			p := Program{fmt.Sprintf("%s-%d", kind, i+1), program.Spec{Kind: kind, Clients: 1, Seed: random.Uint64()}}
			p.Size = int(math.Round(within(sizes(kind))))
			switch {
			case kind == program.Web:
				p.Clients, p.Think = 2+random.IntN(5), time.Duration(within(100*ms, 600*ms))
			case random.Float64() >= busy:
				p.Think = time.Duration(within(20*ms, 200*ms))
			}
			p.Think = p.Think.Round(time.Millisecond)
			all = append(all, p)
		}
	}
	return all
}

// drawBatches draws batches of four to six different programs each.
func drawBatches(random *rand.Rand, batches, programs int) []Batch {
	const fewest, most = 4, 6
	all := make([]Batch, batches)
	for i := range all {
		for _, p := range random.Perm(programs)[:fewest+random.IntN(most-fewest+1)] {
			all[i] = append(all[i], Pod{p, random.NormFloat64()})
		}
	}
	return all
}

// requestable are the requests that people write, in thousandths of a core.
func requestable() []int { return []int{100, 200, 300, 500} }

// maxRequested is how much the pods of a batch request together at most: as little as two nodes of a core always have room for,
// whatever the order of the pods and wherever each goes, and 65 % of them.
const maxRequested = 1300

// requests returns what the pods of a batch request, given what each uses alone, in cores. Where they request too much, those that
// request most are lowered.
func (b Batch) requests(used []float64) []int {
	const wrong = 0.7
	allowed := requestable()
	step := make([]int, len(b)) // which of them
	for i, p := range b {
		guess := 1000 * used[i] * math.Exp(wrong*p.Guess)
		for step[i]+1 < len(allowed) && guess > math.Sqrt(float64(allowed[step[i]]*allowed[step[i]+1])) {
			step[i]++
		}
	}
	for {
		requests, sum := make([]int, len(b)), 0
		for i := range b {
			requests[i] = allowed[step[i]]
			sum += requests[i]
		}
		if sum <= maxRequested {
			return requests
		}
		step[slices.Index(requests, slices.Max(requests))]--
	}
}
