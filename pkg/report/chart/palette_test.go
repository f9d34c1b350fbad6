package chart

import (
	"image/color"
	"math"
	"testing"
)

// seenBy are the three common colour vision deficiencies at full severity, and
// none: matrices for linear RGB of Machado, Oliveira and Fernandes, IEEE TVCG
// 15(6), 2009.
var seenBy = map[string][3][3]float64{
	"everyone else": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopes":    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopes":  {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopes":    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func TestEveryoneCanTellTheColoursApart(t *testing.T) {
	t.Parallel()
	for who, matrix := range seenBy {
		for i, a := range palette {
			for _, b := range palette[:i] {
				// A difference of about 2 is just noticeable side by side; the
				// nearest colours of Okabe and Ito are 16 apart.
				if d := distance(lab(a, matrix), lab(b, matrix)); d < 15 {
					t.Errorf("for %s %v and %v are only %.1f apart", who, a, b, d)
				}
			}
		}
	}
}

func TestEveryColourHasADashAndAShape(t *testing.T) {
	t.Parallel()
	if len(dashes) != len(palette) || len(dotShapes) != len(palette) {
		t.Errorf("%d colours, %d dashes, %d shapes", len(palette), len(dashes), len(dotShapes))
	}
}

// lab is a colour in CIELAB (D65) as seen through a matrix.
func lab(c color.NRGBA, matrix [3][3]float64) [3]float64 {
	linear := [3]float64{}
	for i, channel := range []uint8{c.R, c.G, c.B} {
		linear[i] = luminance(color.Gray{Y: channel})
	}
	seen := times(matrix, linear)
	for i := range seen {
		seen[i] = math.Min(math.Max(seen[i], 0), 1)
	}
	xyz := times([3][3]float64{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}, seen)
	var f [3]float64
	for i, white := range []float64{0.9505, 1, 1.089} {
		f[i] = xyz[i]/white*7.787 + 16.0/116
		if xyz[i]/white > 0.008856 {
			f[i] = math.Cbrt(xyz[i] / white)
		}
	}
	return [3]float64{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

func times(matrix [3][3]float64, v [3]float64) [3]float64 {
	var product [3]float64
	for i, row := range matrix {
		for k := range row {
			product[i] += row[k] * v[k]
		}
	}
	return product
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}
