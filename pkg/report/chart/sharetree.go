package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// ShareTree is a drawing of a tree of shares: each group and workload on a row of
// its own with its share, how busy it keeps the processors, and for workloads the
// mean response time on a logarithmic axis, with the limit of its SLA.
type ShareTree struct {
	// Title stands above the drawing; may be empty.
	Title string
	// Name is that of the root, and Busy the fraction of the processors that all
	// together keep busy.
	Name string
	Busy float64
	// Rows are the groups and workloads, each group before its members; 1 to 2000.
	Rows []ShareRow
}

// ShareRow is a group or a workload of a [ShareTree].
type ShareRow struct {
	Name string
	// Depth is 1 below the root, and at most one more than that of the row before.
	Depth int
	// Share is its share beside its siblings, as text.
	Share string
	// Busy is the fraction of the processors that it keeps busy.
	Busy float64
	// Workload reports whether it is a workload, not a group.
	Workload bool
	// Response is that of a workload, or of a group that has one; nil if none is known.
	Response *ShareResponse
}

// ShareResponse is the mean response time of a workload or a group, in multiples of its service
// time.
type ShareResponse struct {
	// Factor is finite and at least 1.
	Factor float64
	// Before is its value before a change; 0 if nothing was changed.
	Before float64
	// Limit is the bound of its SLA; 0 if it has none.
	Limit float64
	// Missed reports whether the SLA is missed.
	Missed bool
}

const maxShareRows = 2000

func (s ShareTree) check() error {
	if n := len(s.Rows); n < 1 || n > maxShareRows {
		return fmt.Errorf("rows: there are %d; a drawing shows 1 to %d", n, maxShareRows)
	}
	for i, row := range s.Rows {
		if row.Workload && row.Response == nil {
			return fmt.Errorf("rows[%d] (%q).response: is missing", i, row.Name)
		}
		if r := row.Response; r != nil && !(r.Factor >= 1-1e-9 && r.Factor <= maxMagnitude) {
			return fmt.Errorf("rows[%d] (%q).response.factor: is no finite number of at least 1", i, row.Name)
		}
	}
	return nil
}

// rowHeight is smaller for larger trees.
func (s ShareTree) rowHeight() vg.Length {
	switch n := len(s.Rows); {
	case n <= 45:
		return 17
	case n <= 150:
		return 13
	default:
		return 10.5
	}
}

func (s ShareTree) textSize() vg.Length { return min(SmallSize, s.rowHeight()-2.5) }

const shareHeader = 2 * legendRow

func (s ShareTree) size() (width, height vg.Length) {
	height = s.rowHeight()*vg.Length(len(s.Rows)+1) + shareHeader + 2*margin + titleRoom(s.Title)
	return chartWidth, height
}

// shareColumns are where things stand, from left to right.
type shareColumns struct {
	names         vg.Length // left end
	namesEnd      vg.Length
	shares        vg.Length // right end
	bars, barsEnd vg.Length
	axis, axisEnd vg.Length
}

func (s ShareTree) drawInside(c draw.Canvas) {
	c = drawTitle(c, s.Title)
	columns := s.columns(c)
	axis := s.axis()
	s.drawHeader(c, columns, axis)
	rows := draw.Crop(c, 0, 0, 0, -shareHeader)
	s.drawRow(rows, columns, axis, -1)
	for i := range s.Rows {
		s.drawRow(rows, columns, axis, i)
	}
	s.drawBranches(rows, columns)
}

const (
	shareIndent = 12 // per level
	shareGap    = 14 // between columns
)

// columns gives the names the width that they need, within bounds.
func (s ShareTree) columns(c draw.Canvas) shareColumns {
	const widest, narrowest, bars = 210, 60, 84
	style := Sans(s.textSize(), Ink)
	names, shares := Bold(s.textSize(), Ink).Width(s.Name), Sans(SmallSize, Ink).Width("share")
	for _, row := range s.Rows {
		names = max(names, shareIndent*vg.Length(row.Depth)+style.Width(text.Printable(row.Name)))
		shares = max(shares, style.Width(row.Share))
	}
	var w shareColumns
	w.names = c.Min.X
	w.namesEnd = w.names + min(max(names, narrowest), widest)
	w.shares = w.namesEnd + shareGap + shares
	w.bars = w.shares + shareGap
	w.barsEnd = w.bars + bars
	w.axis = w.barsEnd + 40 + shareGap // beside a bar stands its figure
	w.axisEnd = c.Max.X - 52           // beside the last dot, too
	return w
}

// shareAxis is the logarithmic axis of response factors.
type shareAxis struct{ low, high float64 }

func (s ShareTree) axis() shareAxis {
	a := shareAxis{low: 1, high: 2}
	for _, row := range s.Rows {
		if row.Response == nil {
			continue
		}
		for _, x := range []float64{row.Response.Factor, row.Response.Before, row.Response.Limit} {
			if x > 0 && x <= maxMagnitude {
				a.high = math.Max(a.high, x*1.05)
				a.low = math.Min(a.low, x)
			}
		}
	}
	return a
}

func (a shareAxis) x(w shareColumns, factor float64) vg.Length {
	along := math.Log(factor/a.low) / math.Log(a.high/a.low)
	return w.axis + vg.Length(along)*(w.axisEnd-w.axis)
}
