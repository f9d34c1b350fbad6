package cli

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The components of Loadline that run in a cluster.
const (
	managerComponent   = "manager"
	schedulerComponent = "scheduler"
)

// installNamespace is where Loadline is meant to run.
const installNamespace = "loadline-system"

// component is a Deployment of Loadline.
type component struct {
	// Name is what it is: manager or scheduler.
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
	Deployment string `json:"deployment"`
	// Version is that of its label app.kubernetes.io/version, else the tag or digest
	// of its image.
	Version string `json:"version"`
	Image   string `json:"image"`
	// Replicas is how many there are to be, ReadyReplicas how many are ready.
	Replicas      int32 `json:"replicas"`
	ReadyReplicas int32 `json:"readyReplicas"`

	deployment *appsv1.Deployment
}

// Labels of what belongs to Loadline.
const (
	partOfLabel  = "app.kubernetes.io/part-of"
	versionLabel = "app.kubernetes.io/version"
	partOf       = "loadline"
)

// findComponents returns the components that run in a namespace, or if that is empty
// in any; who may not look everywhere gets those where Loadline is meant to run, and
// those of the namespace own.
func findComponents(ctx context.Context, c client.Client, namespace, own string) ([]component, error) {
	found, err := componentsIn(ctx, c, namespace)
	if namespace != "" || !apierrors.IsForbidden(err) {
		return found, err
	}
	seen := false
	for _, namespace := range slices.Compact([]string{own, installNamespace}) {
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

func componentsIn(ctx context.Context, c client.Client, namespace string) ([]component, error) {
	list := &appsv1.DeploymentList{}
	if err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{partOfLabel: partOf}); err != nil {
		return nil, fmt.Errorf("listing Deployments: %w", err)
	}
	var found []component
	for i := range list.Items {
		if c, is := newComponent(&list.Items[i]); is {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b component) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Deployment, b.Deployment))
	})
	return found, nil
}

// newComponent returns what a Deployment is, by the command that it runs.
func newComponent(d *appsv1.Deployment) (c component, is bool) {
	for i := range d.Spec.Template.Spec.Containers {
		container := &d.Spec.Template.Spec.Containers[i]
		program := repositoryOf(container.Image)
		if len(container.Command) > 0 {
			program = container.Command[0]
		}
		name, ours := strings.CutPrefix(path.Base(program), "loadline-")
		if !ours || name != managerComponent && name != schedulerComponent {
			continue
		}
		return component{
			Name: name, Namespace: d.Namespace, Deployment: d.Name, Image: container.Image,
			Version:  cmp.Or(d.Labels[versionLabel], d.Spec.Template.Labels[versionLabel], versionOf(container.Image)),
			Replicas: replicas(d), ReadyReplicas: d.Status.ReadyReplicas,
			deployment: d,
		}, true
	}
	return c, false
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// repositoryOf returns an image without its tag and digest.
func repositoryOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndexByte(image, ':'); colon > strings.LastIndexByte(image, '/') {
		return image[:colon]
	}
	return image
}

// versionOf returns the tag of an image, else its digest, else that it has none.
func versionOf(image string) string {
	name, digest, _ := strings.Cut(image, "@")
	tag := strings.TrimPrefix(name[len(repositoryOf(image)):], ":")
	return cmp.Or(tag, digest, "latest")
}

// kubectl names a component as kubectl takes it: deployment/NAME -n NAMESPACE.
func (c *component) kubectl() string { return "deployment/" + c.Deployment + " -n " + c.Namespace }
