package chart

import (
	"io"
	"testing"

	"gonum.org/v1/plot/vg/draw"
)

// twoWords is a drawing of two texts.
func twoWords() Drawing {
	return Drawing{Label: "two words, one above the other", Height: 80, Draw: func(c draw.Canvas) {
		Write(c, Sans(TextSize, Ink), c.Min.X, c.Max.Y-TextSize, "above")
		Write(c, Bold(SmallSize, SoftInk), c.Min.X, c.Min.Y+SmallSize, "below")
	}}
}

func TestADrawingShowsWhatItsCallerDraws(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoWords(), "above", "below")
}

func TestADrawingOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	unlabelled, flat, empty := twoWords(), twoWords(), twoWords()
	unlabelled.Label, flat.Height, empty.Draw = "", 0, nil
	for want, drawing := range map[string]Drawing{
		"label: is empty; say what is drawn": unlabelled,
		"height: is not above 0":             flat,
		"draw: is missing":                   empty,
	} {
		if err := Encode(io.Discard, drawing, SVG); errorText(err) != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
