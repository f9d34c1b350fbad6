package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"loadline.dev/loadline/pkg/controllers/planning"
	"loadline.dev/loadline/pkg/controllers/pods"
	"loadline.dev/loadline/pkg/controllers/remediation"
	"loadline.dev/loadline/pkg/gauge/collected"
)

// addRemediationFlags adds the flags of remediation.
func (o *options) addRemediationFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.remediation, "remediation", false, "Carry out RemediationPolicies: propose changes by what gauges observe, and resize and evict pods as they allow. That takes the rights of the ClusterRole loadline-manager-remediator.")
	flags.StringSliceVar(&o.schedulerNames, "scheduler-names", []string{"loadline"}, "Names of the schedulers whose pods RemediationPolicies may have moved: others may place a pod anywhere. Without --remediation and --gauges they have no effect.")
}

// addRemediation adds the controllers of Remediations and their policies, and, given what is collected from gauges, what proposes and judges
// changes.
func (o *options) addRemediation(mgr ctrl.Manager, cached *pods.Cache, recorder events.EventRecorder, history *collected.History, now clock.Clock) error {
	counted := remediation.NewMetrics(metrics.Registry)
	changes := &remediation.Reconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now, Namespace: ownNamespace(), Metrics: counted}
	if history != nil {
		changes.Judge = &planning.Judge{Client: mgr.GetClient(), API: mgr.GetAPIReader(), Collected: history, Clock: now}
	}
	if err := changes.SetupWithManager(mgr, cached); err != nil {
		return fmt.Errorf("setting up the Remediation controller: %w", err)
	}
	policies := &remediation.PolicyReconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now, Pods: cached, Namespace: ownNamespace(), Metrics: counted}
	if err := policies.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the RemediationPolicy controller: %w", err)
	}
	if history == nil {
		return nil
	}
	proposer := &planning.Proposer{
		Client: mgr.GetClient(), Pods: cached.All, Count: cached.Count, Clock: now, Collected: history, Namespace: ownNamespace(), Schedulers: o.schedulerNames,
		Resizable: changes.Resizable,
	}
	if err := proposer.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the proposals of changes: %w", err)
	}
	return nil
}

var errNoScheduler = errors.New("--scheduler-names: say at least one")

// checkSchedulerNames refuses names that no scheduler has.
func checkSchedulerNames(names []string) error {
	if len(names) == 0 {
		return errNoScheduler
	}
	for _, name := range names {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			return fmt.Errorf("--scheduler-names: %q: %s", name, problems[0])
		}
	}
	if all := slices.Compact(slices.Sorted(slices.Values(names))); len(all) < len(names) {
		return fmt.Errorf("--scheduler-names: %q has a name twice", names)
	}
	return nil
}
