// Package chart draws charts, as SVG or PNG, in one look.
//
// A [Chart] is a plain value that describes what to show: [Comparison] shows contenders case by
// case, [Intervals] estimates with their confidence, [Distribution] samples, [Timeline] the jobs of
// schedules, [Occupancy] the utilization of machines over time, [Scatter] predictions beside
// measurements, [HeatMap] a matrix, such as the slowdown of each job by each other, [Staircase] the
// whole units that a rising rate needs, [Regions] the best alternative at each point of a plane,
// and [ShareTree] shares and their results. A [Drawing] shows its caller's own drawing, in the same
// look.
//
// [WriteFile] draws one into a file, SVG or PNG by its extension, [Encode] into a
// stream, and [ElementOf] for a page. Charts with wrong data (no samples, a value
// that is not a number, a bar that ends before it starts) are refused with an error
// that names the field, and no file is touched.
//
// [Summarize] gives the mean and the quantiles that charts show of a sample.
//
// The package draws; it computes nothing about contention and depends neither on Loadline's answers
// nor on Kubernetes.
package chart
