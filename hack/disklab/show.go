package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// show writes a table of the mixes.
func show(out io.Writer, r *recorded) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MIX\tPOD\tKIND\tALONE\tLATENCY\tTOGETHER\tLATENCY\tDILATION\tCULPRIT\t")
	for _, m := range r.Mixes {
		rows(w, m)
	}
	return w.Flush()
}

func showMix(out io.Writer, m mixRecord) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows(w, m)
	return w.Flush()
}

func rows(w io.Writer, m mixRecord) {
	for i, t := range m.Truth {
		culprit := "-"
		if t.Culprit >= 0 {
			culprit = fmt.Sprint(t.Culprit)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%.0f/s\t%.0fµs\t%.0f/s\t%.0fµs\t%.2f\t%s\t%s\n", m.Name, i, m.Jobs[i], t.Alone, 1e6*t.LatencyAlone,
			t.Together, 1e6*t.LatencyTogether, t.Dilation, culprit, mark(t.Noisy))
	}
}

func mark(noisy bool) string {
	if noisy {
		return " noisy"
	}
	return ""
}
