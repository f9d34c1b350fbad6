package perf

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/pkg/text"
)

// Variant is a scheduler configuration that is measured; testdata holds each.
type Variant string

// The variants, as the package comment describes them.
const (
	Default Variant = "default"
	Added   Variant = "added"
	Shipped Variant = "shipped"
)

// Variants returns all variants, the one that the others are compared with
// first.
func Variants() []Variant { return []Variant{Default, Added, Shipped} }

// Figures are what one run of the benchmark measured.
type Figures struct {
	// PodsPerSecond is upstream's scheduling throughput: the mean over the
	// seconds in which the measured pods were scheduled.
	PodsPerSecond float64 `json:"podsPerSecond"`
	// ProcessorMillis is the processor time that a measured pod cost, in
	// milliseconds: that of the scheduler, and of the API server and the
	// benchmark, which run in the same process. It tells variants apart where
	// other programs disturb the throughput.
	ProcessorMillis float64 `json:"processorMillis"`
	// PreScoreMillis and ScoreMillis are what the scheduling of a pod spent on
	// average at these extension points, all plugins together, in
	// milliseconds by the clock; Score includes NormalizeScore. Pods that are
	// batched come to neither.
	PreScoreMillis float64 `json:"preScoreMillis"`
	ScoreMillis    float64 `json:"scoreMillis"`
	// Batched is the share of the measured pods that were placed by the scores
	// of the pod before them, from 0 to 1.
	Batched float64 `json:"batched"`
}

// Pair holds the figures of one run of each variant, back to back.
type Pair map[Variant]Figures

// Ratio returns the throughput of a variant as a multiple of that of [Default].
func (p Pair) Ratio(v Variant) float64 { return p[v].PodsPerSecond / p[Default].PodsPerSecond }

// Result is what a benchmark found out about a topic: at least one pair, on
// clusters of Nodes nodes, by scheduling Pods pods.
type Result struct {
	Topic string
	Nodes int
	Pods  int
	Pairs []Pair
}

// MedianRatio returns the median of a variant's ratios, the lower one of two.
func (r *Result) MedianRatio(v Variant) float64 {
	return r.median(func(p Pair) float64 { return p.Ratio(v) })
}

func (r *Result) median(of func(Pair) float64) float64 {
	var values []float64
	for _, p := range r.Pairs {
		values = append(values, of(p))
	}
	slices.Sort(values)
	return stat.Quantile(0.5, stat.Empirical, values, nil)
}

// WriteTables writes the result as people read it: pods per second and ratios
// pair by pair with their medians, then where the time goes, and how many pods
// were placed by batching.
func (r *Result) WriteTables(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n%s: pods scheduled per second, %d pods on %d nodes, every pod profiled\n", r.Topic, r.Pods, r.Nodes); err != nil {
		return err
	}
	throughput := text.NewTable(text.Left("PAIR"), text.Right("DEFAULT"),
		text.Right("ADDED"), text.Right("RATIO"), text.Right("SHIPPED"), text.Right("RATIO"))
	for i, p := range r.Pairs {
		throughput.Add(fmt.Sprint(i+1), podsPerSecond(p[Default].PodsPerSecond),
			podsPerSecond(p[Added].PodsPerSecond), ratio(p.Ratio(Added)),
			podsPerSecond(p[Shipped].PodsPerSecond), ratio(p.Ratio(Shipped)))
	}
	medianOf := func(v Variant) string {
		return podsPerSecond(r.median(func(p Pair) float64 { return p[v].PodsPerSecond }))
	}
	throughput.Add("median", medianOf(Default),
		medianOf(Added), ratio(r.MedianRatio(Added)),
		medianOf(Shipped), ratio(r.MedianRatio(Shipped)))
	if err := throughput.Write(w); err != nil {
		return err
	}

	if _, err := fmt.Fprint(w, "\nMilliseconds per pod, median of the pairs\n"); err != nil {
		return err
	}
	if err := r.spent().Write(w); err != nil {
		return err
	}

	batched := func(v Variant) float64 { return 100 * r.median(func(p Pair) float64 { return p[v].Batched }) }
	_, err := fmt.Fprintf(w, "\nPlaced by the scores of the pod before, median of the pairs: default %.1f %%, added %.1f %%, shipped %.1f %%\n",
		batched(Default), batched(Added), batched(Shipped))
	return err
}

// spent tabulates where the time goes, each variant also as a multiple of the
// default of its pair.
func (r *Result) spent() *text.Table {
	table := text.NewTable(text.Left("TIME"), text.Right("DEFAULT"),
		text.Right("ADDED"), text.Right(""), text.Right("SHIPPED"), text.Right(""))
	for _, at := range []struct {
		name   string
		millis func(Figures) float64
	}{
		{"processor, whole cluster", processorMillis},
		{"PreScore", func(f Figures) float64 { return f.PreScoreMillis }},
		{"Score", func(f Figures) float64 { return f.ScoreMillis }},
	} {
		row := []string{at.name}
		for _, v := range Variants() {
			row = append(row, fmt.Sprintf("%.3f", r.median(func(p Pair) float64 { return at.millis(p[v]) })))
			if v != Default {
				row = append(row, text.Times(r.medianMultiple(v, at.millis)))
			}
		}
		table.Add(row...)
	}
	return table
}

// medianMultiple returns the median of what a variant took, as a multiple of
// what the default took in the same pair.
func (r *Result) medianMultiple(v Variant, millis func(Figures) float64) float64 {
	return r.median(func(p Pair) float64 { return millis(p[v]) / millis(p[Default]) })
}

func processorMillis(f Figures) float64 { return f.ProcessorMillis }

// podsPerSecond and ratio write numbers with as many digits as mean something.
func podsPerSecond(x float64) string { return fmt.Sprintf("%.1f", x) }

func ratio(x float64) string { return fmt.Sprintf("%.3f", x) }

// Results are what was found out about several topics.
type Results []*Result

// WriteTable writes how each variant compares with the default, topic by topic:
// medians of the ratios within pairs.
func (all Results) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprint(w, "\nRatios to the default, medians of the pairs\n"); err != nil {
		return err
	}
	table := text.NewTable(text.Left("TOPIC"), text.Right("ADDED PODS/S"), text.Right("PROCESSOR"), text.Right("SHIPPED PODS/S"), text.Right("PROCESSOR"))
	for _, r := range all {
		table.Add(r.Topic, ratio(r.MedianRatio(Added)), ratio(r.medianMultiple(Added, processorMillis)),
			ratio(r.MedianRatio(Shipped)), ratio(r.medianMultiple(Shipped, processorMillis)))
	}
	return table.Write(w)
}

// MarshalJSON returns the result as machines read it: the pairs, and the medians
// of each variant's throughput and processor time relative to the default's.
func (r *Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"topic": r.Topic,
		"nodes": r.Nodes,
		"pods":  r.Pods,
		"pairs": r.Pairs,
		"medianRatio": map[Variant]float64{
			Added:   r.MedianRatio(Added),
			Shipped: r.MedianRatio(Shipped),
		},
		"medianProcessorRatio": map[Variant]float64{
			Added:   r.medianMultiple(Added, processorMillis),
			Shipped: r.medianMultiple(Shipped, processorMillis),
		},
	})
}
