package cli

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/verb"
)

// completionPatience is how long somebody waits who has pressed the tabulator key.
const completionPatience = 3 * time.Second

// complete makes the shell complete the values of the flags.
func (c *clusterFlags) complete(command *cobra.Command) {
	fromKubeconfig := func(names func(*clientcmdapi.Config) []string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			loader, err := c.loader()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			config, err := loader.RawConfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return names(&config), cobra.ShellCompDirectiveNoFileComp
		}
	}
	verb.Complete(command, clientcmd.FlagContext, fromKubeconfig(func(k *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(k.Contexts)) }))
	verb.Complete(command, clientcmd.FlagClusterName, fromKubeconfig(func(k *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(k.Clusters)) }))
	verb.Complete(command, clientcmd.FlagAuthInfoName, fromKubeconfig(func(k *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(k.AuthInfos)) }))
	verb.Complete(command, clientcmd.FlagNamespace, c.names(func() client.ObjectList { return &corev1.NamespaceList{} }))
}

// names completes with the names of all objects of a kind, in the namespace that is
// meant if the kind has one.
func (c *clusterFlags) names(list func() client.ObjectList) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		objects := list()
		if err := c.listForCompletion(command.Context(), objects); err != nil {
			cobra.CompDebugln(err.Error(), false)
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return namesOfList(objects), cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *clusterFlags) listForCompletion(ctx context.Context, list client.ObjectList) error {
	config, namespace, err := c.config(io.Discard)
	if err != nil {
		return err
	}
	answersWithin(config, completionPatience)
	reached, err := connectTo(config)
	if err != nil {
		return err
	}
	return reached.List(ctx, list, client.InNamespace(namespace))
}

// namesOfList returns the names of namespaces, nodes or pods.
func namesOfList(list client.ObjectList) []string {
	switch l := list.(type) {
	case *corev1.NamespaceList:
		return namesOf(l.Items, func(n *corev1.Namespace) string { return n.Name })
	case *corev1.NodeList:
		return namesOf(l.Items, func(n *corev1.Node) string { return n.Name })
	case *corev1.PodList:
		return namesOf(l.Items, func(p *corev1.Pod) string { return p.Name })
	}
	return nil
}
