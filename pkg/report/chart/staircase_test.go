package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/text"
)

// twoClasses are the servers that two SLAs ask for at service rate 1, as in
// Fig. 3 of Hu et al., CASCON 2009.
func twoClasses() Staircase {
	return Staircase{
		Title: "Servers against arrival rate", Quantity: "arrival rate", Unit: "/s", Takes: "servers", From: 0, To: 4,
		Stairs: []Stair{
			{Name: "checkout", Steps: []Step{{0, 1}, {0.00143, 2}, {0.71, 3}, {1.45, 4}, {2.31, 5}, {3.22, 6}}, Now: 0.6},
			{Name: "search", Steps: []Step{{0, 1}, {0.67, 2}, {1.65, 3}, {2.65, 4}, {3.64, 5}}, Now: 3.6},
		},
	}
}

func TestAStaircaseNamesItsAxesAndSaysHowFarItIsToTheNextStep(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoClasses(),
		"Servers against arrival rate", "arrival rate (/s)", "servers", "now", "enough up to",
		"checkout", "0.60/s", "2", "0.71/s",
		"search", "3.600/s", "4", "3.640/s")
}

func TestAStaircaseThatEndsBeforeTheNextStepSaysSo(t *testing.T) {
	t.Parallel()
	chart := twoClasses()
	chart.Stairs[0].Now, chart.Stairs[1].Now = 3.5, math.NaN()
	wantTexts(t, chart, "6", "beyond the chart", text.Absent)
}

func TestAStepBelongsToWhatIsAboveIt(t *testing.T) {
	t.Parallel()
	chart := twoClasses()
	for now, want := range map[float64]int{0: 0, 0.7: 1, 0.71: 2, 4: 5} {
		if at, ok := chart.now(Stair{Steps: chart.Stairs[0].Steps, Now: now}); at != want || !ok {
			t.Errorf("at %v it is at step %d, %v, want %d", now, at, ok, want)
		}
	}
	for _, now := range []float64{-1, 4.1, math.NaN()} {
		if _, ok := chart.now(Stair{Steps: chart.Stairs[0].Steps, Now: now}); ok {
			t.Errorf("%v is in the chart", now)
		}
	}
}

func TestAStaircaseThatCannotBeDrawnSaysWhichField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*Staircase)
		want  string
	}{
		"no quantity":       {func(s *Staircase) { s.Quantity = "" }, "quantity: is empty; name what rises"},
		"nothing needed":    {func(s *Staircase) { s.Takes = "" }, "takes: is empty; name what is needed"},
		"no width":          {func(s *Staircase) { s.To = 0 }, "from, to: 0 and 0 are no ends of an axis; give finite numbers, the first clearly below the second"},
		"zero in the log":   {func(s *Staircase) { s.Log = true }, "from: 0: a logarithmic axis shows values from 1e-290 up"},
		"no stairs":         {func(s *Staircase) { s.Stairs = nil }, "stairs: there are 0; a chart shows 1 to 10"},
		"a name twice":      {func(s *Staircase) { s.Stairs[1].Name = "checkout" }, `stairs[1].name: "checkout" is also the name of stairs[0]`},
		"no steps":          {func(s *Staircase) { s.Stairs[1].Steps = nil }, `stairs[1] ("search").steps: is empty; there is nothing to show`},
		"a late beginning":  {func(s *Staircase) { s.Stairs[0].Steps[0].From = 0.1 }, `stairs[0] ("checkout").steps[0].from: 0.1 is not where the axis begins, 0`},
		"a step back":       {func(s *Staircase) { s.Stairs[0].Steps[2].From = 0 }, `stairs[0] ("checkout").steps[2].from: 0 is not above 0.00143, where the one before begins, and at most 4, where the axis ends`},
		"a need of nothing": {func(s *Staircase) { s.Stairs[0].Steps[1].Needs = math.NaN() }, `stairs[0] ("checkout").steps[1].needs: NaN is not between 0 and 1e+290`},
		"too many steps":    {func(s *Staircase) { s.Stairs[1].Steps = make([]Step, maxSteps) }, fmt.Sprintf("stairs: have %d steps, which nobody can tell apart; show at most %d", maxSteps+6, maxSteps)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chart := twoClasses()
			c.spoil(&chart)
			if err := Encode(io.Discard, chart, SVG); errorText(err) != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}

func TestAStaircaseOfAnyNumbersCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chart := Staircase{Quantity: "x", Takes: "y", Log: rapid.Bool().Draw(t, "log")}
		least := 0.0
		if chart.Log {
			least = 1 / maxMagnitude
		}
		chart.From = rapid.Float64Range(least, maxMagnitude/10).Draw(t, "from")
		chart.To = rapid.Float64Range(max(chart.From*1.000002, 1e-280), maxMagnitude).Draw(t, "to")
		stair := Stair{Name: "a", Now: rapid.Float64().Draw(t, "now")}
		stair.Steps = append(stair.Steps, Step{chart.From, rapid.Float64Range(least, maxMagnitude).Draw(t, "first")})
		if half := chart.From + (chart.To-chart.From)/2; half > chart.From {
			stair.Steps = append(stair.Steps, Step{half, rapid.Float64Range(least, maxMagnitude).Draw(t, "second")})
		}
		chart.Stairs = []Stair{stair}
		var svg strings.Builder
		if err := Encode(&svg, chart, SVG); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
			t.Fatal("something is drawn nowhere")
		}
	})
}
