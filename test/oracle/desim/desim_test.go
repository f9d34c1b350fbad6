package desim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/test/oracle/desim"
)

// plain returns a server with some stations of one server and speed 1.
func plain(stations int) desim.Server {
	return slices.Repeat(desim.Server{{Servers: 1, Speed: 1}}, stations)
}

// sample holds what a number of runs gave for one quantity.
type sample []float64

// draw runs the jobs again and again and keeps what the function makes of when they
// completed.
func draw(runs int, servers []desim.Server, jobs []desim.Job, visits int, f func(ends []float64) float64) sample {
	var s sample
	for run := range runs {
		s = append(s, f(desim.Run(servers, jobs, visits, rand.New(rand.NewPCG(uint64(run), 1)))))
	}
	return s
}

// mean returns the mean and its standard error.
func (s sample) mean() (mean, standardError float64) {
	n := float64(len(s))
	for _, x := range s {
		mean += x / n
	}
	squares := 0.0
	for _, x := range s {
		squares += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}

// expect fails unless the mean is the wanted one, within four standard errors and
// what is allowed for besides, relatively. The standard error must be below 0.1 %,
// or the test would find nothing.
func (s sample) expect(t *testing.T, want, besides float64) {
	t.Helper()
	mean, standardError := s.mean()
	if standardError > 1e-3*want {
		t.Errorf("the standard error of %v is %v, more than 0.1 %%", mean, standardError)
	}
	if math.Abs(mean-want) > 4*standardError+besides*want {
		t.Errorf("got %v ± %v, want %v", mean, standardError, want)
	}
}

func TestAJobAloneTakesItsNeutralTime(t *testing.T) {
	t.Parallel()
	servers := []desim.Server{plain(2), {{Servers: 4, Speed: 2}, {Servers: 1, Speed: 0.5}}}
	jobs := []desim.Job{ // the third comes after an idle period, the last has nothing to do
		{Arrival: 5, Server: 0, Demands: []float64{3, 2}, Idle: 1},
		{Arrival: 5, Server: 1, Demands: []float64{3, 2}, Idle: 1},
		{Arrival: 50, Server: 1, Demands: []float64{0, 2}},
		{Arrival: 60, Server: 1, Demands: []float64{1}},
		{Arrival: 70, Server: 0, Idle: 10},
		{Arrival: 90, Server: 0},
	}
	ends := desim.Run(servers, jobs, 1000, rand.New(rand.NewPCG(1, 1)))
	for j, want := range []float64{11, 11.5, 54, 60.5, 80, 90} {
		if math.Abs(ends[j]-want) > 1e-9 { // the rounding of thousands of sums
			t.Errorf("job %d completes at %v, want %v", j, ends[j], want)
		}
	}
}

func TestTwoJobsBoundByOneServerTakeTwiceAsLong(t *testing.T) {
	t.Parallel()
	jobs := []desim.Job{{Demands: []float64{10}}, {Demands: []float64{10}}, {Arrival: 15, Server: 1, Demands: []float64{10}}}
	ends := desim.Run([]desim.Server{plain(1), plain(1)}, jobs, 1000, rand.New(rand.NewPCG(1, 1)))
	for j, want := range []float64{20, 20, 25} {
		if math.Abs(ends[j]-want) > 1e-9 {
			t.Errorf("job %d completes at %v, want %v", j, ends[j], want)
		}
	}
}

// Whatever jobs do at the only station, it is never idle while one of them is
// there: the last is done when all work is, c·speed seconds of it per second.
func TestABusyStationLosesNoTime(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, station := range []desim.Station{{Servers: 1, Speed: 1}, {Servers: 4, Speed: 1}, {Servers: 2, Speed: 3}} {
		var jobs []desim.Job
		for range 4 * station.Servers {
			jobs = append(jobs, desim.Job{Demands: []float64{10}})
		}
		want := 40 / station.Speed
		if end := slices.Max(desim.Run([]desim.Server{{station}}, jobs, 500, r)); math.Abs(end-want) > 1e-9 {
			t.Errorf("%+v: the last of %d jobs is done at %v, want %v", station, len(jobs), end, want)
		}
	}
}

// Table 1 of Menascé and Bardhan, "Epochs", GMU-CS-TR-2014-01: J1 = (1, 2) and
// J2 = (3, 5) seconds. While both run each takes 37/24 times as long as alone, and
// would if one of them were ten times as long, so that the other completes first.
func TestTable1OfEpochsIsExactMeanValueAnalysis(t *testing.T) {
	t.Parallel()
	j1, j2 := desim.Job{Demands: []float64{1, 2}}, desim.Job{Demands: []float64{3, 5}}
	scaled := func(j desim.Job, by float64) desim.Job {
		return desim.Job{Demands: []float64{by * j.Demands[0], by * j.Demands[1]}}
	}
	server := []desim.Server{plain(2)}
	first := func(ends []float64) float64 { return ends[0] }
	draw(200, server, []desim.Job{j1, j2}, 1000, first).expect(t, 37.0/8, 0)
	draw(200, server, []desim.Job{j2, scaled(j1, 10)}, 1000, first).expect(t, 37.0/3, 0)
	// When J1 is gone, J2 is alone with what is left of it.
	draw(200, server, []desim.Job{j2, j1}, 1000, first).expect(t, 37.0/8+8*(1-37.0/8/(37.0/3)), 0)
}

func TestManyJobsOnManyServersAreTheirBirthDeathProcess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		jobs, servers int
		p             float64
	}{{32, 16, 0.6}, {8, 2, 0.3}, {5, 1, 0.4}, {6, 4, 0.9}} {
		t.Run(fmt.Sprintf("%d jobs on %d servers", test.jobs, test.servers), func(t *testing.T) {
			t.Parallel()
			server := []desim.Server{{{Servers: test.servers, Speed: 1}}}
			jobs := slices.Repeat([]desim.Job{{Demands: []float64{test.p}, Idle: 1 - test.p}}, test.jobs)
			// One has less work, so that no other completes before it.
			jobs[0] = desim.Job{Demands: []float64{test.p / 2}, Idle: (1 - test.p) / 2}
			dilation := func(ends []float64) float64 { return 2 * ends[0] }
			draw(200, server, jobs, 1000, dilation).expect(t, birthDeath(test.jobs, test.servers, test.p), 0)
		})
	}
}

