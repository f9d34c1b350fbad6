package main

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/hack/accuracy/crossed"
	"loadline.dev/loadline/pkg/model/fit"
)

var stressorColumns = []string{"job", "stressor", "real_s", "user_s", "sys_s"}

// none is the stressor of a job that ran alone.
const none = "none"

// places are where the stressors of iBench press (Delimitrou and Kozyrakis, IISWC 2013).
var places = map[string][]string{
	"cpu": {"core"}, "l1i": {"core"},
	"l1d": {"core", "data caches of the core"}, "l2": {"core", "data caches of the core"},
	"llc": {"socket"}, "membw": {"socket"},
}

// stressorSet is jobs beside stressors, of which one is left out at a time.
type stressorSet struct {
	name, resource string
	observations   []crossed.Observation
}

// readStressors reads times beside stressors: of the processor, and of the clock.
func readStressors(name string, data []byte) ([]set, error) {
	records, err := readTimes(data, stressorColumns)
	if err != nil {
		return nil, err
	}
	own := map[string]record{}
	for _, r := range records {
		if r.kind == none {
			own[r.job] = r
		}
	}
	service := stressorSet{name: name, resource: "CPU time"}
	wall := stressorSet{name: name, resource: "wall time"}
	for _, r := range records {
		o, known := own[r.job]
		if !known {
			return nil, fmt.Errorf("line %d: job: %q has no row with the stressor %q, its time alone", r.line, r.job, none)
		}
		if r.kind == none {
			continue
		}
		service.observations = append(service.observations, crossed.Observation{Job: r.job, Stressor: r.kind, Dilation: r.user / o.user})
		wall.observations = append(wall.observations, crossed.Observation{Job: r.job, Stressor: r.kind, Dilation: r.real / o.real})
	}
	if len(service.observations) < 3 {
		return nil, fmt.Errorf("stressor: %d rows beside stressors are too few to leave one out; at least 3 are needed", len(service.observations))
	}
	return []set{service, wall}, nil
}

func (s stressorSet) measure() ([]row, error) {
	ours, err := s.leaveOneOut()
	if err != nil {
		return nil, err
	}
	var runs []fit.Run
	for i, o := range s.observations {
		runs = append(runs, fit.Run{Name: fmt.Sprint(i + 1), Members: []fit.Member{{Job: o.Job, Dilation: o.Dilation}, {Job: o.Stressor}}})
	}
	others, err := crossValidate(s.name, s.resource, runs, fit.Options{Folds: len(runs)})
	if err != nil {
		return nil, err
	}
	return append([]row{ours}, others...), nil
}

// leaveOneOut predicts each cell from all others.
func (s stressorSet) leaveOneOut() (row, error) {
	var measured, predicted []float64
	for i, o := range s.observations {
		m, err := crossed.Fit(slices.Delete(slices.Clone(s.observations), i, i+1), places)
		if err != nil {
			return row{}, err
		}
		measured = append(measured, o.Dilation)
		predicted = append(predicted, m.Predict(o.Job, o.Stressor))
	}
	return newRow(s.name, s.resource, "crossed effects", measured, predicted), nil
}

func (s stressorSet) notes() []string {
	return []string{fmt.Sprintf("%s, %s: nothing was measured twice, so that the noise is not known.", s.name, s.resource)}
}
