package main

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/pkg/controllers/observation"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// addObservation adds the controller that collects what gauges observe, and what serves it.
func (o *options) addObservation(mgr ctrl.Manager, recorder events.EventRecorder, writers *statuses.Writers) error {
	observed := &observation.Controller{
		Client: mgr.GetClient(), Recorder: recorder, Clock: clock.RealClock{}, Writers: writers,
		TokenFile: o.gaugeTokenFile, GaugeNamespace: o.gaugeNamespace, ObservedProfiles: o.observedProfiles,
	}
	if o.usageAddress != "0" {
		observed.Collected = collected.New(clock.RealClock{})
		api, err := access.NewAPIServer(mgr.GetConfig())
		if err != nil {
			return fmt.Errorf("finding the API server: %w", err)
		}
		guard := access.NewGuard(api.Judge, clock.RealClock{})
		handler := collected.NewHandler(observed.Collected, mgr.Elected(), func(path string, next http.Handler) http.Handler {
			return guard.Protect(path, usage.Audience, next)
		})
		if err := mgr.Add(&usageServer{o.usageAddress, handler}); err != nil {
			return err
		}
	}
	return observed.SetupWithManager(mgr)
}

// usageServer serves a handler by HTTPS, of every replica: one that does not lead says so.
type usageServer struct {
	address string
	handler http.Handler
}

// NeedLeaderElection is false.
func (*usageServer) NeedLeaderElection() bool { return false }

// Start serves until the context is done.
func (s *usageServer) Start(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("--usage-bind-address: %w", err)
	}
	return server.Serve(ctx, listener, server.SelfSigned("loadline-manager", clock.RealClock{}), s.handler, server.ErrorLog())
}
