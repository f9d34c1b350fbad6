package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// maxDots bounds the size of a drawing; one dot takes some 150 bytes.
const maxDots = 8000

// dots draws the pairs of all series.
type dots struct {
	series [][]Pair
	radius vg.Length
}

// newDots makes many dots smaller than few.
func newDots(series []Series) dots {
	var d dots
	pairs := 0
	for _, s := range series {
		d.series = append(d.series, s.Pairs)
		pairs += len(s.Pairs)
	}
	switch {
	case pairs <= 300:
		d.radius = 3
	case pairs <= 3000:
		d.radius = 2.3
	default:
		d.radius = 1.6
	}
	return d
}

// Plot draws the series in turn, dot by dot, so that none hides the others.
func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	shown := make([][]vg.Point, len(d.series))
	for i, pairs := range d.series {
		for _, pair := range pairs {
			shown[i] = append(shown[i], vg.Point{X: toX(pair.Measured), Y: toY(pair.Predicted)})
		}
	}
	shown = thin(shown, maxDots)

	longest := 0
	for _, points := range shown {
		longest = max(longest, len(points))
	}
	for k := range longest {
		for i, points := range shown {
			if k < len(points) {
				c.DrawGlyphNoClip(translucent(i, d.radius), points[k])
			}
		}
	}
}

// thin leaves most points at most. It lays a grid over each series and keeps
// the first point in each cell; the cells are as small as they can be, but not
// smaller than a pixel.
func thin(series [][]vg.Point, most int) [][]vg.Point {
	const pixel = vg.Inch / pngDotsPerInch
	for cell := pixel; ; cell *= 1.25 {
		kept, count := make([][]vg.Point, len(series)), 0
		for i, points := range series {
			kept[i] = firstInCells(points, cell)
			count += len(kept[i])
		}
		if count <= max(most, len(series)) {
			return kept
		}
	}
}

func firstInCells(points []vg.Point, cell vg.Length) []vg.Point {
	type index struct{ x, y int }
	taken := make(map[index]bool, len(points))
	var first []vg.Point
	for _, at := range points {
		in := index{x: int(math.Floor(float64(at.X / cell))), y: int(math.Floor(float64(at.Y / cell)))}
		if !taken[in] {
			taken[in] = true
			first = append(first, at)
		}
	}
	return first
}
