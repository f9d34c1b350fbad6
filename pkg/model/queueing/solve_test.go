package queueing_test

import (
	"errors"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
)

var rungs = []queueing.Solver{queueing.FirstOrder, queueing.Schweitzer, queueing.Linearizer, queueing.Exact}

func TestInvalidInputIsNamed(t *testing.T) {
	t.Parallel()
	good := queueing.Class{Demands: []float64{1}}
	one := func(c queueing.Class) queueing.Network {
		return queueing.Network{Servers: []int{1}, Classes: []queueing.Class{good, c}}
	}
	for name, test := range map[string]struct {
		network queueing.Network
		options queueing.Options
		want    string
	}{
		"no servers":             {queueing.Network{Servers: []int{1, 0}}, queueing.Options{}, "servers[1]: 0 is not between 1 and 16384"},
		"far too many servers":   {queueing.Network{Servers: []int{1 << 20}}, queueing.Options{}, "servers[0]: 1.048576e+06 is not between 1 and 16384"},
		"a NaN demand":           {one(queueing.Class{Demands: []float64{math.NaN()}}), queueing.Options{}, "classes[1].demands[0]: NaN is not a finite time of at least 0"},
		"an infinite demand":     {one(queueing.Class{Demands: []float64{math.Inf(1)}}), queueing.Options{}, "classes[1].demands[0]: +Inf is not a finite time of at least 0"},
		"a negative demand":      {one(queueing.Class{Demands: []float64{-1}}), queueing.Options{}, "classes[1].demands[0]: -1 is not a finite time of at least 0"},
		"a negative idle time":   {one(queueing.Class{Idle: -0.5}), queueing.Options{}, "classes[1].idle: -0.5 is not a finite time of at least 0"},
		"a job that takes none":  {one(queueing.Class{}), queueing.Options{}, "classes[1]: 0 is how long a round takes: demands and idle time must add up to a finite time above 0"},
		"a round beyond numbers": {one(queueing.Class{Demands: []float64{math.MaxFloat64}, Idle: math.MaxFloat64}), queueing.Options{}, "classes[1]: +Inf is how long a round takes: demands and idle time must add up to a finite time above 0"},
		"an unknown station":     {one(queueing.Class{Demands: []float64{1, 1}}), queueing.Options{}, "classes[1].demands: 2 values for 1 stations"},
		"an infinite pressure":   {one(queueing.Class{Idle: 1, Pressures: []float64{math.Inf(1)}}), queueing.Options{}, "classes[1].pressures[0]: +Inf is not a finite time of at least 0"},
		"too many pressures":     {one(queueing.Class{Idle: 1, Pressures: []float64{1, 1}}), queueing.Options{}, "classes[1].pressures: 2 values for 1 stations"},
		"a NaN sensitivity":      {one(queueing.Class{Idle: 1, Sensitivities: []float64{math.NaN()}}), queueing.Options{}, "classes[1].sensitivities[0]: NaN is not a finite time of at least 0, or too many times the demand"},
		"too many sensitivities": {one(queueing.Class{Idle: 1, Sensitivities: []float64{1, 1}}), queueing.Options{}, "classes[1].sensitivities: 2 values for 1 stations"},
		"negative threads":       {one(queueing.Class{Idle: 1, Threads: []int{-1}}), queueing.Options{}, "classes[1].threads[0]: -1 is not between 0 and 65536"},
		"negative copies":        {one(queueing.Class{Idle: 1, Copies: -1}), queueing.Options{}, "classes[1].copies: -1 is not between 0 and 65536"},
		"more jobs than allowed": {one(queueing.Class{Idle: 1, Copies: 65536}), queueing.Options{}, "classes[1]: 65537 jobs with those before it, are more than 65536"},
		"an unknown solver":      {one(good), queueing.Options{Solver: 7}, "solver: 7 is not one of Auto, FirstOrder, Schweitzer, Linearizer and Exact"},
		"a NaN tolerance":        {one(good), queueing.Options{Tolerance: math.NaN()}, "tolerance: NaN is not a finite number of at least 0"},
		"negative iterations":    {one(good), queueing.Options{Iterations: -1}, "iterations: -1 is negative"},
		"an endless budget":      {one(good), queueing.Options{ExactSteps: math.MaxInt}, "exactSteps: 9.223372036854776e+18 is more than 1073741824"},
	} {
		_, err := queueing.Solve(&test.network, test.options)
		var value *queueing.ValueError
		if !errors.As(err, &value) || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// distinct returns n jobs that all differ, at the given number of single servers.
func distinct(n, stations int) *queueing.Network {
	network := &queueing.Network{Servers: make([]int, stations)}
	for i := range network.Servers {
		network.Servers[i] = 1
	}
	for k := range n {
		class := queueing.Class{Idle: 1 + float64(k)/10}
		for i := range stations {
			class.Demands = append(class.Demands, 1+float64(i*k%7))
		}
		network.Classes = append(network.Classes, class)
	}
	return network
}

func TestExactRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	asymmetric := distinct(3, 1)
	asymmetric.Classes[1].Pressures = []float64{0.5}
	insensitive := distinct(3, 1)
	insensitive.Classes[2].Sensitivities = []float64{0.5}
	uneven := distinct(3, 2)
	uneven.Classes[0].Threads = []int{4, 1}
	crowd := distinct(1, 1)
	crowd.Classes[0].Copies = 513
	for name, test := range map[string]struct {
		network *queueing.Network
		want    error
	}{
		"a pressure that is not the demand":  {asymmetric, queueing.ErrNotStandard},
		"waits that are not the service":     {insensitive, queueing.ErrNotStandard},
		"threads that differ by station":     {uneven, queueing.ErrNotStandard},
		"40 different jobs at eight servers": {distinct(40, 8), queueing.ErrTooLarge},
		"513 jobs":                           {crowd, queueing.ErrTooLarge},
	} {
		if _, err := queueing.Solve(test.network, queueing.Options{Solver: queueing.Exact}); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
		if solution := solve(t, test.network, queueing.Options{}); solution.Solver != queueing.Linearizer {
			t.Errorf("%s: Auto is %v, want Linearizer", name, solution.Solver)
		}
	}
}

func TestExactTakesTwentyDifferentJobsAtEightStations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	t.Parallel()
	network := distinct(20, 8)
	exact := solve(t, network, queueing.Options{Solver: queueing.Exact})
	var errors relativeErrors
	errors.add(solve(t, network, queueing.Options{Solver: queueing.Linearizer}).Dilations, exact.Dilations)
	errors.atMost(t, 0.003, 0.02)
}

