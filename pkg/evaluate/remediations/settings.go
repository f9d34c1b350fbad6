package remediations

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Settings are those of a policy, with the defaults of the API for what it leaves out.
type Settings struct {
	// Above is the dilation from which on a pod is helped, at least 1.
	Above float64
	// AtOnce, PerNode, PerWorkload, PerNamespace and PerHour are its budget.
	AtOnce, PerNode, PerWorkload, PerNamespace, PerHour int
	// CoolDown is for how long a workload is left alone after a change.
	CoolDown time.Duration
	// MinPodAge is for how long a pod must have been running.
	MinPodAge time.Duration
	// Observe is for how long pods are observed after a change.
	Observe time.Duration
	// Proposal is for how long a proposed change may wait.
	Proposal time.Duration
	// History is how many completed Remediations are kept.
	History int
}

// Defaults of the API.
const (
	defaultAbove        = "1.2"
	defaultAtOnce       = 3
	defaultPerNode      = 1
	defaultPerWorkload  = 1
	defaultPerNamespace = 2
	defaultPerHour      = 12
	defaultCoolDown     = 1800
	defaultMinPodAge    = 300
	defaultObserve      = 300
	defaultProposal     = 3600
	defaultHistory      = 100
)

// SettingsOf returns the settings of a policy.
func SettingsOf(spec *v1alpha1.RemediationPolicySpec) Settings {
	budget := ptr.Deref(spec.Budget, v1alpha1.RemediationBudget{})
	above := ptr.Deref(spec.Above, resource.MustParse(defaultAbove))
	return Settings{
		Above:        above.AsApproximateFloat64(),
		AtOnce:       number(budget.AtOnce, defaultAtOnce),
		PerNode:      number(budget.PerNode, defaultPerNode),
		PerWorkload:  number(budget.PerWorkload, defaultPerWorkload),
		PerNamespace: number(budget.PerNamespace, defaultPerNamespace),
		PerHour:      number(budget.PerHour, defaultPerHour),
		CoolDown:     seconds(spec.CoolDownSeconds, defaultCoolDown),
		MinPodAge:    seconds(spec.MinPodAgeSeconds, defaultMinPodAge),
		Observe:      seconds(spec.ObserveSeconds, defaultObserve),
		Proposal:     seconds(spec.ProposalSeconds, defaultProposal),
		History:      number(spec.History, defaultHistory),
	}
}

func number(given *int32, otherwise int32) int { return int(ptr.Deref(given, otherwise)) }

func seconds(given *int32, otherwise int32) time.Duration {
	return time.Duration(ptr.Deref(given, otherwise)) * time.Second
}

// Exhausted names the field of the budget that lets no change be started at all, "" if none
// does.
func (s *Settings) Exhausted() string {
	for _, limit := range []struct {
		name string
		n    int
	}{
		{"atOnce", s.AtOnce}, {"perNode", s.PerNode}, {"perWorkload", s.PerWorkload}, {"perNamespace", s.PerNamespace}, {"perHour", s.PerHour},
	} {
		if limit.n == 0 {
			return limit.name
		}
	}
	return ""
}
