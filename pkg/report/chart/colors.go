package chart

import (
	"image/color"
	"math"
	"slices"
)

// heat are colours whose lightness (L* of CIELAB) falls in equal steps, from
// cream over orange and red to violet: equal differences of a value look
// equally large, in grey and to colour-blind people too.
var heat = []color.NRGBA{
	{R: 0xFF, G: 0xF6, B: 0xDC, A: 0xFF},
	{R: 0xFF, G: 0xD9, B: 0xA0, A: 0xFF},
	{R: 0xFA, G: 0xBB, B: 0x72, A: 0xFF},
	{R: 0xF5, G: 0x9A, B: 0x5D, A: 0xFF},
	{R: 0xEA, G: 0x79, B: 0x51, A: 0xFF},
	{R: 0xD8, G: 0x5B, B: 0x57, A: 0xFF},
	{R: 0xC3, G: 0x3C, B: 0x5B, A: 0xFF},
	{R: 0x9E, G: 0x2C, B: 0x65, A: 0xFF},
	{R: 0x77, G: 0x1E, B: 0x6D, A: 0xFF},
	{R: 0x52, G: 0x16, B: 0x60, A: 0xFF},
	{R: 0x2B, G: 0x0F, B: 0x54, A: 0xFF},
}

// colorScale gives values from low to high the colours of heat, in equal steps.
type colorScale struct{ low, high float64 }

// newColorScale spans the values, at least one. Values that differ by less
// than a hundredth look alike: their differences are not blown up.
func newColorScale(values []float64) colorScale {
	low, high := slices.Min(values), slices.Max(values)
	size := math.Max(math.Abs(low), math.Abs(high))
	if size == 0 {
		size = 1
	}
	if high-low < size*0.01 {
		low, high = padded(low, high, false)
	}
	return colorScale{low, high}
}

// position is where a value lies between low and high, from 0 to 1.
func (s colorScale) position(value float64) float64 {
	return min(max((value-s.low)/(s.high-s.low), 0), 1)
}

func (s colorScale) colorAt(value float64) color.NRGBA { return Heat(s.position(value)) }

// Heat returns the colour of a value, the darker the larger: by its position, from 0 to 1, between the smallest and the largest.
func Heat(position float64) color.NRGBA {
	position *= float64(len(heat) - 1)
	i := min(int(position), len(heat)-2)
	return mix(heat[i], heat[i+1], position-float64(i))
}

// mix has the given fraction, from 0 to 1, of the second colour.
func mix(a, b color.NRGBA, fraction float64) color.NRGBA {
	channel := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + fraction*(float64(y)-float64(x)))) }
	return color.NRGBA{R: channel(a.R, b.R), G: channel(a.G, b.G), B: channel(a.B, b.B), A: channel(a.A, b.A)}
}

// The colours of texts on data. They differ a little from those of texts beside them, which a dark page replaces.
var (
	darkOnData  = color.NRGBA{R: 0x1C, G: 0x1C, B: 0x1C, A: 0xFF}
	lightOnData = color.NRGBA{R: 0xFE, G: 0xFE, B: 0xFE, A: 0xFF}
)

// ReadableOn returns the colour of text on a ground: dark on light, white on dark.
func ReadableOn(ground color.NRGBA) color.NRGBA {
	// Luma of ITU-R BT.601, from 0 to 255. Near 125 both have about the same
	// contrast on the colours of heat.
	if luma := 0.299*float64(ground.R) + 0.587*float64(ground.G) + 0.114*float64(ground.B); luma > 125 {
		return darkOnData
	}
	return lightOnData
}
