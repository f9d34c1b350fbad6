package who

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/live"
)

// ui holds the flags of the verb ui.
type ui struct {
	asking

	port      int
	bind      string // where all users are served, "" for the own page
	scheduler string
	version   string
}

// NewUI returns the command ui.
func NewUI(version string, streams verb.Streams) *cobra.Command {
	u := &ui{asking: asking{streams: streams, moves: true, everything: true, above: observed.DefaultAbove}, version: version}
	command := &cobra.Command{
		Use:   "ui",
		Short: "Open a live page: who slows whom, what would help, and what if",
		Long: `ui serves a page on this machine and prints its address, which has a secret: only your
browser can open it. The page shows what who and plan say, as long as it is open anew
every ten seconds, with your rights in the cluster: the plan with the commands to copy,
the pods that are slowed down and why, all nodes at a glance; a node with what loads it;
a pod with its last hour, and what another request, limit or node would do; where a
manifest would go before you apply it; and pools, replays, profiles and shares.

It is the same on files, as who takes them. Of a file with more than a minute of
observations a slider chooses the moment: kubectl loadline who --save-usage keeps what
gauges remember.

It ends with Ctrl-C. Nothing is loaded from elsewhere, and nothing is changed, but for
Remediations that you approve.`,
		Example: `  # The cluster of the current context
  kubectl loadline ui

  # From files, where there is no cluster
  kubectl loadline ui -f cluster.yaml --usage usage.json`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := u.check(); err != nil {
				return err
			}
			return u.serve(command.Context())
		},
	}
	u.addWithout(command, "ui")
	flags := command.Flags()
	flags.Float64Var(&u.above, "above", observed.DefaultAbove, "how many times slower than alone a pod must be to be a finding, above 1")
	flags.IntVar(&u.port, "port", 0, "port to serve on, of 127.0.0.1; 0 for any that is free")
	flags.StringVar(&u.bind, "bind-address", "", "serve the accounts of the cluster there by HTTPS, such as :8443, each what it may list: how the page runs in the cluster")
	_ = flags.MarkHidden("bind-address") // it is there
	flags.StringVar(&u.scheduler, "scheduler", "", "file with the scheduler's configuration (default that in the cluster)")
	return command
}

// check refuses what no flag may be.
func (u *ui) check() error {
	const highest = 1<<16 - 1
	if u.port < 0 || u.port > highest {
		return fmt.Errorf("--port: %d is not from 0 to %d", u.port, highest)
	}
	return u.asking.check()
}

