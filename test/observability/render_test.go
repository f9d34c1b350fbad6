package observability

import (
	"context"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// renderTo is a folder for a picture of every dashboard. Grafana draws better: the
// pictures show what the queries answer, where panels are, and in which units.
var renderTo = flag.String("render", "", "folder to draw the dashboards into, as PNG")

// A cell of Grafana's grid, and the margin of a panel.
const (
	cellWidth, cellHeight = vg.Length(40), vg.Length(27)
	inset                 = vg.Length(6)
)

// render draws a dashboard with what its panels show.
func render(ctx context.Context, p *prometheus, from time.Time, d *dashboard, dir string) error {
	bottom := 0
	for _, panel := range d.Panels {
		bottom = max(bottom, panel.GridPos.Y+panel.GridPos.H)
	}
	height := vg.Length(bottom) * cellHeight
	canvas := vgimg.NewWith(vgimg.UseWH(24*cellWidth, height), vgimg.UseDPI(110))
	whole := draw.New(canvas)
	for _, panel := range d.Panels {
		g := panel.GridPos
		left, top := vg.Length(g.X)*cellWidth, height-vg.Length(g.Y)*cellHeight
		area := draw.Crop(whole, left, left+vg.Length(g.W)*cellWidth-whole.Max.X, top-vg.Length(g.H)*cellHeight, top-whole.Max.Y)
		if err := drawPanel(ctx, p, from, &panel, area); err != nil {
			return fmt.Errorf("%s, panel %q: %w", d.file, panel.Title, err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, d.UID+".png"))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(file)
	return err
}

func drawPanel(ctx context.Context, p *prometheus, from time.Time, panel *panel, area draw.Canvas) error {
	style := plot.New().Title.TextStyle
	style.Font.Size, style.XAlign, style.YAlign = 10, draw.XLeft, draw.YTop
	area = draw.Crop(area, inset, -inset, inset, -inset)
	area.FillText(style, vg.Point{X: area.Min.X, Y: area.Max.Y}, panel.Title)
	if panel.Type == row {
		return nil
	}
	area.StrokeLine2(draw.LineStyle{Color: color.Gray{Y: 200}, Width: 0.5}, area.Min.X, area.Max.Y-14, area.Max.X, area.Max.Y-14)
	area = draw.Crop(area, 0, 0, 0, -16)
	chart := plot.New()
	var lines []string
	drawn := 0
	for i := range panel.Targets {
		q := &panel.Targets[i]
		a, err := p.answer(ctx, from, q)
		if err != nil {
			return err
		}
		for _, s := range a.vector {
			text := inUnit(panel.FieldConfig.Defaults.Unit, float64(s.Value))
			if panel.Type == "table" {
				text = s.Metric.String()
			}
			lines = append(lines, text)
		}
		n, err := drawLines(chart, drawn, from, a.matrix, q)
		if err != nil {
			return err
		}
		drawn += n
	}
	if panel.Type == "timeseries" {
		chart.X.Label.Text = "s"
		chart.Y.Label.Text = panel.FieldConfig.Defaults.Unit
		chart.Y.Min = min(chart.Y.Min, 0)
		chart.Legend.TextStyle.Font.Size, chart.Legend.Top = 7, true
		chart.Draw(area)
		return nil
	}
	if len(lines) == 0 {
		lines = []string{"no data"}
	}
	style.Font.Size = 18
	if panel.Type == "table" {
		style.Font.Size = 8
	}
	area.FillText(style, vg.Point{X: area.Min.X, Y: area.Max.Y - 8}, strings.Join(lines, "\n"))
	return nil
}

// drawLines adds the series of a query to a chart that has some, and returns how
// many it added.
func drawLines(chart *plot.Plot, drawn int, from time.Time, series model.Matrix, q *target) (added int, err error) {
	for _, s := range series {
		var points plotter.XYs
		for _, v := range s.Values {
			if y := float64(v.Value); !math.IsNaN(y) && !math.IsInf(y, 0) {
				points = append(points, plotter.XY{X: v.Timestamp.Time().Sub(from).Seconds(), Y: y})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return added, err
		}
		line.Color = plotutil.Color(drawn + added)
		chart.Add(line)
		chart.Legend.Add(legend(q, s.Metric), line)
		added++
	}
	return added, nil
}

var placeholder = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legend is what Grafana calls a series.
func legend(q *target, metric model.Metric) string {
	return placeholder.ReplaceAllStringFunc(q.LegendFormat, func(s string) string {
		return string(metric[model.LabelName(placeholder.FindStringSubmatch(s)[1])])
	})
}

// inUnit writes a value as Grafana does, about.
func inUnit(unit string, value float64) string {
	switch unit {
	case "percentunit":
		return fmt.Sprintf("%.0f %%", value*100)
	case "s":
		return time.Duration(value * float64(time.Second)).String()
	default:
		return fmt.Sprintf("%.4g", value)
	}
}
