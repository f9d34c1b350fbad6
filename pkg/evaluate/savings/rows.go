package savings

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/trace/cells"
)

// Excess is the mean excess dilation, λ − 1, of the same pods on the same nodes.
type Excess struct {
	// KubeScheduler is that where kube-scheduler's rule has placed them, Loadline that where Loadline's has.
	KubeScheduler float64 `json:"kubeScheduler"`
	Loadline      float64 `json:"loadline"`
}

// SavedPart returns which part of the excess Loadline saves, below 0 if it adds to it.
func (e Excess) SavedPart() float64 {
	if e.KubeScheduler == 0 {
		return 0
	}
	return 1 - e.Loadline/e.KubeScheduler
}

// Row is what was found at a point of the map: means over clusters that were drawn, and by how much they may be off: the half widths of
// their 95 % intervals.
type Row struct {
	Point
	Excess

	KubeSchedulerError, LoadlineError float64
	// SavedError is that of the difference of the two, cluster by cluster.
	SavedError float64
}

// header has the names of the columns of a map.
var header = []string{
	"load", "pods_per_core", "unlikeness", "kube_scheduler_excess", "loadline_excess", "kube_scheduler_error", "loadline_error", "saved_error",
}

// numbers are those of a row, in the order of the header.
func (r *Row) numbers() []*float64 {
	return []*float64{
		&r.Load, &r.PodsPerCore, &r.Unlikeness, &r.KubeScheduler, &r.Loadline, &r.KubeSchedulerError, &r.LoadlineError, &r.SavedError,
	}
}

// ReadRows reads the rows of a map. The error names the first value that is wrong.
func ReadRows(from io.Reader) ([]Row, error) {
	lines, err := csv.NewReader(from).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], header) {
		return nil, fmt.Errorf("line 1: is not %s", strings.Join(header, ","))
	}
	rows := make([]Row, len(lines)-1)
	for i := range rows {
		for k, number := range rows[i].numbers() {
			cell := lines[i+1][k]
			if *number, err = strconv.ParseFloat(cell, 64); err != nil || !(*number >= 0) || math.IsInf(*number, 0) {
				return nil, fmt.Errorf("line %d, %s: %q is not a finite number of at least 0", i+2, header[k], cell)
			}
		}
	}
	return rows, nil
}

// WriteRows writes what [ReadRows] reads, to four decimals.
func WriteRows(to io.Writer, rows []Row) error {
	const unit = 1e4
	w := cells.NewWriter(to)
	if err := w.Header(header...); err != nil {
		return err
	}
	for i := range rows {
		var line []cells.Cell
		for _, number := range rows[i].numbers() {
			line = append(line, cells.Exactly(math.Round(*number*unit)/unit))
		}
		if err := w.Write(line...); err != nil {
			return err
		}
	}
	return w.Flush()
}
