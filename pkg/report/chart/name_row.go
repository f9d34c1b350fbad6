package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

const (
	nameGap    = 5   // between names and their rows or columns
	widestName = 180 // of longer names, the middle is left out
)

// nameRow is a row of names below a chart, one in the middle of each of many
// slots of the same width. If one is too wide for its slot, all rise to the
// right by 45 degrees, and end below their slots.
type nameRow struct {
	texts  []string // as drawn
	size   vg.Length
	slot   vg.Length
	turned bool
}

func newNameRow(names []string, size, slot vg.Length) nameRow {
	r := nameRow{texts: make([]string, len(names)), size: size, slot: slot}
	for k, name := range names {
		r.texts[k] = fitMiddle(Sans(size, Ink), text.Printable(name), widestName)
		r.turned = r.turned || Sans(size, Ink).Width(r.texts[k]) > slot-4
	}
	return r
}

// along is the width of a name, and its height, if it is turned.
func (r nameRow) along(k int) vg.Length { return Sans(r.size, Ink).Width(r.texts[k]) * math.Sqrt2 / 2 }

// height includes the gap above the names.
func (r nameRow) height() vg.Length {
	height := r.size
	if r.turned {
		for k := range r.texts {
			height = max(height, r.along(k)+r.size)
		}
	}
	return height + nameGap
}

// overhang is how far the names reach out to the left of the first slot.
func (r nameRow) overhang() vg.Length {
	overhang := vg.Length(0)
	if r.turned {
		for k := range r.texts {
			overhang = max(overhang, r.along(k)-r.slot*(vg.Length(k)+0.5))
		}
	}
	return overhang
}

// draw writes the names below slots that begin at a point.
func (r nameRow) draw(c draw.Canvas, at vg.Point) {
	style := Sans(r.size, Ink)
	for k, text := range r.texts {
		x := at.X + r.slot*(vg.Length(k)+0.5)
		if r.turned {
			writeTurned(c, AlignRight(style), x+r.size/4, at.Y-nameGap-r.size/4, math.Pi/4, text)
		} else {
			Write(c, AlignCenter(style), x, at.Y-nameGap-r.size/2, text)
		}
	}
}
