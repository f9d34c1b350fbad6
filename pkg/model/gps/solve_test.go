package gps_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/queueing"
)

var (
	sets    = flag.Int("sets", 60, "random sets of jobs in the study of errors")
	first   = flag.Int("first", 0, "the number of the first of these sets, for a study in parts")
	mostIn  = flag.Int("jobs", 5, "how many jobs such a set has at most, up to 8")
	exactly = func(n *gps.Network) (*gps.Solution, error) { return gps.Exact(n, 1<<20) }
	solve   = func(n *gps.Network) (*gps.Solution, error) { return gps.Solve(n, gps.Options{}) }
	closed  = func(n *gps.Network) (*gps.Solution, error) { return gps.Solve(n, gps.Options{States: 1}) }
)

// dilations returns the ratios of jobs' responses to those alone.
func dilations(t fataler, n *gps.Network, by func(*gps.Network) (*gps.Solution, error)) []float64 {
	t.Helper()
	s, err := by(n)
	if err != nil {
		t.Fatal(err)
	}
	d := make([]float64, len(n.Jobs))
	for j, r := range s.Responses {
		alone, err := by(n.Alone(j))
		if err != nil {
			t.Fatal(err)
		}
		d[j] = r / alone.Responses[0]
	}
	return d
}

type fataler interface {
	Helper()
	Fatal(...any)
}

// Dilations that follow from a sentence each.
func TestSimpleCases(t *testing.T) {
	t.Parallel()
	busy, most := []float64{1}, []float64{0.6}
	for name, test := range map[string]struct {
		network gps.Network
		want    []float64
	}{
		"busy jobs share a core by weight":          {gps.Network{Servers: []int{1}, Jobs: []gps.Job{{Demands: busy, Weight: 10}, {Demands: busy}}}, []float64{1.1, 11}},
		"a job alone is not dilated by its limit":   {gps.Network{Servers: []int{1}, Jobs: []gps.Job{{Demands: busy, Limit: 0.3}}}, []float64{1}},
		"what a limit leaves goes to others":        {gps.Network{Servers: []int{1}, Jobs: []gps.Job{{Demands: busy, Limit: 0.3}, {Demands: busy}}}, []float64{1, 1 / 0.7}},
		"a group's limit holds for its only job":    {gps.Network{Servers: []int{2}, Groups: []gps.Group{{}, {Weight: 1, Limit: 0.5}}, Jobs: []gps.Job{{Demands: busy, Group: 1}, {Demands: busy}}}, []float64{1, 1}},
		"who has all the weight has priority":       {gps.Network{Servers: []int{1}, Jobs: []gps.Job{{Demands: most, Weight: 1e9}, {Demands: busy}}}, []float64{1, 2.5}},
		"threads of a job share its weight":         {gps.Network{Servers: []int{1}, Jobs: []gps.Job{{Demands: busy, Threads: 3}, {Demands: busy}}}, []float64{2, 2}},
		"who never computes is not in the way":      {gps.Network{Servers: []int{1, 1}, Jobs: []gps.Job{{Demands: busy}, {Demands: []float64{0, 0.7}}, {}}}, []float64{1, 1, 1}},
		"one job of 0.6 has ten times the weight":   {gps.Network{Servers: []int{1}, Jobs: []gps.Job{{Demands: most, Weight: 10}, {Demands: most}}}, []float64{1.050562, 1.927835}},
		"the same at weights a thousand times less": {gps.Network{Servers: []int{1}, Jobs: []gps.Job{{Demands: most, Weight: 0.01}, {Demands: most, Weight: 0.001}}}, []float64{1.050562, 1.927835}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for solver, by := range map[string]func(*gps.Network) (*gps.Solution, error){"exact": exactly, "solve": solve, "closure": closed} {
				for j, d := range dilations(t, &test.network, by) {
					if math.Abs(d/test.want[j]-1) > 1e-5 {
						t.Errorf("%s: job %d is dilated by %v, want %v", solver, j, d, test.want[j])
					}
				}
			}
		})
	}
}

