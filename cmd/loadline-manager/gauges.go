package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/observation"
	"loadline.dev/loadline/pkg/controllers/planning"
	"loadline.dev/loadline/pkg/controllers/pods"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// addObservation adds the controller that collects what gauges observe, into a history unless that is nil, and what serves it: of every
// replica, one that does not lead says so.
func (o *options) addObservation(
	mgr ctrl.Manager, cached *pods.Cache, recorder events.EventRecorder, writers *statuses.Writers, s *servers, history *collected.History, now clock.WithTicker,
) error {
	observed := &observation.Controller{
		Client: mgr.GetClient(), Recorder: recorder, Clock: now, Writers: writers,
		TokenFile: o.gaugeTokenFile, GaugeNamespace: o.gaugeNamespace, ObservedProfiles: o.observedProfiles, Collected: history,
	}
	if o.workCounters {
		observed.Work = &observation.WorkReader{Prometheus: o.workPrometheus, Clock: now, Log: mgr.GetLogger().WithName("work")}
	}
	if o.remediation {
		observed.Recall = func(ctx context.Context) (map[string]bool, error) {
			return planning.NodesUnderWay(ctx, mgr.GetClient())
		}
	}
	if o.usageAddress != none {
		handler := collected.NewHandler(history, mgr.Elected(), func(path string, next http.Handler) http.Handler {
			return s.guard.Protect(path, usage.Audience, next)
		})
		if err := s.addHTTPS(mgr, usagePort, o.usageAddress, handler); err != nil {
			return err
		}
	}
	return observed.SetupWithManager(mgr, cached)
}

// addGaugeFlags adds the flags about what gauges observe.
func (o *options) addGaugeFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.gauges, "gauges", exists(observation.TokenFile), "Ask the gauges of the nodes what they observe, and compare profiles with it. Defaults to true where the pod has a token for gauges, in the file of --gauge-token-file as it is by default.")
	flags.StringVar(&o.gaugeNamespace, "gauge-namespace", installation.GaugeNamespace, "Namespace that the gauges run in. Only operators should have rights there: the token is shown to what runs there as a gauge.")
	flags.StringVar(&o.gaugeTokenFile, "gauge-token-file", observation.TokenFile, "File with the token to show to gauges, for the audience "+usage.Audience+".")
	flags.StringVar(&o.usageAddress, "usage-bind-address", ":"+usage.Port, "Address to serve what was collected from gauges on, to those who may read gauges, or 0 for none. Without --gauges it is not served.")
	flags.StringVar(&o.observedProfiles, "observed-profiles", v1alpha1.ModeOff, "Whether workloads without a WorkloadProfile are given one that follows what gauges observe, in namespaces without the label "+v1alpha1.ObservedProfilesLabel+": off, advise (the profile shows a vector that the scheduler does not use) or apply (the scheduler uses it).")
	flags.BoolVar(&o.workCounters, "work-counters", false, "Read the work counters of WorkloadProfiles with spec.work, at the addresses of the pods that follow them, and say in their statuses how much slower a unit of work is served. Takes --gauges.")
	flags.StringVar(&o.workPrometheus, "work-prometheus", "", "URL of the Prometheus to ask for the work counters of WorkloadProfiles with spec.work.prometheus, such as http://prometheus.monitoring:9090. Without, these are not read.")
}

// validateWork reports the first of these flags that is out of its range.
func (o *options) validateWork() error {
	if o.workPrometheus == "" {
		return nil
	}
	if u, err := url.Parse(o.workPrometheus); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--work-prometheus: %q is not a URL such as http://prometheus.monitoring:9090", o.workPrometheus)
	}
	return nil
}
