package perf

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
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

// Variants returns all variants, the one that the others are compared with first.
func Variants() []Variant { return []Variant{Default, Added, Shipped} }

// FindVariants returns the default, and the variants of the given names besides; all variants if there are none.
func FindVariants(names []string) ([]Variant, error) {
	if len(names) == 0 {
		return Variants(), nil
	}
	found := []Variant{Default}
	for _, name := range names {
		v := Variant(name)
		if !slices.Contains(Variants(), v) {
			return nil, fmt.Errorf("%q is not one of %v", name, Variants())
		}
		if !slices.Contains(found, v) {
			found = append(found, v)
		}
	}
	return found, nil
}

// Figures are what one run of the benchmark measured. Of the pods that it schedules, those are measured that it schedules from the
// first observation of the cluster to the second one.
type Figures struct {
	// Nodes is how many nodes there were in the end, and Pods how many measured pods.
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// PodsPerSecond is upstream's scheduling throughput: the mean over the seconds in which the measured pods were scheduled.
	PodsPerSecond float64 `json:"podsPerSecond"`
	// ProcessorMillis is the processor time that a measured pod cost, in milliseconds: that of the scheduler, and of the API server
	// and the benchmark, which run in the same process.
	ProcessorMillis float64 `json:"processorMillis"`
	// SchedulerMillis is the part of it that the scheduler took, its plugins included, and LoadlineMillis the part of that which
	// Loadline took. CollectionMillis is the part of ProcessorMillis that garbage collection took. See [Split].
	SchedulerMillis  float64 `json:"schedulerMillis"`
	LoadlineMillis   float64 `json:"loadlineMillis"`
	CollectionMillis float64 `json:"collectionMillis"`
	// SamplingError is the standard error of SchedulerMillis as a fraction of it, for it is estimated by samples.
	SamplingError float64 `json:"samplingError"`
	// PreScoreMillis and ScoreMillis are what the scheduling of a pod spent on average at these extension points, all plugins
	// together, in milliseconds by the clock; Score includes NormalizeScore. Pods that are batched come to neither.
	PreScoreMillis float64 `json:"preScoreMillis"`
	ScoreMillis    float64 `json:"scoreMillis"`
	// Batched is the share of the measured pods that were placed by the scores of the pod before them, from 0 to 1.
	Batched float64 `json:"batched"`
	// Refused is how many attempts to schedule a pod ended without a node meanwhile, and Solved how often Loadline solved its
	// accurate model for a node.
	Refused int `json:"refused"`
	Solved  int `json:"solved"`
}

// split takes in how the processor time divides.
func (f *Figures) split(s Split) {
	scheduler := s.Loadline + s.Scheduler
	f.SchedulerMillis = f.ProcessorMillis * scheduler
	f.LoadlineMillis = f.ProcessorMillis * s.Loadline
	f.CollectionMillis = f.ProcessorMillis * s.Collection
	f.SamplingError = RelativeError(scheduler, s.Samples)
}

// String returns what is printed of a run.
func (f *Figures) String() string {
	return fmt.Sprintf("%d pods, %.0f pods/s, %.3f ms of processor time per pod, of which scheduler %.3f (± %.1f %%), Loadline %.3f, garbage collection %.3f",
		f.Pods, f.PodsPerSecond, f.ProcessorMillis, f.SchedulerMillis, 100*f.SamplingError, f.LoadlineMillis, f.CollectionMillis)
}

// Pair holds the figures of one run of each variant, back to back.
type Pair map[Variant]*Figures

// Spread is the median of some values, the lower one of two, with the lowest and the highest.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	return Spread{Median: stat.Quantile(0.5, stat.Empirical, sorted, nil), Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// figure is one of the figures as tables and JSON name it.
type figure struct {
	name, key string
	of        func(*Figures) float64
}

// The figures of which ratios are taken.
var (
	podsPerSecond   = figure{"pods per second", "podsPerSecond", func(f *Figures) float64 { return f.PodsPerSecond }}
	processorMillis = figure{"processor, ms per pod", "processorMillis", func(f *Figures) float64 { return f.ProcessorMillis }}
	schedulerMillis = figure{"- scheduler", "schedulerMillis", func(f *Figures) float64 { return f.SchedulerMillis }}
)

// figures returns all figures that tables have, in their order.
func figures() []figure {
	return []figure{
		podsPerSecond, processorMillis, schedulerMillis,
		{"  - of it Loadline", "", func(f *Figures) float64 { return f.LoadlineMillis }},
		{"- garbage collection", "collectionMillis", func(f *Figures) float64 { return f.CollectionMillis }},
		{"- API server, clients", "restMillis", func(f *Figures) float64 { return f.ProcessorMillis - f.SchedulerMillis - f.CollectionMillis }},
		{"PreScore, ms by the clock", "preScoreMillis", func(f *Figures) float64 { return f.PreScoreMillis }},
		{"Score, ms by the clock", "scoreMillis", func(f *Figures) float64 { return f.ScoreMillis }},
		{"attempts without a node", "", func(f *Figures) float64 { return float64(f.Refused) }},
		{"nodes solved", "", func(f *Figures) float64 { return float64(f.Solved) }},
		{"batched, %", "", func(f *Figures) float64 { return 100 * f.Batched }},
	}
}

// Result is what a benchmark found out about a topic: at least one pair of the same variants, of which one is [Default].
type Result struct {
	Topic string `json:"topic"`
	// Of says where it is from, such as the Kubernetes and the date.
	Of    string `json:"of"`
	Pairs []Pair `json:"pairs"`
}

