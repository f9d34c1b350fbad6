// Judge draws mixes of pods and writes by how much the simulation of the Linux scheduler says that they slow each other down.
//
//	judge --processors 16 --mixes 200 --seed 1 >mixes.csv
//
// Models are compared with such tables: test/testdata/judged has some, and what their columns mean.
package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	kernel                                     string
	processors, caches, mixes, seed, replicate int
	window                                     time.Duration
	workers                                    int
}

func run(out io.Writer, args []string) error {
	var o options
	flags := flag.NewFlagSet("judge", flag.ContinueOnError)
	flags.StringVar(&o.kernel, "kernel", "6.12", "the `version` of Linux: 6.1, 6.12 or 6.18")
	flags.IntVar(&o.processors, "processors", 4, "how many processors the machine has")
	flags.IntVar(&o.caches, "caches", 0, "how many last-level caches they share (default one for each 16 processors)")
	flags.IntVar(&o.mixes, "mixes", 200, "how many mixes to draw")
	flags.IntVar(&o.seed, "seed", 1, "seed of all random numbers")
	flags.IntVar(&o.replicate, "runs", 4, "how often a mix is simulated, at least 2")
	flags.DurationVar(&o.window, "window", 30*time.Second, "for how long it is")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "how many mixes are simulated at a time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	kernel, known := kernels()[o.kernel]
	switch {
	case !known:
		return fmt.Errorf("--kernel: %q is none of 6.1, 6.12 and 6.18", o.kernel)
	case o.processors < 1 || o.mixes < 1 || o.workers < 1:
		return errors.New("--processors, --mixes and --workers must be at least 1")
	case o.window <= 0:
		return fmt.Errorf("--window: %v is not above 0", o.window)
	case o.replicate < 2:
		return fmt.Errorf("--runs: %d is not at least 2", o.replicate)
	}
	const perCache = 16
	machine := linuxsched.Machine{Kernel: kernel, CPUs: o.processors, Caches: cmp.Or(o.caches, max(1, o.processors/perCache))}
	return o.write(out, machine)
}

func kernels() map[string]linuxsched.Kernel {
	return map[string]linuxsched.Kernel{"6.1": linuxsched.Linux6_1(), "6.12": linuxsched.Linux6_12(), "6.18": linuxsched.Linux6_18()}
}

// write judges the mixes and writes them in their order.
func (o *options) write(out io.Writer, machine linuxsched.Machine) error {
	judged := make([]mix, o.mixes)
	faults := make([]error, o.mixes)
	var workers sync.WaitGroup
	next := make(chan int)
	for range o.workers {
		workers.Go(func() {
			for i := range next {
				judged[i] = draw(rand.New(rand.NewPCG(uint64(o.seed), uint64(i))), o.processors)
				faults[i] = judged[i].judge(machine, o.replicate, o.window)
			}
		})
	}
	for i := range o.mixes {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := errors.Join(faults...); err != nil {
		return err
	}
	w := csv.NewWriter(out)
	rows := [][]string{{"mix", "processors", "pod", "weight", "limit", "loading", "burst_ms", "threads", "kind", "dilation", "deviation"}}
	for i, m := range judged {
		for j, p := range m {
			rows = append(rows, append([]string{fmt.Sprintf("%d-%d", o.processors, i+1), strconv.Itoa(o.processors), strconv.Itoa(j + 1)}, p.cells()...))
		}
	}
	return w.WriteAll(rows)
}

// pod is a pod of a mix, and what the simulation says of it.
type pod struct {
	weight, limit  int // limit in thousandths of a core, 0 for none
	loading, burst float64
	threads        int
	shape          linuxsched.Shape
	seed           uint64

	dilation, deviation float64
}

type mix []pod

func (p *pod) cells() []string {
	number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	limit := ""
	if p.limit > 0 {
		limit = strconv.Itoa(p.limit)
	}
	kind := map[linuxsched.Shape]string{linuxsched.Exponential: "exponential", linuxsched.Constant: "constant"}[p.shape]
	return []string{
		strconv.Itoa(p.weight), limit, number(p.loading, -1), number(p.burst, -1), strconv.Itoa(p.threads), kind, number(p.dilation, 4), number(p.deviation, 4),
	}
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// draw draws pods that would use 30 to 120 % of the processors if they did not wait. In half of the mixes some have limits.
func draw(r *rand.Rand, processors int) mix {
	limited, target := r.IntN(2) == 0, (0.3+0.9*r.Float64())*float64(processors)
	for {
		var m mix
		for used := 0.0; used < 0.95*target || len(m) < 2; {
			p := drawPod(r, limited)
			load := p.loading * float64(p.threads)
			if used+load > 1.05*target && len(m) > 0 {
				if r.IntN(100) == 0 { // it does not come out even
					break
				}
				continue
			}
			m = append(m, p)
			used += load
		}
		if len(m) > 1 {
			return m
		}
	}
}

func drawPod(r *rand.Rand, limited bool) pod {
	p := pod{
		weight:  one(r, 1, 1, 2, 4, 8, 20, 39, 79, 157, 313), // as requests of 10m to 8 cores have
		loading: one(r, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1),
		burst:   one(r, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200),
		threads: one(r, 1, 1, 1, 1, 2, 2, 4, 8, 16),
		shape:   one(r, linuxsched.Exponential, linuxsched.Exponential, linuxsched.Constant),
		seed:    r.Uint64(),
	}
	if limited && r.Float64() < 0.4 {
		const step, least = 10, 50
		p.limit = max(least, step*int(math.Round(p.loading*float64(p.threads)*(0.5+1.5*r.Float64())*1000/step)))
	}
	return p
}

// simulated returns what the simulation runs for a pod.
func (p *pod) simulated(run int) linuxsched.Pod {
	s := linuxsched.Pod{Group: linuxsched.Group{Weight: p.weight, Quota: time.Duration(p.limit) * 100 * time.Microsecond}}
	for k := range p.threads {
		burst := time.Duration(p.burst * float64(time.Millisecond))
		s.Threads = append(s.Threads, linuxsched.Bursts(burst, p.loading, p.shape, p.seed+uint64(k)+uint64(run)<<32))
	}
	return s
}

// judge simulates a mix several times, and sets the mean dilations and the standard deviations of these means.
func (m mix) judge(machine linuxsched.Machine, runs int, window time.Duration) error {
	sums, squares := make([]float64, len(m)), make([]float64, len(m))
	for run := range runs {
		machine.Seed = uint64(run)
		var pods []linuxsched.Pod
		for i := range m {
			pods = append(pods, m[i].simulated(run))
		}
		dilations, err := machine.Dilations(pods, time.Second, window)
		if err != nil {
			return err
		}
		for i, d := range dilations {
			sums[i] += d
			squares[i] += d * d
		}
	}
	n := float64(runs)
	for i := range m {
		m[i].dilation = sums[i] / n
		m[i].deviation = math.Sqrt(max(0, squares[i]/n-m[i].dilation*m[i].dilation) / (n - 1))
	}
	return nil
}
