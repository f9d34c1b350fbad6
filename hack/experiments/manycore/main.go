// Manycore compares mixes of pods that were measured, on any number of processors, with what the model of weights and limits
// predicts.
//
//	manycore ../../test/testdata/manycore/pods.csv
//
// The mixes are drawn and measured by measure.py, with pods/pods.c.
package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(to io.Writer, args []string) (err error) {
	if len(args) != 1 {
		return errors.New("want the file that measure.py has written")
	}
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	mixes, err := readMixes(file)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for _, bursts := range []bool{false, true} {
		fmt.Fprintf(to, "Lengths of bursts given to the model: %v\n", bursts)
		var all []*errorsOf
		for _, k := range kinds {
			all = append(all, &errorsOf{kind: k.name})
		}
		for _, m := range mixes {
			predicted, err := m.predict(bursts)
			if err != nil {
				fmt.Fprintf(to, "mix %s is left out: %v\n", m[0].mix, err)
				continue
			}
			for i := range m {
				for k := range kinds {
					if kinds[k].of(&m[i]) {
						all[k].add(&m[i], predicted[i])
					}
				}
			}
		}
		for _, e := range all {
			if e.pods > 0 {
				fmt.Fprintln(to, e)
			}
		}
	}
	return nil
}

// pod is a row.
type pod struct {
	mix, number                   string
	processors, threads           int
	weight, limit, loading, burst float64 // the limit in cores, 0 for none; the burst in seconds
	constant                      bool
	load                          float64 // of the mix: what its pods would use of the processors if none waited
	dilation                      float64
}

// mix is the pods that ran together.
type mix []pod

// readMixes reads what measure.py has written, without repetitions.
func readMixes(r io.Reader) ([]mix, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("line 1: there is no header")
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	var mixes []mix
	places := map[string]int{}
	for line, row := range rows[1:] {
		var fault error
		number := func(name string) float64 {
			at, known := column[name]
			if !known {
				fault = fmt.Errorf("line 1: there is no column %s", name)
				return 0
			}
			if row[at] == "" && name == "limit" {
				return 0
			}
			v, err := strconv.ParseFloat(row[at], 64)
			if err != nil || !(v >= 0) || math.IsInf(v, 0) {
				fault = fmt.Errorf("line %d: %s: %q is not a finite number of at least 0", line+2, name, row[at])
			}
			return v
		}
		const thousandths = 1000
		p := pod{
			mix: row[column["mix"]], number: row[column["pod"]], processors: int(number("processors")), threads: int(number("threads")),
			weight: number("weight"), limit: number("limit") / thousandths, loading: number("loading"), burst: number("burst_ms") / thousandths,
			constant: row[column["kind"]] == "constant", dilation: number("dilation"),
		}
		if fault != nil {
			return nil, fault
		}
		if strings.HasPrefix(p.mix, "again-") || strings.HasPrefix(p.mix, "single-") {
			continue
		}
		place, known := places[p.mix]
		if !known {
			place = len(mixes)
			places[p.mix] = place
			mixes = append(mixes, nil)
		}
		mixes[place] = append(mixes[place], p)
	}
	for _, m := range mixes {
		load := 0.0
		for i := range m {
			load += m[i].loading * float64(m[i].threads) / float64(m[i].processors)
		}
		for i := range m {
			m[i].load = load
		}
	}
	return mixes, nil
}

// predict returns the dilations of the pods, with or without knowing how long they compute at a time.
func (m mix) predict(bursts bool) ([]float64, error) {
	var vectors []loading.Vector
	var sharing contention.Sharing
	for i := range m {
		p := &m[i]
		d := loading.Demand{Loading: p.loading, Pressure: p.loading, Threads: p.threads}
		share := loading.Share{Weight: p.weight, Limit: p.limit}
		if bursts {
			d.Burst, share.Burst = p.burst, p.burst
			if p.limit > 0 {
				share = share.Under(p.limit, d)
			}
		}
		vectors, sharing.Shares = append(vectors, loading.Vector{d}), append(sharing.Shares, share)
	}
	prediction, err := contention.PredictSharing(vectors, []int{m[0].processors}, sharing, queueing.Options{})
	if err != nil {
		return nil, err
	}
	return prediction.Dilations, nil
}

// kinds are the pods whose errors are summed up together.
var kinds = []struct {
	name string
	of   func(p *pod) bool
}{
	{"all", func(*pod) bool { return true }},
	{"1 processor", func(p *pod) bool { return p.processors == 1 }},
	{"2 processors", func(p *pod) bool { return p.processors == 2 }},
	{"4 processors", func(p *pod) bool { return p.processors == 4 }},
	{"8 processors", func(p *pod) bool { return p.processors == 8 }},
	{"16 processors", func(p *pod) bool { return p.processors == 16 }},
	{"1 thread", func(p *pod) bool { return p.threads == 1 }},
	{"2 to 4 threads", func(p *pod) bool { return p.threads > 1 && p.threads <= 4 }},
	{"8 and 16 threads", func(p *pod) bool { return p.threads > 4 }},
	{"with a limit", func(p *pod) bool { return p.limit > 0 }},
	{"without a limit", func(p *pod) bool { return p.limit == 0 }},
	{"without a limit, 1 processor", func(p *pod) bool { return p.limit == 0 && p.processors == 1 }},
	{"without a limit, 2 processors", func(p *pod) bool { return p.limit == 0 && p.processors == 2 }},
	{"without a limit, load of the mix below 60 %", func(p *pod) bool { return p.limit == 0 && p.load < 0.6 }},
	{"without a limit, load 60 to 90 %", func(p *pod) bool { return p.limit == 0 && p.load >= 0.6 && p.load < 0.9 }},
	{"without a limit, load above 90 %", func(p *pod) bool { return p.limit == 0 && p.load >= 0.9 }},
	{"without a limit, bursts below 2 ms", func(p *pod) bool { return p.limit == 0 && p.burst < 0.002 }},
	{"without a limit, bursts of 2 to 20 ms", func(p *pod) bool { return p.limit == 0 && p.burst >= 0.002 && p.burst <= 0.02 }},
	{"without a limit, bursts above 20 ms", func(p *pod) bool { return p.limit == 0 && p.burst > 0.02 }},
	{"without a limit, constant", func(p *pod) bool { return p.limit == 0 && p.constant }},
	{"weight below 10", func(p *pod) bool { return p.weight < 10 }},
	{"weight above 100", func(p *pod) bool { return p.weight > 100 }},
}

// errorsOf collects relative errors.
type errorsOf struct {
	kind             string
	pods             int
	sum, bias, worst float64
	where            string
}

func (e *errorsOf) add(p *pod, predicted float64) {
	off := predicted/p.dilation - 1
	e.pods++
	e.sum += math.Abs(off)
	e.bias += off
	if math.Abs(off) > e.worst {
		e.worst, e.where = math.Abs(off), fmt.Sprintf("%s pod %s: measured %.2f, predicted %.2f", p.mix, p.number, p.dilation, predicted)
	}
}

// String returns the errors in a line.
func (e *errorsOf) String() string {
	const percent = 100
	n := float64(e.pods)
	return fmt.Sprintf("%s: %d pods, off by %.1f %% on average (bias %+.1f %%), %.1f %% at worst (%s)",
		e.kind, e.pods, percent*e.sum/n, percent*e.bias/n, percent*e.worst, e.where)
}
