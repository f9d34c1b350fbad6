package fairshare_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/model/queueing"
)

func TestOneWorkloadIsAnOrdinaryQueue(t *testing.T) {
	t.Parallel()
	for _, u := range []float64{0, 1e-9, 0.5, 0.99, 0.999999} {
		for name, tree := range map[string]*fairshare.Tree{
			"alone":    build(t, workload("a", 3, u)),
			"in depth": build(t, group("x", 1, group("y", 2, group("z", 3, workload("a", 3, u))))),
		} {
			r := solve(t, tree, fairshare.Options{})
			if off := furthest(t, r.Factors, []float64{1 / (1 - u)}); off > near {
				t.Errorf("%s, %v busy: off by %g", name, u, off)
			}
		}
	}
}

func TestEqualWorkloadsAllGetTheMean(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 10, 1000} {
		members := make([]*fairshare.Group, n)
		for i := range members {
			members[i] = workload(strconv.Itoa(i), 7, 0.99/float64(n))
		}
		r := solve(t, build(t, members...), fairshare.Options{})
		for w, f := range r.Factors {
			if math.Abs(f-100) > 100*near {
				t.Errorf("workload %d of %d: %v", w, n, f)
			}
		}
	}
}

// A workload without jobs does not matter to the others, and its response time is the
// limit of that of a workload with few.
func TestZeroUtilizationIsTheLimitOfLittle(t *testing.T) {
	t.Parallel()
	others := random(rand.New(rand.NewPCG(1, 4)), 6, 3, 0.9)
	without := solve(t, build(t, others...), fairshare.Options{})
	none := solve(t, build(t, append(others, workload("rare", 5, 0))...), fairshare.Options{})
	if off := furthest(t, none.Factors[:6], without.Factors); off > near {
		t.Errorf("a workload without jobs moves others by %g", off)
	}
	const little = 1e-9
	few := solve(t, build(t, append(others, workload("rare", 5, little))...), fairshare.Options{})
	if off := math.Abs(few.Factors[6]/none.Factors[6] - 1); off > 100*little {
		t.Errorf("%v without jobs, %v with few", none.Factors[6], few.Factors[6])
	}
	idle := solve(t, build(t, workload("a", 1, 0), group("g", 1, workload("b", 1, 0))), fairshare.Options{})
	if off := furthest(t, idle.Factors, []float64{1, 1}); off > near {
		t.Errorf("nobody has jobs, and response times are %v", idle.Factors)
	}
}

// With giant ratios of shares the order is as good as fixed, and response times are those
// of priorities: off by the probability of another order, 1e-12 here, times at most
// 1/(1 − U)².
func TestGiantSharesArePriorities(t *testing.T) {
	t.Parallel()
	tree := build(t, workload("low", 1, 0.3), workload("high", 1e24, 0.4), workload("mid", 1e12, 0.2))
	r := solve(t, tree, fairshare.Options{})
	want := []float64{1 / (0.4 * 0.1), 1 / 0.6, 1 / (0.6 * 0.4)}
	if off := furthest(t, r.Factors, want); off > near {
		t.Errorf("%v, want %v", r.Factors, want)
	}
}

// Two workloads have a closed form: each is first with its relative share.
func TestTwoWorkloadsHaveAClosedForm(t *testing.T) {
	t.Parallel()
	for _, ratio := range []float64{1, 10, 1e6, 1e-6} {
		for _, total := range []float64{0.2, 0.99} {
			u, v := 0.7*total, 0.3*total
			p := ratio / (1 + ratio)
			idle := 1 - u - v
			want := []float64{p/(1-u) + (1-p)/((1-v)*idle), (1-p)/(1-v) + p/((1-u)*idle)}
			r := solve(t, build(t, workload("a", ratio, u), workload("b", 1, v)), fairshare.Options{})
			if off := furthest(t, r.Factors, want); off > near {
				t.Errorf("ratio %v, %v busy: %v, want %v", ratio, total, r.Factors, want)
			}
		}
	}
}

func TestATightToleranceIsKept(t *testing.T) {
	t.Parallel()
	for table := range map[string]bool{"2": true, "7": true, "8": true} {
		tree := paper(t, table).tree
		exact := solve(t, tree, fairshare.Options{Method: fairshare.Subsets})
		for _, tolerance := range []float64{fairshare.MinTolerance, 1e-12, 1e-8, fairshare.MaxTolerance} {
			r := solve(t, tree, fairshare.Options{Tolerance: tolerance})
			if off := furthest(t, r.Factors, exact.Factors); off > tolerance {
				t.Errorf("Table %s, tolerance %g: off by %g", table, tolerance, off)
			}
		}
	}
}

// A thousand workloads have no other exact method here. The law of conservation and a
// tighter tolerance are what there is to compare with.
func TestAThousandWorkloadsKeepTheLaw(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 5))
	for _, decades := range []float64{0, 6} {
		tree := build(t, random(r, 1000, decades, 0.99)...)
		got := solve(t, tree, fairshare.Options{Tolerance: 1e-8})
		tight := solve(t, tree, fairshare.Options{Tolerance: 1e-12})
		if off := furthest(t, got.Factors, tight.Factors); off > 1e-8 || got.Residual > 1e-8 {
			t.Errorf("shares over %v decades: off by %g, residual %g", decades, off, got.Residual)
		}
		if tight.Residual > 1e-12 {
			t.Errorf("shares over %v decades: residual %g at a tolerance of 1e-12", decades, tight.Residual)
		}
	}
}