// Equal weights without limits make a product-form network, which package queueing solves exactly.
func TestEqualWeightsAreProcessorSharing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := &gps.Network{Servers: rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "servers")}
		network := &queueing.Network{Servers: n.Servers}
		weight := rapid.SampledFrom([]float64{0, 0.5, 7}).Draw(t, "weight")
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j := gps.Job{Demands: drawDemands(t, len(n.Servers)), Weight: weight, Burst: rapid.Float64Range(0.1, 10).Draw(t, "burst")}
			n.Jobs = append(n.Jobs, j)
			idle := 1.0
			for _, d := range j.Demands {
				idle -= d
			}
			network.Classes = append(network.Classes, queueing.Class{Demands: j.Demands, Idle: max(0, idle)})
		}
		want, err := queueing.Solve(network, queueing.Options{Solver: queueing.Exact})
		if err != nil {
			t.Fatal(err)
		}
		got, err := exactly(n)
		if err != nil {
			t.Fatal(err)
		}
		for j := range n.Jobs {
			for i, d := range n.Jobs[j].Demands {
				if d > 0 && math.Abs(got.Stretches[j][i]/(1+want.Waits[j][i])-1) > 1e-6 {
					t.Fatalf("job %d waits %v at station %d, want %v", j, got.Stretches[j][i]-1, i, want.Waits[j][i])
				}
			}
		}
	})
}

// Jobs that hardly compute wait for those that are held up at the processor, or are not, in nodes of too many states for the chain of
// all stations.
func TestWaitsAtOtherStationsFollowWhoIsHeldUpAtTheProcessor(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]*gps.Network{
		"a pod of little weight seldom comes to the disk": {Servers: []int{2, 1, 1}, Jobs: []gps.Job{
			{Demands: []float64{1}, Threads: 11, Weight: 318},
			{Demands: []float64{0.063, 0.745}, Threads: 3},
			{Demands: []float64{0, 0.363, 0.637}, Threads: 12, Weight: 6},
			{Demands: []float64{0, 0.162, 0.838}, Threads: 7, Weight: 8},
		}},
		"one that is always at the disk": {Servers: []int{1, 1}, Jobs: []gps.Job{
			{Demands: []float64{0.18, 0.806}, Threads: 4, Weight: 13},
			{Demands: []float64{0, 1}, Weight: 97},
			{Demands: []float64{0.009, 0.662}, Threads: 3},
			{Demands: []float64{0.445}, Threads: 8, Weight: 1000},
		}},
		"one that is seldom wholly away from the processor": {Servers: []int{1, 4}, Jobs: []gps.Job{
			{Demands: []float64{0.094, 0.239}, Threads: 3},
			{Demands: []float64{0.383, 0.252}, Threads: 2, Weight: 2.5},
			{Demands: []float64{0.482, 0.518}, Threads: 6, Weight: 818},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := dilations(t, n, solve), dilations(t, n, exactly)
			for j := range want {
				if math.Abs(got[j]/want[j]-1) > 0.01 {
					t.Errorf("job %d is dilated by %v, want %v", j, got[j], want[j])
				}
			}
		})
	}
}

// drawDemands draws demands with zeros and ones, and a whole that is sometimes 1.
func drawDemands(t *rapid.T, stations int) []float64 {
	d := make([]float64, stations)
	left := 1.0
	for i := range d {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
		case 1:
			d[i] = left
		default:
			d[i] = left * rapid.Float64Range(0.01, 1).Draw(t, "demand")
		}
		left -= d[i]
	}
	return d
}

