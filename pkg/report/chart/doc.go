// Package chart draws charts, as SVG or PNG, in one look.
//
// A [Chart] is a plain value that describes what to show: [Comparison] shows
// contenders case by case, [Intervals] estimates with their confidence,
// [Distribution] samples, [Timeline] the jobs of schedules, [Occupancy] how busy
// machines were, [Scatter] predictions beside measurements, [HeatMap] a matrix, of
// who slows whom say, [Staircase] what a rising rate needs in whole units,
// [Regions] what is better where, and [ShareTree] shares and what they give. A [Drawing] shows
// what its caller draws, in the same look.
//
// [WriteFile] draws one into a file, SVG or PNG by its extension, [Encode] into a
// stream, and [ElementOf] for a page. Charts with wrong data (no samples, a value
// that is not a number, a bar that ends before it starts) are refused with an error
// that names the field, and no file is touched.
//
// [Summarize] gives the mean and the quantiles that charts show of a sample.
//
// The package draws; it computes nothing about contention and knows neither
// Loadline's answers nor Kubernetes.
package chart
