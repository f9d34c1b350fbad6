package main

import (
	"fmt"

	"loadline.dev/loadline/pkg/evaluate/plan"
)

// Thresholds of the descheduler: those of its documentation's example, some about the load of the cluster, and deviations from the mean of
// all nodes. They were written down before any remedy ran.
const (
	documented = "thresholds: {cpu: 20}, targetThresholds: {cpu: 50}"
	near       = "thresholds: {cpu: 50}, targetThresholds: {cpu: 80}"
	deviations = "useDeviationThresholds: true, thresholds: {cpu: 10}, targetThresholds: {cpu: 10}"
)

// deschedulers are those compared, given the path of the program.
func deschedulers(program string) []contender {
	with := func(thresholds string) *descheduler { return &descheduler{program: program, thresholds: thresholds} }
	limited := with(deviations)
	limited.limit = 10
	return []contender{
		{"descheduler, 20 to 50 %", &descheduled{with(documented), byKubeScheduler}},
		{"descheduler, 50 to 80 %", &descheduled{with(near), byKubeScheduler}},
		{"descheduler, mean ± 10", &descheduled{with(deviations), byKubeScheduler}},
		{"descheduler, mean ± 10, 10 an hour", &descheduled{limited, byKubeScheduler}},
		{"descheduler, mean ± 10, Loadline places", &descheduled{with(deviations), byLoadline}},
	}
}

// loadlineKinds are the kinds of changes that Loadline may make.
var loadlineKinds = []kind{
	{"move", []plan.Action{plan.MovePod}},
	{"change", nil},
}

// kind is a kind of changes, and which these are, all if there are none.
type kind struct {
	name    string
	actions []plan.Action
}

// named returns the name of a remedy of the kind with a budget for each hour.
func (k kind) named(budget int) string {
	switch budget {
	case 0:
		return fmt.Sprintf("Loadline, any %ss", k.name)
	case 1:
		return fmt.Sprintf("Loadline, 1 %s an hour", k.name)
	default:
		return fmt.Sprintf("Loadline, %d %ss an hour", budget, k.name)
	}
}
