// Package deployed finds Loadline's parts in a cluster: its components, and the configuration of
// its scheduler.
package deployed

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/evaluate/installation"
)

// InstallNamespace is where Loadline is meant to run.
const InstallNamespace = "loadline-system"

// FindComponents returns the components that run in a namespace, or if that is empty
// in any; who may not look everywhere gets those where Loadline is meant to run, and
// those of the namespace own.
func FindComponents(ctx context.Context, c client.Client, namespace, own string) ([]installation.Component, error) {
	found, err := componentsIn(ctx, c, namespace)
	if namespace != "" || !apierrors.IsForbidden(err) {
		return found, err
	}
	seen := false
	for _, namespace := range slices.Compact([]string{own, InstallNamespace}) {
		some, errThere := componentsIn(ctx, c, namespace)
		if errThere == nil {
			found, seen = append(found, some...), true
		}
	}
	if !seen {
		return nil, err
	}
	return found, nil
}

// FindGauges returns the DaemonSets of gauges, in all namespaces.
func FindGauges(ctx context.Context, c client.Client) ([]installation.Gauges, error) {
	list := &appsv1.DaemonSetList{}
	if err := c.List(ctx, list, client.MatchingLabels(installation.GaugeLabels())); err != nil {
		return nil, fmt.Errorf("listing DaemonSets: %w", err)
	}
	var found []installation.Gauges
	for i := range list.Items {
		found = append(found, installation.NewGauges(&list.Items[i]))
	}
	return found, nil
}

func componentsIn(ctx context.Context, c client.Client, namespace string) ([]installation.Component, error) {
	list := &appsv1.DeploymentList{}
	if err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{installation.PartOfLabel: installation.PartOf}); err != nil {
		return nil, fmt.Errorf("listing Deployments: %w", err)
	}
	var found []installation.Component
	for i := range list.Items {
		if c, is := installation.NewComponent(&list.Items[i]); is {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b installation.Component) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Deployment, b.Deployment))
	})
	return found, nil
}