// serve serves the page until the context is done.
func (u *ui) serve(ctx context.Context) error {
	from, err := u.pageSource(ctx)
	if err != nil {
		return err
	}
	if u.bind != "" {
		return u.serveAccounts(ctx, from)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(u.port)))
	if err != nil {
		return fmt.Errorf("--port: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	own := live.NewOwn(port)
	server := &live.Server{
		Source: from, Every: from.every, Above: u.above, Cluster: from.of, Version: u.version, Access: own,
		Hosts: []string{"127.0.0.1:" + port, "localhost:" + port}, Applied: from.applied, Approve: from.approve, Clock: clock.RealClock{},
	}
	if err := u.streams.Out.Lines("Open "+own.Address("127.0.0.1:"+port, strings.Join(u.namespaces(), "")), "It is served until Ctrl-C, to your browser only."); err != nil {
		return err
	}
	return serveUntil(ctx, listener, server)
}

// serveUntil serves until the context is done.
func serveUntil(ctx context.Context, l net.Listener, s *live.Server) error {
	const patience = 10 * time.Second
	served := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: patience, ReadTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	stop := context.AfterFunc(ctx, func() { _ = served.Close() }) // pages listen for events without an end
	defer stop()
	if err := served.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ran
}

// pageSource is what the page looks at: a cluster, or files.
type pageSource struct {
	*ui

	source  source
	client  client.Client // nil for files
	own     string        // the namespace of the user
	where   string        // that of Loadline, "" where it is looked for
	every   time.Duration
	of      string
	approve func(context.Context, types.NamespacedName) error
}

// pageSource returns what the page looks at, by the flags.
func (u *ui) pageSource(ctx context.Context) (*pageSource, error) {
	s, err := u.source()
	if err != nil {
		return nil, err
	}
	l := &pageSource{ui: u, source: s, own: metav1.NamespaceDefault}
	c, is := s.(*cluster)
	if !is {
		l.of = filepath.Base(u.usage)
		return l, nil
	}
	l.client, l.own, l.every, l.of = c.client, c.asker.Own, every, c.asker.Config.Host
	l.approve = l.approveAs
	return l, ctx.Err()
}

// Look looks once.
func (p *pageSource) Look(ctx context.Context) (*live.Look, error) {
	taken := time.Now()
	s, err := p.source.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.take(s); err != nil {
		return nil, err
	}
	if len(p.nodes) > 0 { // of files, too
		s.in.Sights = slices.DeleteFunc(s.in.Sights, func(seen observed.Sight) bool { return !slices.Contains(p.nodes, seen.Node) })
	}
	rules, err := deployed.ReadRules(p.scheduler)
	if p.scheduler == "" && p.client != nil {
		rules, err = deployed.FindRules(ctx, p.client, p.where, p.own)
	}
	if err != nil {
		return nil, err
	}
	if p.client != nil {
		if err := s.others.list(ctx, p.client); err != nil {
			return nil, err
		}
	}
	o := &s.others
	return &live.Look{
		Taken: taken, In: s.in, Options: s.options, Workloads: s.workloads, Classes: o.classes, Plans: o.plans, Trees: o.trees, Replays: o.replays,
		Remediations: o.remediations, Namespaces: o.namespaces, Judge: rules.Judge,
	}, nil
}

// list lists the objects of a cluster, as far as there are such kinds and the user may.
func (o *others) list(ctx context.Context, c client.Client) error {
	classes, plans, trees := &v1alpha1.NodeProfileList{}, &v1alpha1.PoolPlanList{}, &v1alpha1.ShareTreeList{}
	replays, remediations := &v1alpha1.TraceReplayList{}, &v1alpha1.RemediationList{}
	for _, list := range []client.ObjectList{classes, plans, trees, replays, remediations} {
		if err := c.List(ctx, list); err != nil && !unlisted(err) {
			return fmt.Errorf("listing objects of Loadline: %w", err)
		}
	}
	o.classes, o.plans, o.trees, o.replays, o.remediations = classes.Items, plans.Items, trees.Items, replays.Items, remediations.Items
	return nil
}

// applied reads a manifest that was pasted.
func (p *pageSource) applied(manifest io.Reader) (*explanation.Manifests, error) {
	files := input.Files{Paths: []string{"-"}, For: "the page"}
	applied, err := files.Applied(verb.Streams{In: manifest, Err: verb.NewStream(nil)})
	if err != nil {
		return nil, err
	}
	input.SetNamespace(applied, cmp.Or(p.cluster.Namespace(), p.own))
	return applied, nil
}

// approveAs approves a Remediation as the user of the kubeconfig.
func (p *pageSource) approveAs(ctx context.Context, name types.NamespacedName) error {
	review := &authenticationv1.SelfSubjectReview{}
	if err := p.client.Create(ctx, review); err != nil {
		return fmt.Errorf("asking who you are: %w", err)
	}
	r := &v1alpha1.Remediation{}
	if err := p.client.Get(ctx, name, r); err != nil {
		return err
	}
	before := r.DeepCopy()
	r.Spec.Approval = &v1alpha1.RemediationApproval{Decision: v1alpha1.DecisionApproved, By: review.Status.UserInfo.Username}
	return p.client.Patch(ctx, r, client.MergeFrom(before))
}