// birthDeath returns the dilation of n jobs that spend the fraction p of their
// neutral time at a station with c servers. Where k jobs are, min(k, c) servers are
// busy: a job leaves at rate min(k, c)/p, and one comes at rate (n − k)/(1 − p). A
// neutral time takes p seconds of a server, so that on average busy/p of them pass
// per second, of n jobs.
func birthDeath(n, c int, p float64) float64 {
	weight, total, busy := 1.0, 1.0, 0.0
	for k := 1; k <= n; k++ {
		servers := float64(min(k, c))
		weight *= float64(n-k+1) / (1 - p) * p / servers
		total += weight
		busy += weight * servers
	}
	return float64(n) * p / (busy / total)
}

// The result does not depend on how jobs are cut up, or else the model that they
// stand for has no meaning: 100 visits give what 5,000 do.
func TestCuttingFinerChangesNothing(t *testing.T) {
	t.Parallel()
	servers := []desim.Server{{{Servers: 2, Speed: 1}, {Servers: 1, Speed: 2}, {Servers: 1, Speed: 1}}}
	jobs := []desim.Job{
		{Arrival: 0, Demands: []float64{4, 2, 0}, Idle: 1},
		{Arrival: 0, Demands: []float64{3, 0, 3}},
		{Arrival: 1, Demands: []float64{0, 5, 1}, Idle: 2},
		{Arrival: 3, Demands: []float64{6, 1, 1}},
		{Arrival: 4, Demands: []float64{1, 1, 4}, Idle: 3},
	}
	for j := range jobs {
		end := func(ends []float64) float64 { return ends[j] }
		want, standardError := draw(50, servers, jobs, 5000, end).mean()
		draw(2000, servers, jobs, 100, end).expect(t, want, 3*standardError/want)
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	t.Parallel()
	jobs := slices.Repeat([]desim.Job{{Demands: []float64{1, 2}, Idle: 1}}, 5)
	run := func(seed uint64) []float64 {
		return desim.Run([]desim.Server{plain(2)}, jobs, 100, rand.New(rand.NewPCG(seed, 1)))
	}
	if !slices.Equal(run(1), run(1)) {
		t.Error("two runs with seed 1 differ")
	}
	if slices.Equal(run(1), run(2)) {
		t.Error("runs with seeds 1 and 2 are the same")
	}
}

// How many visits are simulated per second, and what is left of the cutting: a, the
// relative deviation of the first completion time times the root of the visits.
func BenchmarkRun(b *testing.B) {
	const visits = 1000
	for _, n := range []int{2, 8, 32} {
		b.Run(fmt.Sprintf("%d jobs", n), func(b *testing.B) {
			jobs := slices.Repeat([]desim.Job{{Demands: []float64{1, 2}, Idle: 1}}, n)
			jobs[0] = desim.Job{Demands: []float64{0.5, 1}, Idle: 0.5} // the shortest, so that the others have twice the visits
			r := rand.New(rand.NewPCG(1, 1))
			var ends sample
			for b.Loop() {
				ends = append(ends, desim.Run([]desim.Server{plain(2)}, jobs, visits, r)[0])
			}
			b.ReportMetric(float64(b.N*visits*(2*n-1))/b.Elapsed().Seconds(), "visits/s")
			if mean, standardError := ends.mean(); len(ends) > 1 {
				b.ReportMetric(standardError/mean*math.Sqrt(float64(len(ends)*visits)), "a")
			}
		})
	}
}
