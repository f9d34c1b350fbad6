package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// drawHeader draws the titles of the columns, and the axis with its grid.
func (s ShareTree) drawHeader(c draw.Canvas, w shareColumns, axis shareAxis) {
	style := Sans(SmallSize, SoftInk)
	y := c.Max.Y - legendRow/2
	Write(c, AlignRight(style), w.shares, y, "share")
	Write(c, style, w.bars, y, "busy")
	s.drawShareKey(c, w, y)
	top := c.Max.Y - shareHeader + 2
	bottom := c.Max.Y - shareHeader - s.rowHeight()*vg.Length(len(s.Rows)+1)
	room := w.axis - 1000
	for _, tick := range logTicks(axis.low, axis.high) {
		x := axis.x(w, tick.Value)
		c.StrokeLine2(gridStyle, x, bottom, x, top)
		if half := style.Width(tick.Label+"×")/2 + 2; x-half > room {
			Write(c, AlignCenter(style), x, top+SmallSize*0.7, tick.Label+"×")
			room = x + half
		}
	}
}

// drawShareKey explains the marks of the axis, as far as they occur.
func (s ShareTree) drawShareKey(c draw.Canvas, w shareColumns, y vg.Length) {
	style := Sans(SmallSize, SoftInk)
	x := w.axis
	Write(c, style, x, y, "mean response / service time")
	x += style.Width("mean response / service time") + 14
	var limits, missed bool
	for _, row := range s.Rows {
		limits = limits || row.Response != nil && row.Response.Limit > 0
		missed = missed || row.Response != nil && row.Response.Missed
	}
	if limits {
		drawLimit(c, x, y, 4)
		Write(c, style, x+5, y, "SLA")
		x += 5 + style.Width("SLA") + 14
	}
	if missed {
		c.DrawGlyphNoClip(dotGlyph(1, 3.2), vg.Point{X: x, Y: y})
		Write(c, style, x+7, y, "missed")
	}
}

// rowY is the middle of a row; row -1 is the root.
func (s ShareTree) rowY(c draw.Canvas, row int) vg.Length {
	return c.Max.Y - s.rowHeight()*(vg.Length(row)+1.5)
}

// drawRow draws a group or workload; row -1 is the root.
func (s ShareTree) drawRow(c draw.Canvas, w shareColumns, axis shareAxis, row int) {
	y := s.rowY(c, row)
	style := Sans(s.textSize(), Ink)
	if row < 0 {
		style = Bold(s.textSize(), Ink)
		Write(c, style, w.names, y, fit(style, text.Printable(s.Name), w.namesEnd-w.names))
		s.drawBusy(c, w, y, s.Busy, SoftInk)
		return
	}
	n := s.Rows[row]
	hue := SoftInk
	if n.Workload {
		hue = palette[0]
	}
	left := w.names + shareIndent*vg.Length(n.Depth)
	Write(c, style, left, y, fitMiddle(style, text.Printable(n.Name), max(w.namesEnd-left, 0)))
	Write(c, AlignRight(style), w.shares, y, n.Share)
	s.drawBusy(c, w, y, n.Busy, hue)
	if n.Response != nil {
		s.drawResponse(c, w, axis, y, *n.Response)
	}
}

// drawBusy draws a bar as long as the fraction of the processors that is busy.
func (s ShareTree) drawBusy(c draw.Canvas, w shareColumns, y vg.Length, fraction float64, hue color.NRGBA) {
	half := s.rowHeight() * 0.3
	end := w.bars + vg.Length(min(fraction, 1))*(w.barsEnd-w.bars)
	Fill(c, Backdrop, w.bars, y-half, w.barsEnd, y+half)
	Fill(c, Tint(hue), w.bars, y-half, end, y+half)
	Write(c, Sans(s.textSize(), Ink), w.barsEnd+4, y, text.Percent(fraction))
}

// drawResponse draws the response time of a workload, the one before the change, and the limit of
// its SLA.
func (s ShareTree) drawResponse(c draw.Canvas, w shareColumns, axis shareAxis, y vg.Length, r ShareResponse) {
	const gap = 4
	radius := min(3.2, s.rowHeight()*0.22)
	x := axis.x(w, r.Factor)
	end := x + radius // of the mark beside the figure
	if r.Before > 0 {
		before := axis.x(w, r.Before)
		c.StrokeLine2(draw.LineStyle{Color: SoftInk, Width: 0.8}, before, y, x, y)
		c.DrawGlyphNoClip(disc(SoftInk, radius*0.8), vg.Point{X: before, Y: y})
		c.DrawGlyphNoClip(disc(color.White, radius*0.45), vg.Point{X: before, Y: y})
		end = max(end, before+radius)
	}
	style, figure := Sans(s.textSize(), Ink), text.Times(r.Factor)
	if r.Limit > 0 {
		at := axis.x(w, r.Limit)
		drawLimit(c, at, y, s.rowHeight()*0.4)
		if at >= x && at < end+style.Width(figure)+2*gap {
			end = max(end, at)
		}
	}
	glyph := dotGlyph(0, radius)
	if r.Missed {
		glyph = dotGlyph(1, radius)
	}
	c.DrawGlyphNoClip(glyph, vg.Point{X: x, Y: y})
	Fill(c, color.White, end+gap-2, y-s.textSize()/2, end+gap+style.Width(figure)+1, y+s.textSize()/2) // hides the grid
	Write(c, style, end+gap, y, figure)
}

// drawLimit draws the limit of an SLA.
func drawLimit(c draw.Canvas, x, y, half vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 1.6}, x, y-half, x, y+half)
}

// drawBranches joins each group with its members.
func (s ShareTree) drawBranches(c draw.Canvas, w shareColumns) {
	line := draw.LineStyle{Color: hatchLine, Width: 0.8}
	spine := func(depth int) vg.Length { return w.names + shareIndent*vg.Length(depth) - 7 }
	above := map[int]int{0: -1} // the last row of each depth on the way here
	last := map[int]int{}       // the last member drawn of the group at each depth
	for i, n := range s.Rows {
		x, y := spine(n.Depth), s.rowY(c, i)
		from := s.rowY(c, above[n.Depth-1]) - s.rowHeight()*0.42
		if k, sibling := last[n.Depth]; sibling && k > above[n.Depth-1] {
			from = s.rowY(c, k)
		}
		c.StrokeLine2(line, x, from, x, y)
		c.StrokeLine2(line, x, y, x+5, y)
		above[n.Depth], last[n.Depth] = i, i
	}
}
