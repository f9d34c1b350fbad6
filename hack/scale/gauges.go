package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"k8s.io/utils/clock"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// gauges answer for the gauges of all nodes, each at a port of its own of an address of this machine.
type gauges struct {
	address string
	ports   []int32 // by the index of the node
	servers []*http.Server
}

// newGauges returns gauges that answer what was seen of each node, as if it were seen just now.
func newGauges(ctx context.Context, sights []observed.Sight) (*gauges, error) {
	address, err := local.OuterAddress()
	if err != nil {
		return nil, err
	}
	g := &gauges{address: address}
	certificate := server.SelfSigned("gauge", clock.RealClock{})
	for i := range sights {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		s := &http.Server{Handler: usageHandler(&sights[i]), ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{GetCertificate: certificate, MinVersion: tls.VersionTLS12}}
		g.servers = append(g.servers, s)
		at, err := netip.ParseAddrPort(listener.Addr().String())
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.ports = append(g.ports, int32(at.Port()))
		go func() { _ = s.ServeTLS(listener, "", "") }() // until it is closed
	}
	return g, nil
}

func (g *gauges) close() error {
	var errs []error
	for _, s := range g.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// usageHandler returns a handler that answers as the gauge of a node, compressed as gauges do: of the intervals that were made up the last
// ones that are asked for, the very last ending at the last full length of an interval.
func usageHandler(s *observed.Sight) http.Handler {
	const atOnce = 4
	return server.NewUsageHandler(len(s.Intervals), atOnce, func(w io.Writer, wanted int, _ url.Values) error {
		now, last := time.Now(), &s.Intervals[len(s.Intervals)-1]
		length := last.End.Sub(last.Start)
		later := now.Sub(last.End).Truncate(length)
		r := usage.Report{AgeSeconds: now.Sub(last.End.Add(later)).Seconds()}
		for _, v := range s.Intervals[len(s.Intervals)-wanted:] {
			v.Start, v.End = v.Start.Add(later), v.End.Add(later)
			r.Intervals = append(r.Intervals, v)
		}
		return json.NewEncoder(w).Encode(&r)
	})
}
