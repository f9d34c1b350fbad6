// Package report writes figures, progress and charts of experiments.
package report

import (
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// Decimals writes a fraction.
func Decimals(x float64) string { return finite(x, "%.3f") }

// Signed writes a fraction with its sign.
func Signed(x float64) string { return finite(x, "%+.3f") }

func finite(x float64, format string) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return text.Absent
	}
	return fmt.Sprintf(format, x)
}

// Earlier says by how much something ends before something else does, or after it.
func Earlier(end, other float64) string {
	if end > other {
		return text.Percent(end/other-1) + " later"
	}
	return text.Percent(1-end/other) + " earlier"
}

// WriteCharts writes a chart in both formats and says where.
func WriteCharts(c chart.Chart, path string) error {
	for _, extension := range []string{".svg", ".png"} {
		if err := chart.WriteFile(path+extension, c); err != nil {
			return err
		}
	}
	fmt.Printf("Chart: %s.svg and .png\n", path)
	return nil
}
