// Package report turns Loadline's answers into what people read: the tables, charts,
// summaries and notes of a replay, of pools, and of trees of shares.
//
// Pages are those of package page:
//
//	err := page.Write("week.html", report.ReplayPage(answer, "kubectl loadline v0.4"))
//
// Numbers and tables are written by package text, and charts drawn by package chart.
//
// The package computes nothing about contention, asks no cluster and prints nothing
// by itself.
package report
