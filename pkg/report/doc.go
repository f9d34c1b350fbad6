// Package report turns results into what people read: aligned tables, numbers
// with their units, and charts.
//
// A [Chart] is a plain value that describes what to show: [Comparison] shows
// contenders case by case, [Intervals] estimates with their confidence,
// [Distribution] samples, [Timeline] the jobs of schedules, [Occupancy] how busy
// machines were, [Scatter] predictions beside measurements, [HeatMap] a matrix, of
// who slows whom say, [Staircase] what a rising rate needs in whole units,
// [Regions] what is better where, and [ShareTree] shares and what they give. [WriteChart] draws one into a file, SVG or PNG
// by its extension. Charts with wrong data (no samples, a value that is not a
// number, a bar that ends before it starts) are refused with an error that names
// the field, and no file is touched.
//
// A [Page] puts texts, tables and charts into one HTML file that loads nothing
// else, which [WritePage] writes:
//
//	err := report.WritePage("week.html", report.Page{
//		Title:    "Last week under four policies",
//		Summary:  "Least dilation finishes 17.7% sooner than round robin.",
//		Sections: []report.Section{{Title: "Results", Table: t, Charts: []report.Chart{makespans}}},
//	})
//
// [Summarize] gives the mean and the quantiles that tables and charts show.
//
// The package formats and draws; it computes nothing about contention, knows
// no Kubernetes and prints nothing by itself.
package report
