package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/experiments/program"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestProgramsAreOfEveryKindAndValid(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		names, kinds := map[string]bool{}, map[program.Kind]int{}
		for _, p := range drawPrograms(seeded(seed)) {
			if err := p.Validate(); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if least, greatest := sizes(p.Kind); float64(p.Size) < least || float64(p.Size) > greatest {
				t.Errorf("%s: size %d is not from %v to %v", p.Name, p.Size, least, greatest)
			}
			if p.Think != 0 && p.Think < 20*time.Millisecond || p.Kind == program.Web && p.Think == 0 {
				t.Errorf("%s pauses for %v", p.Name, p.Think)
			}
			names[p.Name] = true
			kinds[p.Kind]++
		}
		for _, kind := range program.Kinds() {
			if kinds[kind] != ofKind {
				t.Errorf("%d programs are of kind %s", kinds[kind], kind)
			}
		}
		if len(names) != ofKind*len(program.Kinds()) {
			t.Errorf("%d names", len(names))
		}
	}
}

func TestTheSameSeedDrawsTheSame(t *testing.T) {
	t.Parallel()
	for _, draw := range []func(*rand.Rand) any{
		func(r *rand.Rand) any { return drawPrograms(r) },
		func(r *rand.Rand) any { return drawBatches(r, 20, 14) },
	} {
		if diff := cmp.Diff(draw(seeded(1)), draw(seeded(1))); diff != "" {
			t.Error(diff)
		}
		if cmp.Equal(draw(seeded(1)), draw(seeded(2))) {
			t.Error("seeds 1 and 2 draw the same")
		}
	}
	if diff := cmp.Diff(drawBatches(seeded(1), 3, 14), drawBatches(seeded(1), 20, 14)[:3]); diff != "" {
		t.Errorf("fewer batches are others: %s", diff)
	}
}

func TestBatchesHaveFourToSixDifferentPrograms(t *testing.T) {
	t.Parallel()
	pods := map[int]int{}
	for _, b := range drawBatches(seeded(1), 300, 14) {
		var programs []int
		for _, p := range b {
			programs = append(programs, p.Program)
		}
		slices.Sort(programs)
		if len(slices.Compact(programs)) != len(b) || programs[0] < 0 || programs[len(programs)-1] > 13 {
			t.Errorf("a batch of %v", b)
		}
		pods[len(b)]++
	}
	if len(pods) != 3 || pods[4] < 60 || pods[5] < 60 || pods[6] < 60 { // of 100 each, more than four deviations
		t.Errorf("batches by their pods: %v", pods)
	}
}

// Whatever the order of pods, and wherever those before it went, one of two nodes of a core has room for a pod.
func TestPodsRequestWhatPeopleWriteAndFit(t *testing.T) {
	t.Parallel()
	random := seeded(1)
	for _, b := range drawBatches(random, 500, 14) {
		used := make([]float64, len(b))
		for i := range used {
			used[i] = random.Float64()
		}
		requests, sum := b.requests(used), 0
		for _, r := range requests {
			if !slices.Contains(requestable(), r) {
				t.Errorf("a request of %dm", r)
			}
			sum += r
		}
		for _, r := range requests {
			if most := (sum - r) / 2; most+r > 1000 { // on the emptier node
				t.Errorf("%v: there may be no room for %dm", requests, r)
			}
		}
	}
}

func TestGuessesAreRoundedToTheNearestRequest(t *testing.T) {
	t.Parallel()
	b := Batch{{Guess: 0}, {Guess: 0}, {Guess: 1}, {Guess: -1}}
	if diff := cmp.Diff([]int{100, 300, 500, 100}, b.requests([]float64{0.01, 0.32, 0.2, 0.2})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{300, 300, 300, 300}, b.requests([]float64{0.9, 0.9, 0.9, 2})); diff != "" { // of 500m each
		t.Error(diff)
	}
}