// randomSet draws jobs with weights from 1 to spread, bursts from 1 to 10, and limits for every other one.
func randomSet(r *rand.Rand, jobs, stations, cores int, spread float64) *gps.Network {
	n := &gps.Network{Servers: []int{cores}}
	for range stations - 1 {
		n.Servers = append(n.Servers, []int{1, 2, 4}[r.IntN(3)])
	}
	between := func(low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
	for range jobs {
		demands, total := make([]float64, stations), 0.0
		for i := range demands {
			demands[i] = r.ExpFloat64()
			total += demands[i]
		}
		busy := 0.2 + 0.8*r.Float64()
		for i := range demands {
			demands[i] *= busy / total
		}
		j := gps.Job{Demands: demands, Weight: between(1, spread), Burst: between(1, 10)}
		if r.IntN(2) == 0 {
			j.Limit = 0.1 + 0.9*r.Float64()
		}
		n.Jobs = append(n.Jobs, j)
	}
	return n
}

// deviation is how far dilations are from others, relatively.
type deviation struct{ sum, worst, count float64 }

func (d *deviation) add(got, want []float64) {
	for j := range got {
		off := math.Abs(got[j]/want[j] - 1)
		d.sum += off
		d.worst = max(d.worst, off)
		d.count++
	}
}

func (d *deviation) mean() float64 { return d.sum / d.count }

func (d *deviation) String() string {
	return fmt.Sprintf("off by %.2f %% on average, %.1f %% at worst", 100*d.mean(), 100*d.worst)
}

// The study is `go test ./pkg/model/gps -run TestSolveIsNearTheChain -sets 1000 -jobs 8 -v -timeout 60m`.
func TestSolveIsNearTheChain(t *testing.T) {
	t.Parallel()
	var one, several, byClosure, equal deviation
	for set := range *sets {
		r := rand.New(rand.NewPCG(19, uint64(*first+set)))
		n := randomSet(r, 2+r.IntN(*mostIn-1), 1+r.IntN(3), []int{1, 2, 4}[r.IntN(3)], 100)
		want := dilations(t, n, exactly)
		if len(n.Servers) == 1 {
			one.add(dilations(t, n, solve), want)
		} else {
			several.add(dilations(t, n, solve), want)
		}
		byClosure.add(dilations(t, n, closed), want)
		same := &gps.Network{Servers: n.Servers}
		for _, j := range n.Jobs {
			same.Jobs = append(same.Jobs, gps.Job{Demands: j.Demands, Limit: j.Limit})
		}
		equal.add(dilations(t, same, solve), want)
		if done := set + 1; done%100 == 0 || done == *sets {
			t.Logf("%d sets of up to %d jobs at the processor alone: %v; at several stations: %v; by the closure %v; with equal weights %v",
				done, *mostIn, &one, &several, &byClosure, &equal)
		}
	}
	if one.mean() > 1e-4 || one.worst > 1e-3 {
		t.Errorf("the processor alone: %v", &one)
	}
	if several.mean() > 0.02 || several.worst > 0.1 {
		t.Errorf("several stations: %v", &several)
	}
	if byClosure.mean() > 0.02 {
		t.Errorf("closure: %v", &byClosure)
	}
}

// simulate returns the dilations of jobs of one thread at a processor alone, by a simulation of that many events.
func simulate(n *gps.Network, events int, r *rand.Rand) []float64 {
	jobs := len(n.Jobs)
	there, rate, worked := make([]bool, jobs), make([]float64, jobs), make([]float64, jobs)
	limit := func(j int) float64 {
		if n.Jobs[j].Limit > 0 {
			return min(1, n.Jobs[j].Limit)
		}
		return 1
	}
	now := 0.0
	for event := range events {
		waterFill(n, there, limit, rate)
		total := 0.0
		for j := range rate {
			p, burst := n.Jobs[j].Demands[0], n.Jobs[j].Burst
			if there[j] {
				rate[j] /= burst
			} else {
				rate[j] = p / (burst * (1 - p))
			}
			total += rate[j]
		}
		if event >= events/20 {
			now += 1 / total
			for j := range rate {
				if there[j] {
					worked[j] += rate[j] * n.Jobs[j].Burst / total
				}
			}
		}
		pick := r.Float64() * total
		for j := range rate {
			if pick -= rate[j]; pick < 0 || j == jobs-1 {
				there[j] = !there[j]
				break
			}
		}
	}
	d := make([]float64, jobs)
	for j := range d {
		p := n.Jobs[j].Demands[0]
		d[j] = now * p / worked[j] / (1 - p + p/limit(j))
	}
	return d
}

// waterFill shares cores: a job that can use less than a share by weight has all that it can use, until all others can use more.
func waterFill(n *gps.Network, there []bool, limit func(int) float64, rate []float64) {
	left, weights := float64(n.Servers[0]), 0.0
	for j := range rate {
		rate[j] = 0
		if there[j] {
			weights += n.Jobs[j].Weight
		}
	}
	for again := true; again; {
		again = false
		for j := range rate {
			if there[j] && rate[j] == 0 && limit(j)*weights <= left*n.Jobs[j].Weight {
				rate[j] = limit(j)
				left -= rate[j]
				weights -= n.Jobs[j].Weight
				again = true
			}
		}
	}
	for j := range rate {
		if there[j] && rate[j] == 0 {
			rate[j] = left * n.Jobs[j].Weight / weights
		}
	}
}

func TestTheClosureIsNearASimulationOfManyJobs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		jobs, cores int
		mean, worst float64
	}{{50, 16, 0.02, 0.1}, {20, 4, 0.02, 0.1}, {16, 1, 0.06, 0.4}} {
		var all deviation
		r := rand.New(rand.NewPCG(4, uint64(test.jobs)))
		for range 2 {
			n := randomSet(r, test.jobs, 1, test.cores, 100)
			for j := range n.Jobs { // so that about one and a half times the cores are wanted
				n.Jobs[j].Demands[0] *= min(1, 1.5*float64(test.cores)/float64(test.jobs)/0.6)
			}
			all.add(dilations(t, n, solve), simulate(n, 500_000, r))
		}
		t.Logf("%d jobs on %d cores: %v", test.jobs, test.cores, &all)
		if all.mean() > test.mean || all.worst > test.worst {
			t.Errorf("%d jobs on %d cores: %v", test.jobs, test.cores, &all)
		}
	}
}

