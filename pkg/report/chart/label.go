package chart

import (
	"cmp"
	"strings"

	"loadline.dev/loadline/pkg/text"
)

// These describe charts: their kind, their subject, and the names in them, as far as they are few.

func (d Comparison) label() string {
	return labelOf(d.Title, d.Quantity+" of each "+cmp.Or(d.CasesAre, "case")+" by", d.names())
}

func (d Distribution) label() string {
	return labelOf(d.Title, "distribution of "+d.Quantity+" by", d.names())
}

func (h HeatMap) label() string {
	return labelOf(h.Title, "heat map of "+h.Quantity, nil)
}

func (d Intervals) label() string {
	return labelOf(d.Title, d.Quantity+" with confidence intervals of", d.names())
}

func (o Occupancy) label() string {
	return labelOf(o.Title, o.Quantity+" of machines over time", nil)
}

func (g Regions) label() string {
	return labelOf(g.Title, "map of "+g.X.Quantity+" and "+g.Y.Quantity, nil)
}

func (s Scatter) label() string {
	return labelOf(s.Title, "predicted against measured "+s.Quantity+" by", s.names())
}

func (s ShareTree) label() string {
	return labelOf(s.Title, "tree of shares with utilizations and response times", nil)
}

func (s Staircase) label() string {
	return labelOf(s.Title, s.Takes+" for each "+s.Quantity+" of", s.names())
}

func (t Timeline) label() string {
	return labelOf(t.Title, "timeline of", t.names())
}

func labelOf(title, what string, names []string) string {
	label := strings.TrimSpace(what + " " + strings.Join(names, ", "))
	if title != "" {
		label = title + ": " + label
	}
	return text.Printable(label)
}