// A tree of 20 levels with two members each has 2^19 sets ahead of the innermost.
func TestDeepTreesAgreeWithSubsets(t *testing.T) {
	t.Parallel()
	agree(t, build(t, deep(20, 0.95)...), fairshare.Options{}, fairshare.Subsets)
}

func TestAWorkloadAloneOnProcessorsIsAnMMmQueue(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{2, 16, 64, 256} {
		for _, busy := range []float64{0, 0.3, 0.9, 0.99} {
			load := busy * float64(servers)
			queue, err := queueing.NewMMm(max(load, 1e-300), 1, servers)
			if err != nil {
				t.Fatal(err)
			}
			r := solve(t, build(t, workload("a", 1, load)), fairshare.Options{Servers: servers})
			if off := furthest(t, r.Factors, []float64{meanResponse(queue)}); off > near {
				t.Errorf("%d processors, %v busy: off by %g", servers, busy, off)
			}
		}
	}
}

// With giant ratios of shares, the classes of a queue with preemptive priorities.
func TestGiantSharesOfProcessorsArePriorities(t *testing.T) {
	t.Parallel()
	loads := []float64{1.2, 0.5, 2, 0.1}
	var want []float64
	load, jobs := 0.0, 0.0
	for _, more := range loads {
		// Classes 1 to k together see nothing of those below, and as all are served at the
		// same rate the number of them in the system is that of an M/M/m queue.
		queue, err := queueing.NewMMm(load+more, 1, 4)
		if err != nil {
			t.Fatal(err)
		}
		together := (load + more) * meanResponse(queue)
		want = append(want, (together-jobs)/more)
		load, jobs = load+more, together
	}
	var members []*fairshare.Group
	for i, load := range loads {
		members = append(members, workload(strconv.Itoa(i), math.Pow(1e13, float64(3-i)), load))
	}
	r := solve(t, build(t, members...), fairshare.Options{Servers: 4})
	if off := furthest(t, r.Factors, want); off > near {
		t.Errorf("%v, want %v", r.Factors, want)
	}
}

func TestRaceAgreesWithSubsetsOnProcessors(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 6))
	for _, servers := range []int{2, 3, 8, 16, 64, 200} {
		for _, busy := range []float64{0.05, 0.5, 0.9, 0.99} {
			agree(t, build(t, random(r, 7, 4, busy*float64(servers))...), fairshare.Options{Servers: servers}, fairshare.Subsets)
		}
	}
}

// Equal, exponential service times need no formula of their own, and equal ones that are
// given as such are those that are not given.
func TestServiceTimesOnlyScaleWhenTheyAreEqual(t *testing.T) {
	t.Parallel()
	plain := solve(t, paper(t, "2").tree, fairshare.Options{})
	members := inverseSquares(10, 0.9)
	for _, m := range members {
		m.Service, m.SecondMoment = 0.25, 0.125
	}
	scaled := solve(t, build(t, members...), fairshare.Options{})
	if off := furthest(t, scaled.Factors, plain.Factors); off > near {
		t.Errorf("off by %g", off)
	}
	for w, response := range scaled.Responses {
		if math.Abs(response-0.25*scaled.Factors[w]) > 1e-15*response {
			t.Errorf("workload %d: %v s, %v service times of 0.25 s", w, response, scaled.Factors[w])
		}
	}
}

// Whatever is valid gives finite response times of at least 1, to the tolerance.
func TestExtremesStayFinite(t *testing.T) {
	t.Parallel()
	for name, members := range map[string][]*fairshare.Group{
		"shares":       {workload("a", 1e-100, 0.3), workload("b", 1e100, 0.3), workload("c", 2e-100, 0.3)},
		"little load":  {workload("a", 1, 5e-324), workload("b", 2, 1e-300), workload("c", 3, 0.5)},
		"saturation":   {workload("a", 1, 0.5), workload("b", 1e6, 0.5-1e-9)},
		"service time": {{Name: "a", Share: 1, Utilization: 0.5, Service: 1e-50}, {Name: "b", Share: 1, Utilization: 0.4, Service: 1e50, SecondMoment: 1e150}},
	} {
		for _, servers := range []int{1, 3} {
			if servers > 1 && name == "service time" {
				continue
			}
			tree := build(t, members...)
			r := solve(t, tree, fairshare.Options{Servers: servers})
			want := solve(t, tree, fairshare.Options{Servers: servers, Method: fairshare.Subsets})
			// Near saturation the slack, 1e-9, has an error of 1e-16 in itself.
			if off := furthest(t, r.Factors, want.Factors); off > 1e-6 || (name != "saturation" && off > near) {
				t.Errorf("%s, %d processors: off by %g", name, servers, off)
			}
			for w, f := range r.Factors {
				if !(f >= 1-near) || math.IsInf(f, 1) || !(r.Residual < 1e-6) {
					t.Errorf("%s, %d processors, workload %d: %v, residual %v", name, servers, w, f, r.Residual)
				}
			}
		}
	}
}
