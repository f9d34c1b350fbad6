package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/text"
)

// fate is what became of a pod in a mix.
type fate struct {
	mix   *mix
	job   spec
	truth *truth
	// observed is the dilation that is said of it beside the others, in parts of what is said of it alone, and predicted what follows from the
	// vectors of all alone, NaN where a vector does not say how much it is at the disk.
	observed, predicted float64
	// atDisk is the part of what is observed that is at the disk, and blamed the neighbour that is named first, -1 for none.
	atDisk float64
	blamed int
}

// kind is what the pod belongs to in a summary.
func (f *fate) kind() string {
	if f.job.Program != "" {
		return "programs"
	}
	return f.job.class().String()
}

// right reports whether the pod that is blamed is the culprit, or one of which the removal helps as much but for 3 %.
func (f *fate) right() bool {
	t := f.truth
	return f.blamed >= 0 && (f.blamed == t.Culprit || len(t.Without) > f.blamed && t.Without[f.blamed] >= 0.97*t.Without[t.Culprit])
}

// showFates writes what became of all pods, and sums up each kind.
func showFates(w io.Writer, all []fate) error {
	t := text.NewTable(text.Left("TOGETHER"), text.Left("POD"), text.Right("MEASURED"), text.Right("OBSERVED"), text.Right("AT DISK"), text.Right("PREDICTED"),
		text.Left("BLAMED"), text.Left("CULPRIT"))
	for i := range all {
		f := &all[i]
		t.Add(f.mix.Name, f.job.String()+mark(f.truth.Noisy), text.Times(f.truth.Dilation), text.Times(f.observed), text.Added(f.atDisk), text.Times(f.predicted),
			f.mix.name(f.blamed), f.mix.name(f.truth.Culprit))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	for _, kind := range []string{"programs", reads.String(), writes.String(), durable.String()} {
		if err := showKind(w, kind, slices.DeleteFunc(slices.Clone(all), func(f fate) bool { return f.kind() != kind })); err != nil {
			return err
		}
	}
	return nil
}

// name returns which pod of a mix one is, none for -1.
func (m *mix) name(pod int) string {
	if pod < 0 {
		return ""
	}
	return m.Jobs[pod].String()
}

// showKind sums up the pods of a kind, if there are any.
func showKind(w io.Writer, kind string, all []fate) error {
	if len(all) == 0 {
		return nil
	}
	var observed, predicted []float64
	victims, right := 0, 0
	for i := range all {
		f := &all[i]
		observed = append(observed, math.Abs(f.observed/f.truth.Dilation-1))
		if !math.IsNaN(f.predicted) {
			predicted = append(predicted, math.Abs(f.predicted/f.truth.Dilation-1))
		}
		if f.truth.Culprit >= 0 {
			victims++
			if f.right() {
				right++
			}
		}
	}
	_, err := fmt.Fprintf(w, "%s. Observed: %s. Predicted by the vectors alone: %s. Of %d that are slowed by %.1f or more, the culprit is blamed first for %d.\n",
		kind, offBy(observed), offBy(predicted), victims, victim, right)
	return err
}

// offBy says how far some are off.
func offBy(all []float64) string {
	if len(all) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d off by %.0f %% on average, %.0f %% in the median, %.0f %% at worst", len(all), 100*sum(all)/float64(len(all)), 100*quantile(all, 0.5), 100*slices.Max(all))
}
