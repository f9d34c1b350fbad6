package report

import (
	"errors"
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/report/text"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/evaluate/shares"
)

// ShareTree is a drawing of a tree of shares: each group and workload on a row of
// its own with its share, how busy it keeps the processors, and for workloads the
// mean response time on a logarithmic axis, with the limit of its SLA.
type ShareTree struct {
	// Title stands above the drawing; may be empty.
	Title string
	// Answer is what is drawn: 1 to 2000 groups and workloads.
	Answer *shares.TreeAnswer
}

const maxShareRows = 2000

func (s ShareTree) check() error {
	if s.Answer == nil {
		return errors.New("answer: is missing")
	}
	if n := len(s.Answer.Nodes); n < 1 || n > maxShareRows {
		return fmt.Errorf("answer.nodes: there are %d; a drawing shows 1 to %d", n, maxShareRows)
	}
	for i, n := range s.Answer.Nodes {
		if n.Factor == nil && !n.Workload {
			continue
		}
		if n.Factor == nil || !(*n.Factor >= 1-1e-9 && *n.Factor <= maxMagnitude) {
			return fmt.Errorf("answer.nodes[%d] (%q).factor: is no finite number of at least 1", i, n.Name)
		}
	}
	return nil
}

// rowHeight is smaller for larger trees.
func (s ShareTree) rowHeight() vg.Length {
	switch n := len(s.Answer.Nodes); {
	case n <= 45:
		return 17
	case n <= 150:
		return 13
	default:
		return 10.5
	}
}

func (s ShareTree) textSize() vg.Length { return min(smallSize, s.rowHeight()-2.5) }

const shareHeader = 2 * legendRow

func (s ShareTree) size() (width, height vg.Length) {
	height = s.rowHeight()*vg.Length(len(s.Answer.Nodes)+1) + shareHeader + 2*margin
	if s.Title != "" {
		height += titleHeight
	}
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
	for i := range s.Answer.Nodes {
		s.drawRow(rows, columns, axis, i)
	}
	s.drawBranches(rows, columns)
}

const (
	shareIndent = 12 // per level
	shareGap    = 14 // between columns
)

// columns gives the names what they need, within bounds.
func (s ShareTree) columns(c draw.Canvas) shareColumns {
	const widest, narrowest, bars = 210, 60, 84
	style := sans(s.textSize(), ink)
	names, shares := bold(s.textSize(), ink).Width(shareTreeName(s.Answer)), sans(smallSize, ink).Width("share")
	for _, n := range s.Answer.Nodes {
		names = max(names, shareIndent*vg.Length(n.Depth)+style.Width(text.Printable(n.Name)))
		shares = max(shares, style.Width(shareText(&n)))
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
	for _, n := range s.Answer.Nodes {
		if n.Factor == nil {
			continue
		}
		for _, x := range []*float64{n.Factor, n.FactorBefore, shareLimit(&n)} {
			if x != nil && *x <= maxMagnitude {
				a.high = math.Max(a.high, *x*1.05)
				a.low = math.Min(a.low, *x)
			}
		}
	}
	return a
}

func (a shareAxis) x(w shareColumns, factor float64) vg.Length {
	along := math.Log(factor/a.low) / math.Log(a.high/a.low)
	return w.axis + vg.Length(along)*(w.axisEnd-w.axis)
}
