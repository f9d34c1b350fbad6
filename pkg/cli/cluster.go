package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/verb"
)

// clusterFlags are the flags by which kubectl finds a cluster and a namespace.
type clusterFlags struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
	userExtra  []string
}

// add adds the flags, those of kubectl options by the same names. Those that are
// seldom needed do not appear in the help. namespace says what -n is for; without it
// that does not appear either.
func (c *clusterFlags) add(command *cobra.Command, namespace string) {
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

// loader returns what reads the kubeconfig.
func (c *clusterFlags) loader() (clientcmd.ClientConfig, error) {
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

// errNoKubeconfig says that nothing tells of a cluster.
var errNoKubeconfig = errors.New("there is no kubeconfig, so no cluster to ask: name one, --kubeconfig FILE, or set KUBECONFIG")

// config returns how to reach the API server, and the namespace that is meant.
// Warnings of the server go to a stream.
func (c *clusterFlags) config(warnings io.Writer) (config *rest.Config, namespace string, err error) {
	loader, err := c.loader()
	if err != nil {
		return nil, "", err
	}
	config, err = loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errNoKubeconfig
	}
	if err != nil {
		return nil, "", err
	}
	namespace, _, err = loader.Namespace()
	if err != nil {
		return nil, "", err
	}
	config = rest.AddUserAgent(config, "kubectl-loadline")
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	return config, namespace, nil
}

// connect returns a client and the namespace that is meant. Warnings of the server
// go to a stream.
func (c *clusterFlags) connect(warnings io.Writer) (client.WithWatch, string, error) {
	config, namespace, err := c.config(warnings)
	if err != nil {
		return nil, "", err
	}
	reached, err := connectTo(config)
	return reached, namespace, err
}

// connectTo returns a client.
func connectTo(config *rest.Config) (client.WithWatch, error) {
	scheme, err := clusterScheme()
	if err != nil {
		return nil, err
	}
	reached, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return reached, nil
}

// clusterScheme returns the kinds that are read from clusters.
func clusterScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(
		corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme), admissionv1.AddToScheme(scheme),
		v1alpha1.AddToScheme(scheme),
	)
}

// answersWithin bounds how long one request may take, where nobody said so by
// --request-timeout.
func answersWithin(config *rest.Config, limit time.Duration) {
	if config.Timeout == 0 {
		config.Timeout = limit
	}
}
