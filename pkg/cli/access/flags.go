// Package access reaches a cluster by the flags by which kubectl finds one.
package access

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/verb"
)

// Flags are the flags by which kubectl finds a cluster and a namespace.
type Flags struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
	userExtra  []string
}

// Add adds the flags, those of kubectl options by the same names. Those that are
// seldom needed do not appear in the help. namespace says what -n is for; without it
// that does not appear either.
func (c *Flags) Add(command *cobra.Command, namespace string) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&c.overrides, all, names)
	all.StringArrayVar(&c.userExtra, "as-user-extra", nil, "user extras to impersonate for the operation, as KEY=VALUE; may be repeated")
	all.VisitAll(func(f *pflag.Flag) {
		f.Hidden = f.Name != clientcmd.FlagContext && (f.Name != clientcmd.FlagNamespace || namespace == "")
	})
	all.Lookup(clientcmd.FlagContext).Usage = "context of the kubeconfig to use"
	all.Lookup(clientcmd.FlagNamespace).Usage = namespace
	all.StringVar(&c.kubeconfig, "kubeconfig", "", "file with the kubeconfig (default $KUBECONFIG, then ~/.kube/config, then the service account of the pod)")
	command.Flags().AddFlagSet(all)
	c.complete(command)
}

// loader returns the loader of the kubeconfig.
func (c *Flags) loader() (clientcmd.ClientConfig, error) {
	for _, text := range c.userExtra {
		key, value, err := verb.Pair(text, "scopes=view")
		if err != nil {
			return nil, fmt.Errorf("--as-user-extra %s: %w", text, err)
		}
		if c.overrides.AuthInfo.ImpersonateUserExtra == nil {
			c.overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
		}
		if extra := c.overrides.AuthInfo.ImpersonateUserExtra; !slices.Contains(extra[key], value) {
			extra[key] = append(extra[key], value)
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &c.overrides), nil
}

// ErrNoKubeconfig says that nothing leads to a cluster.
var ErrNoKubeconfig = errors.New("there is no kubeconfig, so no cluster to ask: name one, --kubeconfig FILE, or set KUBECONFIG")

// Config returns how to reach the API server, and the namespace that is meant.
// Warnings of the server go to a stream.
func (c *Flags) Config(warnings *verb.Stream) (config *rest.Config, namespace string, err error) {
	loader, err := c.loader()
	if err != nil {
		return nil, "", err
	}
	config, err = loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", ErrNoKubeconfig
	}
	if err != nil {
		return nil, "", err
	}
	namespace, _, err = loader.Namespace()
	if err != nil {
		return nil, "", err
	}
	config = rest.AddUserAgent(config, "kubectl-loadline")
	config.WarningHandler = rest.NewWarningWriter(warnings.Writer(), rest.WarningWriterOptions{Deduplicate: true})
	return config, namespace, nil
}

// Namespace returns the namespace that the flag names, empty if it was not given.
func (c *Flags) Namespace() string { return c.overrides.Context.Namespace }

// Connect returns a client and the namespace that is meant. Warnings of the server
// go to a stream.
func (c *Flags) Connect(warnings *verb.Stream) (client.WithWatch, string, error) {
	config, namespace, err := c.Config(warnings)
	if err != nil {
		return nil, "", err
	}
	reached, err := NewClient(config)
	return reached, namespace, err
}
