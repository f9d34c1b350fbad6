package linuxsched_test

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

// measured is a pod of a mix that was measured on real processors.
type measured struct {
	mix                   string
	cpus, weight, threads int
	limit, loading, burst float64 // cores, fraction, seconds
	constant              bool
	seed                  int64
	bursts                int
	alone, together       float64 // stretches
}

func readManycore(t *testing.T) (mixes [][]measured) {
	t.Helper()
	file, err := os.Open("../../testdata/manycore/pods.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	places := map[string]int{}
	for _, row := range rows[1:] {
		number := func(name string) float64 {
			if row[at[name]] == "" {
				return 0
			}
			v, err := strconv.ParseFloat(row[at[name]], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		m := measured{
			mix: row[at["mix"]], cpus: int(number("processors")), weight: int(number("weight")), threads: int(number("threads")),
			limit: number("limit") / 1000, loading: number("loading"), burst: number("burst_ms") / 1000,
			constant: row[at["kind"]] == "constant", seed: int64(number("seed")), bursts: int(number("bursts")),
			alone: number("alone"), together: number("together"),
		}
		if strings.Contains(m.mix, "again-") || strings.Contains(m.mix, "single-") {
			continue
		}
		place, ok := places[m.mix]
		if !ok {
			place = len(mixes)
			places[m.mix] = place
			mixes = append(mixes, nil)
		}
		mixes[place] = append(mixes[place], m)
	}
	return mixes
}

// drand48 is the generator of the C library that the measured programs drew from.
type drand48 uint64

func newDrand48(seed int64) *drand48 {
	d := drand48(uint64(uint32(seed))<<16 | 0x330e)
	return &d
}

func (d *drand48) next() float64 {
	*d = (*d*0x5deece66d + 0xb) & (1<<48 - 1)
	return float64(*d) / (1 << 48)
}

// program is that of a thread in hack/experiments/manycore/pods/pods.c.
type program struct {
	random       *drand48
	burst, pause float64
	constant     bool
	asleep       bool
	first        float64
}

func newProgram(m measured, thread int) *program {
	p := &program{random: newDrand48(m.seed*1009 + int64(thread)), burst: m.burst, pause: m.burst * (1 - m.loading) / m.loading, constant: m.constant, first: 1}
	p.asleep = p.random.next() >= m.loading
	if m.constant {
		p.first = p.random.next()
	}
	return p
}

func (p *program) Next() linuxsched.Step {
	mean, kind := p.burst, linuxsched.Compute
	if p.asleep {
		mean, kind = p.pause, linuxsched.Sleep
	}
	if !p.constant {
		mean *= -math.Log(1 - p.random.next())
	}
	mean *= p.first
	p.first = 1
	p.asleep = p.pause > 0 && !p.asleep
	return linuxsched.Step{Kind: kind, Length: time.Duration(mean * 1e9)}
}

func (m measured) pod(parent *linuxsched.Group) linuxsched.Pod {
	p := linuxsched.Pod{Group: linuxsched.Group{Weight: m.weight, Quota: time.Duration(m.limit * 1e8), Parent: parent}}
	for k := range m.threads {
		p.Threads = append(p.Threads, func() linuxsched.Program { return newProgram(m, k) })
	}
	return p
}

func TestManycore(t *testing.T) {
	k := linuxsched.Linux6_18()
	k.Costs.Switch, k.Costs.Tick, k.Costs.Wake = 0, 0, 0
	type tally struct {
		n                int
		sum, bias, worst float64
		where            string
	}
	tallies := map[string]*tally{}
	add := func(name string, off float64, where string) {
		x := tallies[name]
		if x == nil {
			x = &tally{}
			tallies[name] = x
		}
		x.n++
		x.sum += math.Abs(off)
		x.bias += off
		if math.Abs(off) > x.worst {
			x.worst, x.where = math.Abs(off), where
		}
	}
	for _, mix := range readManycore(t) {
		machine := linuxsched.Machine{Kernel: k, CPUs: mix[0].cpus, Online: 16, Seed: 1}
		part := &linuxsched.Group{}
		var pods []linuxsched.Pod
		load := 0.0
		for _, m := range mix {
			pods = append(pods, m.pod(part))
			load += m.loading * float64(m.threads) / float64(m.cpus)
		}
		r, err := machine.Run(pods, 600*time.Millisecond, 7*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range mix {
			got := r.Pods[i].Stretch()
			off := got/m.together - 1
			where := m.mix + " " + strconv.Itoa(i+1) + " " + strconv.FormatFloat(m.together, 'f', 3, 64) + " " + strconv.FormatFloat(got, 'f', 3, 64)
			add("all", off, where)
			if m.limit > 0 {
				add("limit", off, where)
				continue
			}
			add("no limit", off, where)
			add("no limit "+strconv.Itoa(m.cpus), off, where)
			switch {
			case load < 0.6:
				add("load <60", off, where)
			case load < 0.9:
				add("load <90", off, where)
			default:
				add("load >90", off, where)
			}
			switch {
			case m.burst < 0.002:
				add("burst <2", off, where)
			case m.burst <= 0.02:
				add("burst <20", off, where)
			default:
				add("burst >20", off, where)
			}
			if m.bursts >= 100 {
				add("no limit >=100 bursts", off, where)
			}
			if math.Abs(off) > 0.1 {
				t.Logf("load %.2f weight %d threads %d loading %g burst %g %v: %s", load, m.weight, m.threads, m.loading, m.burst, m.constant, where)
			}
		}
	}
	for name, x := range tallies {
		t.Logf("%-24s %4d mean %.1f bias %+.1f worst %.1f %s", name, x.n, 100*x.sum/float64(x.n), 100*x.bias/float64(x.n), 100*x.worst, x.where)
	}
}
