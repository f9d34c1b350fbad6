package access

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/verb"
)

// completionPatience is how long the shell waits for names.
const completionPatience = 3 * time.Second

// complete makes the shell complete the values of the flags.
func (c *Flags) complete(command *cobra.Command) {
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
	verb.Complete(command, clientcmd.FlagNamespace, c.Names(func() client.ObjectList { return &corev1.NamespaceList{} }))
}

// Names completes with the names of all objects of a kind, in the namespace that is
// meant if the kind has one.
func (c *Flags) Names(list func() client.ObjectList) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		objects := list()
		names, err := []string(nil), c.listForCompletion(command.Context(), objects)
		if err == nil {
			names, err = namesOf(objects)
		}
		if err != nil {
			cobra.CompDebugln(err.Error(), false)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *Flags) listForCompletion(ctx context.Context, list client.ObjectList) error {
	config, namespace, err := c.Config(verb.NewStream(io.Discard))
	if err != nil {
		return err
	}
	AnswerWithin(config, completionPatience)
	reached, err := NewClient(config)
	if err != nil {
		return err
	}
	return reached.List(ctx, list, client.InNamespace(namespace))
}

// namesOf returns the names of the objects of a list.
func namesOf(list client.ObjectList) (names []string, err error) {
	err = meta.EachListItem(list, func(object runtime.Object) error {
		o, err := meta.Accessor(object)
		if err == nil {
			names = append(names, o.GetName())
		}
		return err
	})
	return names, err
}
