package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/text"
)

// compared is a mix with what was measured, on average over its repetitions, and what is predicted.
type compared struct {
	cores     int
	mix       mix
	loadings  []float64
	measured  []float64   // dilations
	byClock   []float64   // those of programs, with what the processors' changing speed adds
	predicted [][]float64 // by each of the predictors
}

// compareFiles compares the mixes of files, all together and by kind.
func compareFiles(to io.Writer, paths []string) error {
	if len(paths) == 0 {
		return errors.New("compare what? Name files that run has written")
	}
	var records []record
	for _, path := range paths {
		some, err := readFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		records = append(records, some...)
	}
	all, err := compare(records)
	if err != nil {
		return err
	}
	t := text.NewTable(text.Right("CORES"), text.Left("TOGETHER"), text.Left("MEASURED"), text.Left("BY WEIGHTS"), text.Left("EQUAL"))
	for i := range all {
		c := &all[i]
		t.Add(strconv.Itoa(c.cores), c.mix.String(), decimals(c.measured), decimals(c.predicted[0]), decimals(c.predicted[1]))
	}
	if err := t.Write(to); err != nil {
		return err
	}
	for _, cores := range []int{0, 1, 2} {
		for _, kind := range []string{"all", "equal", "unequal"} {
			var e errorsOf
			for i := range all {
				if (cores == 0 || all[i].cores == cores) && (kind == "all" || all[i].equal() == (kind == "equal")) {
					e.add(&all[i])
				}
			}
			if e.pods > 0 {
				fmt.Fprintf(to, "%d cores, %s mixes: %s\n", cores, kind, &e)
			}
		}
	}
	return nil
}

func readFile(path string) (records []record, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return readRecords(file)
}

func decimals(values []float64) string {
	var all []string
	for _, v := range values {
		all = append(all, strconv.FormatFloat(v, 'f', 2, 64))
	}
	return strings.Join(all, ", ")
}

// equal reports whether all pods of the mix have one request and as many threads, and none a limit or several containers.
func (c *compared) equal() bool {
	for i := range c.mix {
		first, j := c.mix[0], c.mix[i]
		if len(j.requests) > 1 || j.requests[0] != first.requests[0] || j.threads != first.threads || j.limit != "" {
			return false
		}
	}
	return true
}

// errorsOf collects relative errors of each of the predictors.
type errorsOf struct {
	mixes, pods int
	sum, worst  [2]float64
	where       [2]string
}

func (e *errorsOf) add(c *compared) {
	e.mixes++
	for i, measured := range c.measured {
		e.pods++
		for k := range predictors {
			off := math.Abs(c.predicted[k][i]/measured - 1)
			e.sum[k] += off
			if off > e.worst[k] {
				e.worst[k], e.where[k] = off, fmt.Sprintf("pod %d of %q on %d cores", i+1, c.mix, c.cores)
			}
		}
	}
}

// mean returns the mean relative error of a predictor.
func (e *errorsOf) mean(k int) float64 { return e.sum[k] / float64(e.pods) }

// String returns the errors in a line.
func (e *errorsOf) String() string {
	parts := []string{fmt.Sprintf("%d mixes, %d pods", e.mixes, e.pods)}
	for k, name := range predictors {
		const percent = 100
		parts = append(parts, fmt.Sprintf("%s %.1f %% mean, %.1f %% worst (%s)", name, percent*e.mean(k), percent*e.worst[k], e.where[k]))
	}
	return strings.Join(parts, "; ")
}

// compare returns the mixes of several pods, each once, in the order in which they first ran.
func compare(records []record) ([]compared, error) {
	alone := map[string]measured{}
	count := map[string]float64{}
	for _, r := range records {
		if len(r.mix) > 1 {
			continue
		}
		name := key(r.cores, r.mix[0].text)
		count[name]++
		alone[name] = alone[name].plus(r.pods[0], 1/count[name])
	}
	var all []compared
	places := map[string]int{}
	runs := map[string]float64{}
	for _, r := range records {
		if len(r.mix) == 1 {
			continue
		}
		name := key(r.cores, r.mix.String())
		place, known := places[name]
		if !known {
			place = len(all)
			places[name] = place
			all = append(all, compared{
				cores: r.cores, mix: r.mix, loadings: make([]float64, len(r.mix)),
				measured: make([]float64, len(r.mix)), byClock: make([]float64, len(r.mix)),
			})
		}
		runs[name]++
		for i := range r.mix {
			cores := r.mix.coresOf(i, r.cores)
			a, found := alone[key(cores, r.mix[i].alone())]
			if !found {
				return nil, fmt.Errorf("%q did not run alone on %d cores", r.mix[i].alone(), cores)
			}
			dilation, byClock := r.mix[i].dilation(r.pods[i], a)
			c := &all[place]
			c.measured[i] += (dilation - c.measured[i]) / runs[name]
			c.byClock[i] += (byClock - c.byClock[i]) / runs[name]
			c.loadings[i] = r.mix[i].loadingAlone(a)
		}
	}
	for i := range all {
		var err error
		if all[i].predicted, err = predict(all[i].mix, all[i].loadings, all[i].cores); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].mix, err)
		}
	}
	return all, nil
}

func key(cores int, text string) string { return fmt.Sprint(cores, " ", text) }

// plus returns the mean with one more of that weight.
func (m measured) plus(other measured, weight float64) measured {
	return measured{
		pace: m.pace + (other.pace-m.pace)*weight, cpu: m.cpu + (other.cpu-m.cpu)*weight, speed: m.speed + (other.speed-m.speed)*weight,
	}
}

// loadingAlone returns the loading of a job: declared, or of a program what it has alone.
func (j *job) loadingAlone(alone measured) float64 {
	if j.program == "" {
		return j.loading()
	}
	return min(1, alone.cpu)
}

// dilation returns by how much longer a job took together than alone: by processor time, so that it does not matter how
// fast the processors were, and by the clock. Operations of a program take as much longer as the processors need for
// them, which is no waiting.
func (j *job) dilation(together, alone measured) (byTime, byClock float64) {
	if j.program == "" {
		return alone.pace / together.pace, alone.pace / together.pace * alone.speed / together.speed
	}
	wall, neutral := 1/together.pace, 1/alone.pace
	slower := 1/together.speed - 1/alone.speed
	return wall / (neutral + slower), wall / neutral
}