// Properties of any network: nothing is faster than alone, equal jobs have equal responses, and the order of jobs does not matter.
func TestAnyNetworkIsSolved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t)
		for _, by := range []func(*gps.Network) (*gps.Solution, error){solve, closed} {
			s, err := by(n)
			if err != nil {
				t.Fatal(err)
			}
			last := len(n.Jobs) - 1
			for j, r := range s.Responses {
				if !(r >= 1-1e-9) || math.IsInf(r, 0) {
					t.Fatalf("job %d takes %v own times", j, r)
				}
			}
			if last > 0 && math.Abs(s.Responses[0]/s.Responses[last]-1) > 1e-6 {
				t.Fatalf("two equal jobs take %v and %v", s.Responses[0], s.Responses[last])
			}
		}
	})
}

// drawNetwork draws jobs with equal values, zeros and extremes; the last is equal to the first.
func drawNetwork(t *rapid.T) *gps.Network {
	weights := rapid.SampledFrom([]float64{0, 1, 1, 2, 39, 1e-3, 1e4})
	limits := rapid.SampledFrom([]float64{0, 0, 0.1, 1, 2.5})
	n := &gps.Network{Servers: rapid.SliceOfN(rapid.IntRange(1, 4), 1, 2).Draw(t, "servers"), Groups: []gps.Group{{}}}
	for g := range rapid.IntRange(0, 2).Draw(t, "groups") {
		n.Groups = append(n.Groups, gps.Group{Parent: rapid.IntRange(0, g).Draw(t, "parent"), Weight: max(1, weights.Draw(t, "weight")), Limit: limits.Draw(t, "limit")})
	}
	for range rapid.IntRange(0, 4).Draw(t, "jobs") {
		n.Jobs = append(n.Jobs, gps.Job{
			Demands: drawDemands(t, len(n.Servers)), Threads: rapid.IntRange(0, 3).Draw(t, "threads"), Weight: weights.Draw(t, "weight"),
			Limit: limits.Draw(t, "limit"), Group: rapid.IntRange(0, len(n.Groups)-1).Draw(t, "group"), Burst: rapid.SampledFrom([]float64{0, 0.01, 3}).Draw(t, "burst"),
		})
	}
	if len(n.Jobs) > 0 {
		n.Jobs = append(n.Jobs, n.Jobs[0])
	}
	return n
}

