package queueing_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
)

var studied = flag.Int("networks", 25, "random networks per cell of the study of errors")

// The errors of the approximations against the exact solution, which other tests compare with mean value
// analysis and the Markov chain, by the number of jobs and by the largest number of servers. With -networks
// 2000 -v this prints the figures of docs/evidence/solvers.md. Half of the networks are sparse, see thin; more
// jobs are at fewer stations, as far as the exact solution reaches.
func TestErrorsByJobsAndServers(t *testing.T) {
	t.Parallel()
	sizes := []struct{ least, most, stations int }{{2, 4, 6}, {5, 8, 6}, {9, 12, 6}, {13, 24, 3}, {25, 60, 2}}
	solvers := []queueing.Solver{queueing.Linearizer, queueing.Schweitzer, queueing.FirstOrder}
	limits := [][2]float64{{0.003, 0.03}, {0.063, 0.5}, {0.15, 6}} // mean and worst, of any cell
	unsettled := 0
	rows := make([]string, len(solvers))
	for _, servers := range []int{1, 2, 4, 8, 16} {
		for s, solver := range solvers {
			rows[s] += fmt.Sprintf("\n%v | %d |", solver, servers)
		}
		for _, size := range sizes {
			errors := make([]relativeErrors, len(solvers))
			r := rand.New(rand.NewPCG(uint64(servers), uint64(size.most)))
			for range *studied {
				network := shape{size.most, size.stations, servers, r.IntN(2) == 0, r.IntN(2) == 0}.drawAtLeast(r, size.least)
				want := solve(t, network, queueing.Options{Solver: queueing.Exact}).Dilations
				for s, solver := range solvers {
					solution, err := queueing.Solve(network, queueing.Options{Solver: solver})
					if err != nil {
						unsettled++
						continue
					}
					errors[s].add(solution.Dilations, want)
				}
			}
			for s, solver := range solvers {
				rows[s] += fmt.Sprintf(" %.2f %%, %.1f %% |", 100*errors[s].mean(), 100*errors[s].worst)
				if errors[s].mean() > limits[s][0] || errors[s].worst > limits[s][1] {
					t.Errorf("%v, %v jobs, up to %d servers: off by %v on average and %v at worst", solver, size, servers, errors[s].mean(), errors[s].worst)
				}
			}
		}
	}
	t.Log(strings.Join(rows, "\n"))
	if t.Logf("%d did not settle", unsettled); unsettled > *studied/100 { // rare, and Auto takes Schweitzer then
		t.Errorf("%d did not settle", unsettled)
	}
}

// drawAtLeast draws until there are at least that many jobs, and a station with more than
// half of the servers.
func (s shape) drawAtLeast(r *rand.Rand, jobs int) *queueing.Network {
	for {
		network := s.draw(r)
		if len(network.Classes) >= jobs && (s.servers == 1 || slices.Max(network.Servers) > s.servers/2) {
			return network
		}
	}
}