func TestLinearizerRefusesMoreClassesThanMemory(t *testing.T) {
	t.Parallel()
	network := distinct(6000, 1)
	if _, err := queueing.Solve(network, queueing.Options{Solver: queueing.Linearizer}); !errors.Is(err, queueing.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	if solution := solve(t, network, queueing.Options{}); solution.Solver != queueing.Schweitzer {
		t.Errorf("Auto is %v, want Schweitzer", solution.Solver)
	}
}

func TestAutoIsExactWhereThatIsCheap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		network *queueing.Network
		options queueing.Options
		want    queueing.Solver
	}{
		{"100 different jobs at two stations", distinct(100, 2), queueing.Options{}, queueing.Exact},
		{"30 different jobs at three stations", distinct(30, 3), queueing.Options{}, queueing.Exact},
		{"10 different jobs at eight stations", distinct(10, 8), queueing.Options{}, queueing.Exact},
		{"20 different jobs at eight stations", distinct(20, 8), queueing.Options{}, queueing.Linearizer},
		{"two jobs, and exact ruled out", distinct(2, 1), queueing.Options{ExactSteps: -1}, queueing.Linearizer},
	} {
		if got := solve(t, test.network, test.options).Solver; got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestAnIterationThatDoesNotSettleIsAnErrorButNotForAuto(t *testing.T) {
	t.Parallel()
	network := distinct(20, 8)
	hopeless := queueing.Options{Iterations: 1, Tolerance: 1e-12}
	for _, solver := range []queueing.Solver{queueing.Schweitzer, queueing.Linearizer} {
		options := hopeless
		options.Solver = solver
		if _, err := queueing.Solve(network, options); !errors.Is(err, queueing.ErrUnsettled) {
			t.Errorf("%v: got %v, want ErrUnsettled", solver, err)
		}
	}
	if got := solve(t, network, hopeless).Solver; got != queueing.FirstOrder {
		t.Errorf("Auto is %v, want FirstOrder", got)
	}
}

func TestNobodyWaitsAlone(t *testing.T) {
	t.Parallel()
	for name, network := range map[string]*queueing.Network{
		"an empty network":             {Servers: []int{1}},
		"no stations":                  {Classes: []queueing.Class{{Idle: 1, Copies: 9}}},
		"one job":                      {Servers: []int{1}, Classes: []queueing.Class{{Demands: []float64{2}}}},
		"as many servers as jobs":      {Servers: []int{4}, Classes: []queueing.Class{{Demands: []float64{2}, Copies: 4}}},
		"two jobs that never meet":     {Servers: []int{1, 1}, Classes: []queueing.Class{{Demands: []float64{1}}, {Demands: []float64{0, 1}}}},
		"one job and an idle neighbor": {Servers: []int{1}, Classes: []queueing.Class{{Demands: []float64{1}}, {Idle: 3}}},
	} {
		for _, solver := range append(rungs, queueing.Auto) {
			solution := solve(t, network, queueing.Options{Solver: solver})
			if len(solution.Dilations) != len(network.Classes) {
				t.Fatalf("%s, %v: %d dilations for %d classes", name, solver, len(solution.Dilations), len(network.Classes))
			}
			for k, dilation := range solution.Dilations {
				if dilation != 1 {
					t.Errorf("%s, %v: dilation %v of class %d, want 1", name, solver, dilation, k)
				}
			}
		}
	}
}

func TestSolversHaveNames(t *testing.T) {
	t.Parallel()
	for solver, want := range map[queueing.Solver]string{
		queueing.Auto: "auto", queueing.FirstOrder: "first order", queueing.Schweitzer: "Schweitzer",
		queueing.Linearizer: "Linearizer", queueing.Exact: "exact", 9: "Solver(9)",
	} {
		if got := solver.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