// variants returns the variants of the result, in their order.
func (r *Result) variants() []Variant {
	return slices.DeleteFunc(Variants(), func(v Variant) bool { return r.Pairs[0][v] == nil })
}

// values returns a figure of a variant, of each pair.
func (r *Result) values(v Variant, of figure) []float64 {
	var values []float64
	for _, p := range r.Pairs {
		values = append(values, of.of(p[v]))
	}
	return values
}

// Ratio returns the spread of the ratios of a variant's figure to the default's, each within a pair. It is false where one of these is
// 0 or less.
func (r *Result) ratio(v Variant, of figure) (Spread, bool) {
	var ratios []float64
	for _, p := range r.Pairs {
		to := of.of(p[Default])
		if to <= 0 {
			return Spread{}, false
		}
		ratios = append(ratios, of.of(p[v])/to)
	}
	return spreadOf(ratios), true
}

// samplingError returns the standard error of one ratio of the scheduler's processor time that is because of sampling, as a fraction
// of it, of the pair where it is largest.
func (r *Result) samplingError(v Variant) float64 {
	largest := 0.0
	for _, p := range r.Pairs {
		largest = max(largest, math.Hypot(p[v].SamplingError, p[Default].SamplingError))
	}
	return largest
}

// WriteTable writes the result as people read it: medians of each variant's figures, and the medians of their ratios to the default's
// within pairs, with their ranges.
func (r *Result) WriteTable(w io.Writer) error {
	first := r.Pairs[0][Default]
	if _, err := fmt.Fprintf(w, "\n%s: %d pods on %d nodes, every pod profiled; medians, and ranges of the ratios, of %d pairs\n",
		r.Topic, first.Pods, first.Nodes, len(r.Pairs)); err != nil {
		return err
	}
	columns := []text.Column{text.Whole("FIGURE")}
	for _, v := range r.variants() {
		columns = append(columns, text.Right(string(v)))
		if v != Default {
			columns = append(columns, text.Right("RATIO"), text.Right("RANGE"))
		}
	}
	table := text.NewTable(columns...)
	for _, of := range figures() {
		row := []string{of.name}
		for _, v := range r.variants() {
			row = append(row, significant(spreadOf(r.values(v, of)).Median))
			if v != Default {
				row = append(row, r.ratioCells(v, of)...)
			}
		}
		table.Add(row...)
	}
	if err := table.Write(w); err != nil {
		return err
	}
	for _, v := range r.variants()[1:] {
		if _, err := fmt.Fprintf(w, "Sampling alone moves one ratio of the scheduler's time, %s, by ± %.1f %% (one standard error).\n", v, 100*r.samplingError(v)); err != nil {
			return err
		}
	}
	return nil
}

// ratioCells returns the cells of a ratio, and of its range.
func (r *Result) ratioCells(v Variant, of figure) []string {
	if of.key == "" {
		return []string{"", ""}
	}
	ratio, is := r.ratio(v, of)
	if !is {
		return []string{"", ""}
	}
	return []string{fmt.Sprintf("%.3f", ratio.Median), fmt.Sprintf("%.3f to %.3f", ratio.Min, ratio.Max)}
}

// significant writes a number with as many digits as mean something.
func significant(x float64) string {
	switch {
	case x >= 100 || x == math.Trunc(x):
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.3f", x)
	}
}

// MarshalJSON returns the result as machines read it: the pairs, and the spreads of the ratios of each variant's figures to the
// default's.
func (r *Result) MarshalJSON() ([]byte, error) {
	ratios := map[Variant]map[string]Spread{}
	for _, v := range r.variants()[1:] {
		ratios[v] = map[string]Spread{}
		for _, of := range figures() {
			if ratio, is := r.ratio(v, of); is && of.key != "" {
				ratios[v][of.key] = ratio
			}
		}
	}
	type plain Result // without this method
	return json.Marshal(struct {
		*plain

		Ratios map[Variant]map[string]Spread `json:"ratios"`
	}{(*plain)(r), ratios})
}

// Results are what was found out about several topics.
type Results []*Result

// Merged returns the results with newer ones in place of those of the same topics.
func (all Results) Merged(newer Results) Results {
	merged := slices.Clone(all)
	for _, result := range newer {
		if i := slices.IndexFunc(merged, func(r *Result) bool { return r.Topic == result.Topic }); i >= 0 {
			merged[i] = result
		} else {
			merged = append(merged, result)
		}
	}
	return merged
}

// WriteTable writes how each variant compares with the default, topic by topic: the medians of the ratios within pairs, and their
// ranges.
func (all Results) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprint(w, "\nRatios to the default: medians of the pairs, and ranges\n"); err != nil {
		return err
	}
	table := text.NewTable(text.Whole("TOPIC"), text.Whole("VARIANT"), text.Right("PAIRS"),
		text.Right("PODS/S"), text.Right("RANGE"), text.Right("PROCESSOR"), text.Right("RANGE"), text.Right("SCHEDULER"), text.Right("RANGE"))
	for _, r := range all {
		for _, v := range r.variants()[1:] {
			row := []string{r.Topic, string(v), fmt.Sprint(len(r.Pairs))}
			for _, of := range []figure{podsPerSecond, processorMillis, schedulerMillis} {
				row = append(row, r.ratioCells(v, of)...)
			}
			table.Add(row...)
		}
	}
	return table.Write(w)
}