// Properties of jobs of many threads that are nearly always, or next to never, at a station.
func TestJobsOfExtremesAreSolved(t *testing.T) {
	t.Parallel()
	some := rapid.SampledFrom([]float64{0, 1e-300, 1e-10, 0.9e-7, 1e-7, 1.1e-7, 1e-6, 1e-3, 0.5})
	rapid.Check(t, func(t *rapid.T) {
		n := &gps.Network{Servers: []int{rapid.SampledFrom([]int{1, 2, 16}).Draw(t, "cores"), rapid.SampledFrom([]int{1, 4}).Draw(t, "disks")}}
		for range rapid.IntRange(1, 2).Draw(t, "jobs") {
			first, second := some.Draw(t, "first"), some.Draw(t, "second")
			demands := rapid.SampledFrom([][]float64{{first, second}, {1 - first, min(first, second)}, {min(first, second), 1 - first}}).Draw(t, "demands")
			n.Jobs = append(n.Jobs, gps.Job{
				Demands: demands, Threads: rapid.SampledFrom([]int{1, 2, 32, 60, 255}).Draw(t, "threads"),
				Weight: rapid.SampledFrom([]float64{0, 0, 1e-3}).Draw(t, "weight"), Limit: rapid.SampledFrom([]float64{0, 0, 0.1}).Draw(t, "limit"),
			})
		}
		s, err := gps.Solve(n, gps.Options{})
		if errors.Is(err, gps.ErrUnsettled) {
			return // it says so
		}
		if err != nil {
			t.Fatal(err)
		}
		for j, r := range s.Responses {
			if !(r >= 1-1e-6) || math.IsInf(r, 0) {
				t.Fatalf("job %d takes %v own times", j, r)
			}
			for i, stretch := range s.Stretches[j] {
				if !(stretch >= 1-1e-9) || math.IsInf(stretch, 0) {
					t.Fatalf("job %d takes %v times as long at station %d", j, stretch, i)
				}
			}
		}
	})
}

// Threads that only compute and read, alone, whose disk next to never makes them wait: by the repairman's model with many threads for each core.
func TestManyThreadsThatHardlyEverReadShareTheCores(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{32, 60, 200, 255} {
		for _, disk := range []float64{1e-10, 1e-7, 1e-6, 1e-3} {
			n := &gps.Network{Servers: []int{2, 1}, Jobs: []gps.Job{{Demands: []float64{1 - disk, disk}, Threads: threads}}}
			s, err := solve(n)
			if err != nil {
				t.Fatal(err)
			}
			if want := float64(threads) / 2; math.Abs(s.Responses[0]/want-1) > 2*disk+1e-6 {
				t.Errorf("%d threads with a demand of %v at the disk take %v own times, not %v", threads, disk, s.Responses[0], want)
			}
		}
	}
}

// A demand of next to nothing makes no time infinite.
func TestNegligibleDemandsCountForNothing(t *testing.T) {
	t.Parallel()
	for _, tiny := range []float64{5e-324, 1e-309, 1e-13, 1e-8} {
		n := &gps.Network{Servers: []int{1, 1}, Jobs: []gps.Job{{Demands: []float64{tiny, 0.5}, Weight: 3}, {Demands: []float64{0.5, 0.5}}, {Demands: []float64{1, 0}}}}
		for solver, by := range map[string]func(*gps.Network) (*gps.Solution, error){"solve": solve, "closure": closed} {
			s, err := by(n)
			if err != nil {
				t.Fatalf("%s: %v: %v", solver, tiny, err)
			}
			for j, r := range s.Responses {
				if !(r >= 1-1e-6) || r > 3 {
					t.Errorf("%s: beside a demand of %v job %d takes %v own times", solver, tiny, j, r)
				}
			}
		}
	}
}

