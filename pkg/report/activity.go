package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// Activity is what a pod did at a moment: how many of its threads ran, waited for a processor, were held back by a limit, and were blocked.
type Activity struct{ Run, Wait, Throttled, Blocked float64 }

// activities are the parts of an activity, from below, with the index of their hue.
var activities = []struct {
	name string
	hue  int
	of   func(*Activity) float64
}{
	{"running", 2, func(a *Activity) float64 { return a.Run }},
	{"blocked", 5, func(a *Activity) float64 { return a.Blocked }},
	{"waiting for a processor", 1, func(a *Activity) float64 { return a.Wait }},
	{"held back by its limit", 0, func(a *Activity) float64 { return a.Throttled }},
}

// ActivityChart draws what a pod did, given moments that are equally far apart, oldest first, and over how many minutes they are.
func ActivityChart(pod string, moments []Activity, minutes float64) chart.Chart {
	top := 0.0
	for i := range moments {
		sum := 0.0
		for _, part := range activities {
			sum += part.of(&moments[i])
		}
		top = max(top, sum)
	}
	if len(moments) < 2 || top == 0 {
		return nil
	}
	return chart.Drawing{
		Label: fmt.Sprintf("What the threads of %s did in the last %s: running, blocked, waiting and held back", pod, text.Counted(int(math.Ceil(minutes)), "minute")), Height: 190,
		Draw: func(c draw.Canvas) { drawActivity(c, moments, top, minutes) }, Numbers: activityTable(moments, minutes),
	}
}

// activityTable has how many threads did what at each moment.
func activityTable(moments []Activity, minutes float64) *text.Table {
	columns := []text.Column{text.Left("time")}
	for _, part := range activities {
		columns = append(columns, text.Right("threads "+part.name))
	}
	t := text.NewTable(columns...)
	for i := range moments {
		ago := minutes * float64(len(moments)-1-i) / float64(len(moments))
		cells := []string{text.Ago(time.Duration(ago * float64(time.Minute)))}
		for _, part := range activities {
			cells = append(cells, text.Decimal(part.of(&moments[i]), 2))
		}
		t.Add(cells...)
	}
	return t
}

func drawActivity(c draw.Canvas, moments []Activity, top, minutes float64) {
	const left, below, above = 46, 22, 20
	label, line := chart.Sans(chart.SmallSize, chart.Ink), draw.LineStyle{Color: chart.GridLine, Width: 0.6}
	x := c.Min.X
	for _, part := range activities {
		chart.Fill(c, chart.Hue(part.hue), x, c.Max.Y-10, x+9, c.Max.Y-1)
		chart.Write(c, label, x+13, c.Max.Y-5.5, part.name)
		x += 13 + label.Width(part.name) + 16
	}
	area := draw.Crop(c, left, 0, below, -above)
	width, height := area.Max.X-area.Min.X, area.Max.Y-area.Min.Y
	for _, tick := range activityTicks(top) {
		y := area.Min.Y + height*vg.Length(tick/top)
		c.StrokeLine2(line, area.Min.X, y, area.Max.X, y)
		chart.Write(c, chart.AlignRight(label), area.Min.X-6, y, strconv.FormatFloat(tick, 'g', 3, 64))
	}
	const seam = 0.4 // that neighbours overlap, so that the ground does not show between them
	each := width / vg.Length(len(moments))
	for i := range moments {
		y := area.Min.Y
		for _, part := range activities {
			h := height * vg.Length(part.of(&moments[i])/top)
			if h > 0 {
				chart.Fill(c, chart.Hue(part.hue), area.Min.X+each*vg.Length(i), y, min(area.Min.X+each*vg.Length(i+1)+seam, area.Max.X), y+h)
			}
			y += h
		}
	}
	chart.Write(c, label, area.Min.X, c.Min.Y+5, fmt.Sprintf("%.0f minutes ago", math.Ceil(minutes)))
	chart.Write(c, chart.AlignRight(label), area.Max.X, c.Min.Y+5, "now")
	chart.Write(c, chart.AlignCenter(chart.Sans(chart.SmallSize, chart.SoftInk)), area.Min.X+width/2, c.Min.Y+5, "threads")
}

// activityTicks returns round numbers from 0 to the top.
func activityTicks(top float64) (ticks []float64) {
	step := math.Pow(10, math.Floor(math.Log10(top)))
	switch {
	case top/step < 2:
		step /= 2
	case top/step > 5:
		step *= 2
	}
	for k := 0.0; k*step <= top; k++ {
		ticks = append(ticks, k*step)
	}
	return ticks
}
