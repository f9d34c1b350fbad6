// Package report turns results into what people read: aligned tables, numbers
// with their units, and charts.
//
// A [Table] prints rows under headers:
//
//	t := report.NewTable(report.Left("JOB"), report.Right("DILATION"))
//	t.Add("filecomp", report.Times(1.42))
//	err := t.Write(os.Stdout)
//
// A [Chart] is a plain value that describes what to show: [Distribution]
// compares samples, [Timeline] schedules, [Scatter] predictions with
// measurements, and [HeatMap] shows a matrix, of who slows whom say.
// [WriteChart] draws one into a file, SVG or PNG by its extension. Charts with wrong data (no samples, a
// value that is not a number, a bar that ends before it starts) are refused
// with an error that names the field, and no file is touched.
//
// [Summarize] gives the mean and the quantiles that tables and charts show.
//
// The package formats and draws; it computes nothing about contention, knows
// no Kubernetes and prints nothing by itself.
package report
