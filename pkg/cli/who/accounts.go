package who

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/live"
)

// errBindFiles says that accounts are those of a cluster.
var errBindFiles = errors.New("--bind-address: the accounts of a cluster are served what is in it: leave files out")

// serveAccounts serves the page to the accounts of the cluster until the context is done, by HTTPS with a certificate of its own. A bounded
// number of connections is open.
func (u *ui) serveAccounts(ctx context.Context, from *pageSource) error {
	c, is := from.source.(*cluster)
	if !is {
		return errBindFiles
	}
	api, err := access.NewAPIServer(c.asker.Config)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", u.bind)
	if err != nil {
		return fmt.Errorf("--bind-address: %w", err)
	}
	from.where = from.own
	pages := &live.Server{
		Source: &warning{from}, Every: from.every, Above: u.above, Cluster: "this cluster", Version: u.version,
		Access: live.NewAccounts(api, clock.RealClock{}), Applied: from.applied, Clock: clock.RealClock{},
	}
	served := server.NewHTTPS(server.PortHTTPS, listener, server.SelfSigned("loadline-ui", clock.RealClock{}), pages.Handler(), server.NewMetrics(prometheus.NewRegistry()))
	if err := u.streams.Out.Lines("Serving the accounts of the cluster at https://" + listener.Addr().String()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- pages.Run(ctx) }()
	err = served.Serve(ctx)
	cancel()
	return errors.Join(err, <-ran)
}

// warning is a source that prints why a look failed: pages do not show all users that.
type warning struct{ *pageSource }

// Look looks once.
func (w *warning) Look(ctx context.Context) (*live.Look, error) {
	look, err := w.pageSource.Look(ctx)
	if err != nil && ctx.Err() == nil {
		_ = w.streams.Err.Warn("the look at the cluster failed: %s", verb.OneLine(err)) // the page goes on
	}
	return look, err
}
