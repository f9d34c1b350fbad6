package remediation

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/apimachinery/pkg/api/meta"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// What becomes of changes, as metrics say it.
const (
	outcomeProposed       = "proposed"
	outcomeStarted        = "started"
	outcomeApplied        = "applied"
	outcomeSucceeded      = "succeeded"
	outcomeUnproven       = "unproven"
	outcomeRolledBack     = "rolled_back"
	outcomeFailed         = "failed"
	outcomeRollBackFailed = "roll_back_failed"
	outcomeDropped        = "dropped"
)

var (
	allOutcomes = []string{
		outcomeProposed, outcomeStarted, outcomeApplied, outcomeSucceeded, outcomeUnproven, outcomeRolledBack, outcomeFailed, outcomeRollBackFailed, outcomeDropped,
	}
	allActions = []string{v1alpha1.ActionRaiseRequest, v1alpha1.ActionLowerRequest, v1alpha1.ActionRaiseLimit, v1alpha1.ActionMove}
)

// Metrics count changes, and what they win.
type Metrics struct {
	changes   *prometheus.CounterVec
	ratio     *prometheus.HistogramVec
	predicted *prometheus.GaugeVec
	realized  *prometheus.GaugeVec
}

// NewMetrics returns metrics that count nothing yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	m := &Metrics{
		changes: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_remediations_total",
			Help: "Changes of pods by their action, and by what became of them: proposed, started, applied, and then succeeded, unproven (what they won was not observed), rolled_back, failed or roll_back_failed; dropped are those that were not started.",
		}, []string{"action", "outcome"}),
		ratio: register.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "loadline_remediation_win_ratio",
			Help:    "What a change has won, as a fraction of what was predicted, by its action.",
			Buckets: []float64{-1, -0.5, 0, 0.25, 0.5, 0.75, 0.85, 1, 1.15, 1.5, 2, 4},
		}, []string{"action"}),
		predicted: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_remediation_policy_win_predicted",
			Help: "What the judged changes of a RemediationPolicy were predicted to win in all, in dilations of pods, as far as its Remediations are kept.",
		}, []string{"policy"}),
		realized: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_remediation_policy_win_realized",
			Help: "What they won.",
		}, []string{"policy"}),
	}
	for _, action := range allActions {
		m.ratio.WithLabelValues(action)
		for _, outcome := range allOutcomes {
			m.changes.WithLabelValues(action, outcome) // a rate does not see the first of a series that was not there
		}
	}
	return m
}

// count counts what happened to a change.
func (m *Metrics) count(before, after *v1alpha1.Remediation) {
	action := after.Spec.Change.Action
	if remediations.Step(before) == "" {
		m.changes.WithLabelValues(action, outcomeProposed).Inc()
	}
	if !remediations.Started(before) && remediations.Started(after) {
		m.changes.WithLabelValues(action, outcomeStarted).Inc()
	}
	if before.Status.AppliedTime == nil && after.Status.AppliedTime != nil {
		m.changes.WithLabelValues(action, outcomeApplied).Inc()
	}
	if before.Status.Realized == nil && after.Status.Realized != nil && after.Status.Realized.Ratio != nil {
		m.ratio.WithLabelValues(action).Observe(after.Status.Realized.Ratio.AsApproximateFloat64())
	}
	if !remediations.Complete(before) && remediations.Complete(after) {
		m.changes.WithLabelValues(action, outcomeOf(after)).Inc()
	}
}

// outcomeOf returns what became of a complete change.
func outcomeOf(r *v1alpha1.Remediation) string {
	switch remediations.Step(r) {
	case v1alpha1.ReasonSucceeded:
		return outcomeSucceeded
	case v1alpha1.ReasonUnproven:
		return outcomeUnproven
	case v1alpha1.ReasonRolledBack:
		return outcomeRolledBack
	case v1alpha1.ReasonFailed:
		if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionRolledBack); c != nil && c.Reason == v1alpha1.ReasonRollBackFailed {
			return outcomeRollBackFailed
		}
		return outcomeFailed
	default:
		return outcomeDropped
	}
}

// show shows what a policy has come to.
func (m *Metrics) show(p *v1alpha1.RemediationPolicy) {
	m.predicted.WithLabelValues(p.Name).Set(p.Status.PredictedWin.AsApproximateFloat64())
	m.realized.WithLabelValues(p.Name).Set(p.Status.RealizedWin.AsApproximateFloat64())
}

// forget removes the metrics of a policy that is gone.
func (m *Metrics) forget(policy string) {
	m.predicted.DeleteLabelValues(policy)
	m.realized.DeleteLabelValues(policy)
}
