package chart

import (
	"cmp"
	"strings"

	"loadline.dev/loadline/pkg/report/text"
)

// These say what charts show: their kind, what they are about, and the names
// in them, as far as they are few.

func (d Comparison) label() string {
	var names []string
	for _, contender := range d.Contenders {
		names = append(names, contender.Name)
	}
	return labelOf(d.Title, d.Quantity+" of each "+cmp.Or(d.CasesAre, "case")+" by", names)
}

func (d Distribution) label() string {
	var names []string
	for _, sample := range d.Samples {
		names = append(names, sample.Name)
	}
	return labelOf(d.Title, "distribution of "+d.Quantity+" by", names)
}

func (h HeatMap) label() string {
	return labelOf(h.Title, "heat map of "+h.Quantity, nil)
}

func (d Intervals) label() string {
	var names []string
	for _, estimate := range d.Estimates {
		names = append(names, estimate.Name)
	}
	return labelOf(d.Title, d.Quantity+" with confidence intervals of", names)
}

func (o Occupancy) label() string {
	return labelOf(o.Title, o.Quantity+" of machines over time", nil)
}

func (g Regions) label() string {
	return labelOf(g.Title, "map of "+g.X.Quantity+" and "+g.Y.Quantity, nil)
}

func (s Scatter) label() string {
	var names []string
	for _, series := range s.Series {
		names = append(names, series.Name)
	}
	return labelOf(s.Title, "predicted against measured "+s.Quantity+" by", names)
}

func (s ShareTree) label() string {
	return labelOf(s.Title, "tree of shares with utilizations and response times", nil)
}

func (s Staircase) label() string {
	var names []string
	for _, stair := range s.Stairs {
		names = append(names, stair.Name)
	}
	return labelOf(s.Title, s.Takes+" for each "+s.Quantity+" of", names)
}

func (t Timeline) label() string {
	var names []string
	for _, schedule := range t.Schedules {
		names = append(names, schedule.Name)
	}
	return labelOf(t.Title, "timeline of", names)
}

func labelOf(title, what string, names []string) string {
	label := strings.TrimSpace(what + " " + strings.Join(names, ", "))
	if title != "" {
		label = title + ": " + label
	}
	return text.Printable(label)
}
