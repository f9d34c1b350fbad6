package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette has a colour for each series. Its first seven colours are those of Okabe and Ito (Color
// Universal Design, 2008) without their yellow, which is too pale on white; three darker ones
// follow. People with any of the common colour vision deficiencies can distinguish all ten.
var palette = []color.NRGBA{
	{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, // blue
	{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, // vermilion
	{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, // bluish green
	{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, // reddish purple
	{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, // orange
	{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, // sky blue
	{R: 0x22, G: 0x22, B: 0x22, A: 0xFF}, // black
	{R: 0x44, G: 0x22, B: 0xAA, A: 0xFF}, // indigo
	{R: 0x7A, G: 0x44, B: 0x19, A: 0xFF}, // brown
	{R: 0x88, G: 0x22, B: 0x55, A: 0xFF}, // plum
}

// dashes distinguish lines where colours cannot, in print say: one per colour.
var dashes = [][]vg.Length{
	nil,
	{7, 3},
	{2, 2},
	{8, 3, 2, 3},
	{12, 4},
	{8, 3, 2, 3, 2, 3},
	{4, 4},
	{14, 3, 4, 3},
	{1, 4},
	{10, 2, 1, 2, 1, 2, 1, 2},
}

// seriesLine returns how the i-th series of a chart draws a line: in a colour and with
// dashes of its own.
func seriesLine(i int) draw.LineStyle {
	return draw.LineStyle{Color: palette[i], Width: 1.6, Dashes: dashes[i]}
}

// Hue returns the colour of the i-th series of a chart, from 0 to 9.
func Hue(i int) color.NRGBA { return palette[i] }

// Tint mixes a colour with white, light enough for dark text on it.
func Tint(c color.NRGBA) color.NRGBA {
	return mix(color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: c.A}, c, 0.45)
}
