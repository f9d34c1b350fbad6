package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// clusterFlags are the flags by which kubectl finds a cluster and a namespace.
type clusterFlags struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

// add adds the flags. Those that are seldom needed do not appear in the help.
func (c *clusterFlags) add(flags *pflag.FlagSet) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&c.overrides, all, clientcmd.RecommendedConfigOverrideFlags(""))
	all.VisitAll(func(f *pflag.Flag) {
		f.Hidden = f.Name != clientcmd.FlagContext && f.Name != clientcmd.FlagNamespace
	})
	all.Lookup(clientcmd.FlagContext).Usage = "context of the kubeconfig to use"
	all.Lookup(clientcmd.FlagNamespace).Usage = "namespace of the pods (default that of the context)"
	all.StringVar(&c.kubeconfig, "kubeconfig", "", "file with the kubeconfig (default $KUBECONFIG, then ~/.kube/config)")
	flags.AddFlagSet(all)
}

// connect returns a client and the namespace that is meant. Warnings of the server
// go to a stream.
func (c *clusterFlags) connect(warnings io.Writer) (client.WithWatch, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &c.overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("there is no kubeconfig, so no cluster to ask: name one, --kubeconfig FILE, or set KUBECONFIG")
	}
	if err != nil {
		return nil, "", err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", err
	}
	config = rest.AddUserAgent(config, "kubectl-loadline")
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	scheme, err := clusterScheme()
	if err != nil {
		return nil, "", err
	}
	reached, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, "", fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return reached, namespace, nil
}

// clusterScheme returns the kinds that are read from clusters.
func clusterScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}
