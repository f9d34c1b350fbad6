package main

import (
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

func abs(x float64) float64 { return math.Abs(x) }

// decimals writes a fraction, and signed one with its sign.
func decimals(x float64) string { return finite(x, "%.3f") }
func signed(x float64) string   { return finite(x, "%+.3f") }

func finite(x float64, format string) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return text.Absent
	}
	return fmt.Sprintf(format, x)
}

// earlier says by how much something ends before something else does, or after it.
func earlier(end, other float64) string {
	if end > other {
		return text.Percent(end/other-1) + " later"
	}
	return text.Percent(1-end/other) + " earlier"
}

// writeCharts writes a chart in both formats and says where.
func writeCharts(c chart.Chart, path string) error {
	for _, extension := range []string{".svg", ".png"} {
		if err := chart.WriteFile(path+extension, c); err != nil {
			return err
		}
	}
	fmt.Printf("Chart: %s.svg and .png\n", path)
	return nil
}
