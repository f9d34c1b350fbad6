// Package report turns Loadline's answers into what people read: the tables, charts,
// summaries and notes of a replay, of pools, and of trees of shares.
//
// A [Page] puts texts, tables and charts into one HTML file that loads nothing
// else, which [WritePage] writes:
//
//	err := report.WritePage("week.html", report.Page{
//		Title:    "Last week under four policies",
//		Summary:  "Least dilation finishes 17.7% sooner than round robin.",
//		Sections: []report.Section{{Title: "Results", Table: t, Charts: []chart.Chart{makespans}}},
//	})
//
// Numbers and tables are written by package text, and charts drawn by package chart.
//
// The package computes nothing about contention, asks no cluster and prints nothing
// by itself.
package report
