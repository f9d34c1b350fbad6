package main

import (
	"context"
	"net/http"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/pkg/controllers/observation"
	"loadline.dev/loadline/pkg/controllers/planning"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// addObservation adds the controller that collects what gauges observe, into a history unless that is nil, and what serves it: of every
// replica, one that does not lead says so.
func (o *options) addObservation(mgr ctrl.Manager, recorder events.EventRecorder, writers *statuses.Writers, s *servers, history *collected.History) error {
	observed := &observation.Controller{
		Client: mgr.GetClient(), Recorder: recorder, Clock: clock.RealClock{}, Writers: writers,
		TokenFile: o.gaugeTokenFile, GaugeNamespace: o.gaugeNamespace, ObservedProfiles: o.observedProfiles, Collected: history,
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
	return observed.SetupWithManager(mgr)
}
