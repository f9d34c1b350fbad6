package who

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	c.client = &lean{c.client}
	from.client, c.asker.Client = c.client, c.client
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

// lean is a client that lists pods page by page, and keeps of each what the page goes by: of a large cluster that takes less memory than a
// list at once.
type lean struct{ client.Client }

// podsAtOnce is how many pods are listed at once.
const podsAtOnce = 500

// List lists objects.
func (l *lean) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	pods, is := list.(*corev1.PodList)
	if !is {
		return l.Client.List(ctx, list, options...)
	}
	var all []corev1.Pod
	for after := ""; ; {
		page := &corev1.PodList{}
		next := append(slices.Clone(options), client.Limit(podsAtOnce), client.Continue(after))
		if err := l.Client.List(ctx, page, next...); err != nil {
			return err
		}
		for i := range page.Items {
			trim(&page.Items[i])
		}
		all = append(all, page.Items...)
		if after = page.Continue; after == "" {
			pods.Items = all
			return nil
		}
	}
}

// trim removes what neither an answer nor the scheduler's filters read.
func trim(p *corev1.Pod) {
	p.ManagedFields = nil
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.Command, c.Args, c.Env, c.EnvFrom, c.VolumeMounts = nil, nil, nil, nil, nil
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle = nil, nil, nil, nil
		}
	}
}
