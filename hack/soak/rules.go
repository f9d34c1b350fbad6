package main

import (
	"strings"
	"time"

	"loadline.dev/loadline/hack/soak/trend"
)

// faster is how many times shorter the periods are, and day how long a day is with such periods.
const (
	faster = 10
	day    = 24 * time.Hour / faster
)

// mebi is 1 MiB.
const mebi = 1 << 20

// unit says how the values of a series are shown, and what growth of them a day matters: more than a fraction of the mean, and more than a
// floor. All of this was fixed before the first run.
type unit struct {
	name      string
	per       float64 // values that are one of the unit
	tolerance float64
	floor     float64
}

// units are by the beginnings of what is sampled; the first that fits counts.
var units = []struct {
	prefix string
	unit   unit
}{
	{"heap objects", unit{"objects", 1, 0.02, 5000}},
	{"heap", unit{"MiB", mebi, 0.02, mebi / 2}},
	{"resident memory", unit{"MiB", mebi, 0.02, mebi / 2}},
	{"database", unit{"MiB", mebi, 0.02, mebi}},
	{"goroutines", unit{"", 1, 0.02, 1}},
	{"open files", unit{"", 1, 0.02, 1}},
	{"series", unit{"", 1, 0.02, 5}},
	{"objects: ", unit{"", 1, 0.02, 1}},
	{"processor time", unit{"s/min", 1, 0.05, 0.1}},
	{"", unit{"", 1, 0.1, 0.5}}, // queues
}

// perMinute is the unit of what is counted, but for processor time.
var perMinute = unit{"/min", 1, 0.05, 0.2}

// unitOf returns the unit of what is sampled.
func unitOf(what string, counter bool) unit {
	for _, u := range units {
		if strings.HasPrefix(what, u.prefix) {
			if counter && u.prefix == "" {
				return perMinute
			}
			return u.unit
		}
	}
	return perMinute // not reached: the last prefix is empty
}

// bound is what a series may grow to, for a reason that its program gives.
type bound struct {
	part, prefix string
	most         float64
	why          string
}

var bounds = []bound{
	{"manager", "heap objects", 1e6, "the manager keeps an hour of what gauges observed, up to 100 MB, in objects of a hundred bytes and more, and the hour fills"},
	{"manager", "heap", 100 * mebi, "the manager keeps an hour of what gauges observed, up to 100 MB, and the hour fills"},
	{"manager", "resident memory", 200 * mebi, "the manager keeps an hour of what gauges observed, up to 100 MB, and the hour fills; the collector leaves as much again"},
	{"scheduler", "resident memory", 200 * mebi, "the scheduler keeps how nodes fared, up to 32 MiB, and the collector leaves as much again"},
	{"ui", "resident memory", 256 * mebi, "the page keeps what it was told of the last hour"},
	{"cluster", "database", 1024 * mebi, "etcd keeps old revisions for five to ten minutes, and does not give back the room of those before"},
	{"cluster", "objects: Remediations", 110, "a policy keeps the last 100 that are complete, as its history says, and those of the last hour"},
	{"cluster", "objects: Events", 20000, "Kubernetes keeps Events for an hour"},
}

// boundOf returns the bound of a series, the first that fits; nil if it has none.
func boundOf(part, what string) *bound {
	for i := range bounds {
		if bounds[i].part == part && strings.HasPrefix(what, bounds[i].prefix) {
			return &bounds[i]
		}
	}
	return nil
}

// ruleOf returns how a series is judged in a run.
func ruleOf(r *record, part, what string, u unit) trend.Rule {
	rule := trend.Rule{Period: r.Cycle.Duration, WarmUp: r.WarmUp.Duration, Length: r.Length.Duration, Day: day, Tolerance: u.tolerance, Floor: u.floor}
	if b := boundOf(part, what); b != nil {
		rule.Bound = b.most
	}
	return rule
}
