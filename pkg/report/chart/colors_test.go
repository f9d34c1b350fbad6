package chart

import (
	"image/color"
	"math"
	"testing"
)

// luminance is the relative luminance of sRGB (IEC 61966-2-1), from 0 to 1.
func luminance(c color.Color) float64 {
	linear := func(channel uint32) float64 {
		x := float64(channel) / 0xFFFF
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// lightness is L* of CIELAB, for colours that are not almost black.
func lightness(c color.Color) float64 { return 116*math.Cbrt(luminance(c)) - 16 }

func TestEqualDifferencesLookEquallyLarge(t *testing.T) {
	t.Parallel()
	scale := newColorScale([]float64{1, 3})
	first, last := lightness(scale.colorAt(1)), lightness(scale.colorAt(3))
	if first-last < 75 {
		t.Errorf("lightness falls from %.1f to %.1f only", first, last)
	}
	for i := range 101 {
		fraction := float64(i) / 100
		got, want := lightness(scale.colorAt(1+2*fraction)), first+fraction*(last-first)
		// A just noticeable difference is about 1 to 2; straight lines between
		// the eleven colours of the table are off by less.
		if math.Abs(got-want) > 1 {
			t.Errorf("at %.2f the lightness is %.1f, want %.1f", fraction, got, want)
		}
	}
}

func TestTextIsReadableOnEveryColour(t *testing.T) {
	t.Parallel()
	scale := newColorScale([]float64{0, 1})
	for i := range 101 {
		ground := scale.colorAt(float64(i) / 100)
		a, b := luminance(ground), luminance(ReadableOn(ground))
		// Contrast ratio of WCAG 2, from 1 to 21; where dark and white text are
		// equally good, both have 4.
		if ratio := (math.Max(a, b) + 0.05) / (math.Min(a, b) + 0.05); ratio < 3.9 {
			t.Errorf("the contrast is %.2f on %v", ratio, ground)
		}
	}
}

func TestAlmostEqualValuesLookAlike(t *testing.T) {
	t.Parallel()
	scale := newColorScale([]float64{1, 1.0001})
	if a, b := lightness(scale.colorAt(1)), lightness(scale.colorAt(1.0001)); math.Abs(a-b) > 2 {
		t.Errorf("the lightness of 1 is %.1f, that of 1.0001 %.1f", a, b)
	}
}