func TestTooManyStatesAreRefused(t *testing.T) {
	t.Parallel()
	n := &gps.Network{Servers: []int{1}}
	for j := range 12 {
		n.Jobs = append(n.Jobs, gps.Job{Demands: []float64{0.1}, Weight: float64(j + 1)})
	}
	if _, err := gps.Exact(n, 4095); !errors.Is(err, gps.ErrTooLarge) {
		t.Errorf("4096 states: %v", err)
	}
	if _, err := gps.Exact(n, 4096); err != nil {
		t.Error(err)
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, jobs := range []int{2, 6, 12, 50} {
		n := randomSet(rand.New(rand.NewPCG(3, uint64(jobs))), jobs, 2, 2, 100)
		b.Run(fmt.Sprintf("%d-jobs", jobs), func(b *testing.B) {
			for b.Loop() {
				if _, err := gps.Solve(n, gps.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A pod of little weight and many threads gets the less done the more of them wait: the iteration of the closure goes around in
// circles, for ever.
func TestAClosureThatCirclesSettles(t *testing.T) {
	t.Parallel()
	n := &gps.Network{Servers: []int{4}}
	for _, j := range []struct {
		demand, weight, limit float64
		threads               int
	}{{0.1, 8, 0.13, 1}, {0.2, 79, 0.32, 1}, {1, 157, 0, 1}, {0.1, 8, 1.18, 8}, {0.5, 79, 0, 2}, {0.05, 1, 0, 16}, {0.05, 79, 0, 2}, {0.05, 313, 0, 16}} {
		n.Jobs = append(n.Jobs, gps.Job{Demands: []float64{j.demand}, Weight: j.weight, Limit: j.limit, Threads: j.threads})
	}
	s, err := gps.Solve(n, gps.Options{})
	if err != nil || s.Chain {
		t.Fatalf("%+v, %v", s, err)
	}
	used := 0.0
	for j := range n.Jobs {
		used += n.Jobs[j].Demands[0] * float64(n.Jobs[j].Threads) / s.Responses[j]
	}
	if slow := s.Responses[5]; slow < 1.5 || slow > 4 || used > 4 {
		t.Errorf("the pod of 16 threads takes %v times as long as alone, and all use %v of 4 cores", slow, used)
	}
}

// Many threads of bursts from 0.2 to 200 ms on 16 cores: accelerated steps wander until odds are no numbers, and shorter ones settle.
func TestAClosureWhoseAccelerationWandersSettles(t *testing.T) {
	t.Parallel()
	n := &gps.Network{Servers: []int{16}}
	for _, j := range []struct {
		weight, demand, burst float64
		threads               int
	}{
		{4, 0.5, 200, 1},
		{8, 0.05, 2, 16},
		{8, 0.1, 200, 8},
		{157, 0.3, 200, 2},
		{2, 0.05, 100, 16},
		{20, 0.05, 0.2, 1},
		{2, 0.2, 50, 2},
		{8, 1, 5, 1},
		{313, 0.3, 100, 16},
		{8, 0.2, 20, 4},
		{79, 0.7, 100, 2},
		{157, 0.7, 1, 1},
		{39, 0.5, 10, 2},
		{79, 0.2, 100, 16},
		{1, 0.1, 0.2, 8},
	} {
		n.Jobs = append(n.Jobs, gps.Job{Demands: []float64{j.demand}, Weight: j.weight, Burst: j.burst / 1000, Threads: j.threads})
	}
	s, err := gps.Solve(n, gps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	used := 0.0
	for j, response := range s.Responses {
		used += n.Jobs[j].Demands[0] * float64(n.Jobs[j].Threads) / response
		if !(response >= 1) || math.IsInf(response, 1) {
			t.Errorf("job %d takes %v times as long as alone", j, response)
		}
	}
	if used > 16 {
		t.Errorf("all use %v of 16 cores", used)
	}
}
