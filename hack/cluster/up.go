package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

func newUp(l *local) *cobra.Command {
	s := &startup{local: l}
	command := &cobra.Command{
		Use:   "up",
		Short: "Run a control plane until Ctrl-C, or cluster down",
		Example: `  # Ten fake nodes
  cluster up --nodes 10

  # As root: two nodes that run pods, worker-1 and worker-2, with a core each, and one for
  # operators, named system
  cluster up --real-nodes 2`,
		Args: s.check(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			s.log = command.ErrOrStderr()
			return s.start(command.Context(), func(ctx context.Context, plane *controlplane.ControlPlane) error {
				fmt.Fprintln(command.OutOrStdout(), "The control plane is ready. In another terminal:")
				fmt.Fprintln(command.OutOrStdout(), "  export KUBECONFIG="+plane.Kubeconfig())
				fmt.Fprintln(command.OutOrStdout(), "Ctrl-C stops it, and all in it is gone.")
				select {
				case <-ctx.Done():
					return nil
				case <-plane.Done():
					return plane.Err()
				}
			})
		},
	}
	s.addFlags(command)
	return command
}

// startup is how to start a control plane.
type startup struct {
	*local
	nodes, realNodes      int
	kubernetes            string
	auditLog, auditPolicy string
	log                   io.Writer
}

func (s *startup) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.IntVar(&s.nodes, "nodes", 0, "how many fake nodes to begin with, named node-0000 and so on")
	flags.IntVar(&s.realNodes, "real-nodes", 0, "how many nodes that run pods, each with a core of its own, named worker-1 and so on")
	flags.StringVar(&s.kubernetes, "kubernetes", "", "the minor `version` of Kubernetes, such as 1.34 (default the newest)")
	flags.StringVar(&s.auditLog, "audit-log", "", "the `file` for what service accounts ask of the API server, and what it answers")
	flags.StringVar(&s.auditPolicy, "audit-policy", "", "the `file` with the audit policy that says what is written to --audit-log instead")
}

// check checks the flags, and then the arguments.
func (s *startup) check(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, given []string) error {
		for flag, value := range map[string]int{"nodes": s.nodes, "real-nodes": s.realNodes} {
			if value < 0 {
				return fmt.Errorf("--%s: %d is negative", flag, value)
			}
		}
		if s.auditPolicy != "" && s.auditLog == "" {
			return errors.New("--audit-policy: there is no --audit-log that it is about")
		}
		if n := len(s.socket()); s.realNodes > 0 && n > maxSocketPath {
			return fmt.Errorf("--dir: %s is %d characters too long for a socket in it", s.dir, n-maxSocketPath)
		}
		return args(command, given)
	}
}

// use is what a control plane is for.
type use func(context.Context, *controlplane.ControlPlane) error

// start runs a control plane for as long as meanwhile runs, and no longer than until ctx ends or a part of it crashes.
func (s *startup) start(ctx context.Context, meanwhile use) error {
	options := controlplane.Options{Dir: s.dir, Kubernetes: s.kubernetes, Log: s.log, AuditLog: s.auditLog, AuditPolicy: s.auditPolicy}
	if s.realNodes > 0 {
		return s.startOnRealNodes(ctx, options, meanwhile)
	}
	return s.startWith(ctx, options, meanwhile)
}

// startWith runs a control plane with fake nodes.
func (s *startup) startWith(ctx context.Context, options controlplane.Options, meanwhile use) error {
	plane, err := controlplane.Start(ctx, options)
	if err != nil {
		return err
	}
	if err = s.addNodes(ctx, plane); err == nil {
		err = meanwhile(ctx, plane)
	}
	fmt.Fprintln(s.log, "stopping")
	return errors.Join(err, plane.Stop())
}

// addNodes adds the fake nodes that the user asked for.
func (s *startup) addNodes(ctx context.Context, plane *controlplane.ControlPlane) error {
	if s.nodes == 0 {
		return nil
	}
	begin := time.Now()
	nodes := make([]*corev1.Node, s.nodes)
	for i := range nodes {
		nodes[i] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%04d", i)}}
	}
	if err := plane.AddNodes(ctx, nodes...); err != nil {
		return err
	}
	fmt.Fprintf(s.log, "%d nodes ready after %.1fs\n", s.nodes, time.Since(begin).Seconds())
	return nil
}
