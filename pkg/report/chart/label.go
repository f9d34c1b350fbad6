package chart

import (
	"cmp"
	"strings"

	"loadline.dev/loadline/pkg/text"
)

// These describe charts: their kind, their subject, and the names in them, as far as they are few.

func (d Comparison) label() label {
	return labelOf(d.Title, d.Quantity+" of each "+cmp.Or(d.CasesAre, "case")+" by", d.names())
}

func (d Distribution) label() label {
	return labelOf(d.Title, "distribution of "+d.Quantity+" by", d.names())
}

func (h HeatMap) label() label {
	return labelOf(h.Title, "heat map of "+h.Quantity, nil)
}

func (d Intervals) label() label {
	return labelOf(d.Title, d.Quantity+" with confidence intervals of", d.names())
}

func (o Occupancy) label() label {
	return labelOf(o.Title, o.Quantity+" of machines over time", nil)
}

func (g Regions) label() label {
	return labelOf(g.Title, "map of "+g.X.Quantity+" and "+g.Y.Quantity, nil)
}

func (s Scatter) label() label {
	return labelOf(s.Title, "predicted against measured "+s.Quantity+" by", s.names())
}

func (s ShareTree) label() label {
	return labelOf(s.Title, "tree of shares with utilizations and response times", nil)
}

func (s Staircase) label() label {
	return labelOf(s.Title, s.Takes+" for each "+s.Quantity+" of", s.names())
}

func (t Timeline) label() label {
	return labelOf(t.Title, "timeline of", t.names())
}

// label is what a chart says of itself to readers who cannot see it: its title, which may be empty, and what it shows.
type label struct{ title, what string }

func labelOf(title, what string, names []string) label {
	return label{text.Printable(title), text.Printable(strings.TrimSpace(what + " " + strings.Join(names, ", ")))}
}

func (l label) String() string {
	if l.title == "" {
		return l.what
	}
	return l.title + ": " + l.what
}
