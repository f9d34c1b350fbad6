// Package version is the verb version: of the program, and of Loadline's parts in a cluster.
package version

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/installation"
)

// arguments holds the flags of the verb version.
type arguments struct {
	streams verb.Streams
	version string
	client  bool
	cluster access.Flags
	output  verb.Output
}

// Answer is what version prints as JSON and YAML.
type Answer struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Cluster is absent where there is none, or where it does not answer.
	Cluster *ClusterVersions `json:"cluster,omitempty"`
}

// ClusterVersions are the versions of Loadline's parts in a cluster.
type ClusterVersions struct {
	Kubernetes string `json:"kubernetes"`
	// Components are the manager and the scheduler, none where they are not
	// installed.
	Components []installation.Component `json:"components"`
}

// New returns the command of a program of that version.
func New(version string, streams verb.Streams) *cobra.Command {
	v := &arguments{streams: streams, version: version}
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the plugin and of what runs in the cluster",
		Long: `version prints the version of kubectl loadline and, where there is a cluster that
answers, those of Loadline's manager and scheduler in it, and of Kubernetes. That the
cluster does not answer is a warning and no error.`,
		Example: `  # The version of the plugin alone
  kubectl loadline version --client

  # And of what runs in the cluster
  kubectl loadline version

  # For a program
  kubectl loadline version --client -o json`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return v.run(command.Context()) },
	}
	command.Flags().BoolVar(&v.client, "client", false, "do not ask the cluster")
	v.cluster.Add(command, "namespace that Loadline runs in (default any)")
	v.output.AddFormats(command, "table", "json", "yaml")
	return command
}

func (v *arguments) run(ctx context.Context) error {
	answer := Answer{Version: v.version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !v.client {
		var err error
		if answer.Cluster, err = v.ask(ctx); err != nil {
			return err
		}
	}
	return v.output.Print(v.streams.Out, answer, func(p *verb.Page) error { return printVersion(p, &answer) })
}

// ask returns the versions in the cluster, nil if there is none or it does not
// answer. The error is that of flags that name no cluster.
func (v *arguments) ask(ctx context.Context) (*ClusterVersions, error) {
	config, own, err := v.cluster.Config(v.streams.Err)
	if errors.Is(err, access.ErrNoKubeconfig) {
		return nil, nil //nolint:nilnil // there is no cluster, which is no error
	}
	if err != nil {
		return nil, err
	}
	const patience = 5 * time.Second
	access.AnswerWithin(config, patience)
	found, err := v.versions(ctx, config, own)
	if err != nil && ctx.Err() == nil {
		err = v.streams.Err.Warn("the versions in the cluster are not known: %s; --client does not ask for them", verb.OneLine(err))
	}
	return found, err
}

// versions returns the versions found, and the reason for missing ones.
func (v *arguments) versions(ctx context.Context, config *rest.Config, own string) (*ClusterVersions, error) {
	server, err := access.ServerVersion(ctx, config)
	if err != nil {
		return nil, err
	}
	found := &ClusterVersions{Kubernetes: server.GitVersion, Components: []installation.Component{}}
	c, err := access.NewClient(config)
	if err != nil {
		return found, err
	}
	components, err := deployed.FindComponents(ctx, c, v.cluster.Namespace(), own)
	found.Components = append(found.Components, components...)
	return found, err
}

func printVersion(p *verb.Page, a *Answer) error {
	lines := []string{fmt.Sprintf("kubectl loadline %s (%s, %s)", a.Version, a.Go, a.Platform)}
	if a.Cluster != nil {
		for i := range a.Cluster.Components {
			c := &a.Cluster.Components[i]
			lines = append(lines, fmt.Sprintf("%s %s (%s/%s: %s)", c.Name, c.Version, c.Namespace, c.Deployment, c.Image))
		}
		if len(a.Cluster.Components) == 0 {
			lines = append(lines, "no manager or scheduler in the cluster")
		}
		lines = append(lines, "Kubernetes "+a.Cluster.Kubernetes)
	}
	return p.Lines(lines...)
}
