package queueing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
)

// busyNode is a node with eight resources that are all in demand.
func busyNode(jobs int) *queueing.Network {
	r := rand.New(rand.NewPCG(1, 8))
	network := &queueing.Network{Servers: []int{1, 1, 1, 1, 1, 1, 1, 1}}
	for range jobs {
		class := queueing.Class{}
		for range network.Servers {
			class.Demands = append(class.Demands, r.ExpFloat64())
		}
		class.Idle = sum(class.Demands) * float64(jobs) / 8 * r.Float64()
		network.Classes = append(network.Classes, class)
	}
	return network
}

func BenchmarkSolve(b *testing.B) {
	for _, solver := range []queueing.Solver{queueing.FirstOrder, queueing.Schweitzer, queueing.Linearizer} {
		for _, jobs := range []int{10, 100, 1000} {
			network := busyNode(jobs)
			replicas := &queueing.Network{Servers: network.Servers, Classes: []queueing.Class{network.Classes[0]}}
			replicas.Classes[0].Copies = jobs
			b.Run(fmt.Sprintf("%v/%d different", solver, jobs), run(network, queueing.Options{Solver: solver}))
			b.Run(fmt.Sprintf("%v/%d replicas", solver, jobs), run(replicas, queueing.Options{Solver: solver}))
		}
	}
}

// A node with 16 cores, on which every job runs, beside seven single resources.
func BenchmarkManyServers(b *testing.B) {
	for _, solver := range []queueing.Solver{queueing.Schweitzer, queueing.Linearizer} {
		for _, jobs := range []int{20, 100} {
			network := busyNode(jobs)
			network.Servers[0] = 16
			b.Run(fmt.Sprintf("%v/%d different", solver, jobs), run(network, queueing.Options{Solver: solver}))
		}
	}
}

// What Linearizer takes for 100 jobs from the solution of the same network, and of
// one in which another job was in the place of the last.
func BenchmarkWarmLinearizer(b *testing.B) {
	network := busyNode(101)
	options := queueing.Options{Solver: queueing.Linearizer}
	first := &queueing.Network{Servers: network.Servers, Classes: network.Classes[:100]}
	options.Start = solve(b, first, options)
	b.Run("nothing changed", run(first, options))
	other := &queueing.Network{Servers: network.Servers, Classes: append(network.Classes[:99:99], network.Classes[100])}
	b.Run("one job changed", run(other, options))
}

func BenchmarkExact(b *testing.B) {
	for _, size := range []struct{ jobs, stations int }{{12, 8}, {16, 4}, {16, 8}, {30, 3}, {100, 2}} {
		b.Run(fmt.Sprintf("%d jobs, %d stations", size.jobs, size.stations),
			run(distinct(size.jobs, size.stations), queueing.Options{Solver: queueing.Exact}))
	}
}

func run(network *queueing.Network, options queueing.Options) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		var solution *queueing.Solution
		for b.Loop() {
			solution = solve(b, network, options)
		}
		b.ReportMetric(float64(solution.Iterations), "iterations")
	}
}
