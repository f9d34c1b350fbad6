package replays

import (
	"iter"

	"loadline.dev/loadline/pkg/model/epochs"
)

// Occupancy is how busy the nodes of a replay are over time: the utilization of
// the busiest resource of each node, on average over the time of each bin. Its
// size does not grow with the length of the trace: bins grow wider.
type Occupancy struct {
	// Rows names the nodes, or groups of neighbouring ones where there are many.
	Rows []string
	// BinSeconds is the width of a bin; the first begins with the first arrival.
	BinSeconds float64

	perRow int         // nodes; in the last row there may be fewer
	nodes  int         // of all rows
	start  float64     // the first arrival
	sums   [][]float64 // per row and bin: utilization · seconds
	used   int         // bins
}

// The picture that is drawn of it has no more rows and columns.
const (
	occupancyRows = 100
	occupancyBins = 512
)

func newOccupancy(nodes []string) *Occupancy {
	o := &Occupancy{BinSeconds: 1e-3, nodes: len(nodes), perRow: (len(nodes) + occupancyRows - 1) / occupancyRows}
	for first := 0; first < len(nodes); first += o.perRow {
		name := nodes[first]
		if last := min(first+o.perRow, len(nodes)) - 1; last > first {
			name += " … " + nodes[last]
		}
		o.Rows = append(o.Rows, name)
		o.sums = append(o.sums, make([]float64, occupancyBins))
	}
	return o
}

// noteFirst notes the arrival of the first of some jobs.
func (o *Occupancy) noteFirst(jobs iter.Seq2[epochs.Job, error]) iter.Seq2[epochs.Job, error] {
	return func(yield func(epochs.Job, error) bool) {
		first := true
		for job, err := range jobs {
			if first {
				o.start, first = job.Arrival, false
			}
			if !yield(job, err) {
				return
			}
		}
	}
}

// watch returns the function that is called with each epoch, nil if there is no occupancy to record.
func (o *Occupancy) watch() func(*epochs.Epoch) error {
	if o == nil {
		return nil
	}
	return func(e *epochs.Epoch) error {
		o.add(e)
		return nil
	}
}

// add adds an epoch.
func (o *Occupancy) add(e *epochs.Epoch) {
	for e.End-o.start > o.BinSeconds*occupancyBins {
		o.widen()
	}
	row, level := o.sums[e.Node/o.perRow], e.Mix.MaxUtilization()
	from, to := (e.Start-o.start)/o.BinSeconds, (e.End-o.start)/o.BinSeconds
	for bin := int(from); bin < occupancyBins && float64(bin) < to; bin++ {
		row[bin] += level * o.BinSeconds * (min(to, float64(bin+1)) - max(from, float64(bin)))
		o.used = max(o.used, bin+1)
	}
}

// widen makes bins twice as wide.
func (o *Occupancy) widen() {
	for _, row := range o.sums {
		for bin := range occupancyBins / 2 {
			row[bin] = row[2*bin] + row[2*bin+1]
		}
		clear(row[occupancyBins/2:])
	}
	o.BinSeconds *= 2
	o.used = (o.used + 1) / 2
}

// Levels returns the mean utilization of the nodes of each row, from 0 to 1, in
// each bin.
func (o *Occupancy) Levels() [][]float64 {
	levels := make([][]float64, len(o.sums))
	for r, row := range o.sums {
		levels[r] = make([]float64, o.used)
		nodes := min(o.perRow, o.nodes-r*o.perRow)
		for bin := range levels[r] {
			levels[r][bin] = min(1, row[bin]/(o.BinSeconds*float64(nodes)))
		}
	}
	return levels
}
