package measurement

import (
	"slices"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/experiment"
)

// kind is the kind of a step of a round.
type kind int

const (
	alone    kind = iota // the target alone
	copies               // several targets at once
	beside               // the probe and a target, or the probe beside pods that run
	baseline             // the probe alone
	pressing             // the standard job of an interference resource, and a target
)

// step is one step of a round.
type step struct {
	kind     kind
	resource *probed // of beside, baseline and pressing
	copies   int     // of alone and copies
	percent  int     // of pressing: of the standard job's full intensity
}

// probes reports whether a probe runs.
func (s *step) probes() bool { return s.kind == beside || s.kind == baseline || s.kind == pressing }

// id is the name of the step in the model.
func (s *step) id() experiment.Step {
	switch s.kind {
	case alone:
		return experiment.Alone
	case copies:
		return experiment.CopiesOf(s.copies)
	case beside:
		return experiment.Beside(s.resource.Name)
	case pressing:
		return experiment.Pressing(s.resource.Name, s.percent)
	default:
		return experiment.Baseline(s.resource.Name)
	}
}

// name is the name of the step in the status.
func (s *step) name() string { return string(s.id()) }

// steps returns the steps of a round, in their order. The order of the resources
// rotates, so that a drift of the node falls on all of them alike. Resources that
// earlier rounds gave up are left out.
func (s *settings) steps(round int32, samples []v1alpha1.MeasurementSample) []step {
	if s.copies {
		all := []step{{kind: alone, copies: 1}, {kind: copies, copies: 2}, {kind: copies, copies: 3}}
		if round == 1 { // one step beside a probe distinguishes the roots
			all = append(all, step{kind: beside, resource: &s.resources[0]})
		}
		return all
	}
	measured := fromStatus(samples)
	var all []step
	if s.target != nil {
		all = append(all, step{kind: alone, copies: 1})
	}
	for i := range s.resources {
		r := &s.resources[(i+int(round)-1)%len(s.resources)]
		if experiment.Unsaturated(measured, r.Name, int(round)-1) {
			continue
		}
		if s.target == nil && r.needsBaseline() {
			all = append(all, step{kind: baseline, resource: r})
		}
		all = append(all, step{kind: beside, resource: r})
	}
	for i := range s.interference {
		r := &s.interference[i]
		if _, imperceptible := experiment.Imperceptible(measured, r.Name, int(round)-1); imperceptible {
			continue
		}
		for _, percent := range experiment.Levels() {
			all = append(all, step{kind: pressing, resource: r, percent: percent})
		}
	}
	return all
}

// find returns the index of a step in a round, -1 if it has none.
func find(all []step, name string) int {
	return slices.IndexFunc(all, func(s step) bool { return s.name() == name })
}

// selfDilation returns how many times slower each of two probes was, if a round before the
// given one measured it.
func selfDilation(r *probed, samples []v1alpha1.MeasurementSample, before int32) (float64, bool) {
	return experiment.SelfDilation(fromStatus(samples), r.Name, int(before)-1)
}
