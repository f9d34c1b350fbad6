package installation

import (
	"cmp"
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// The components of Loadline that run in a cluster.
const (
	Manager   = "manager"
	Scheduler = "scheduler"
)

// Component is a Deployment of Loadline.
type Component struct {
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

	// Object is the Deployment.
	Object *appsv1.Deployment `json:"-"`
}

// PartOfLabel is the label of what belongs to Loadline, PartOf its value.
const (
	PartOfLabel = "app.kubernetes.io/part-of"
	PartOf      = "loadline"
)

const versionLabel = "app.kubernetes.io/version"

// NewComponent returns what a Deployment is, by the command that it runs; is reports
// whether it is one of ours.
func NewComponent(d *appsv1.Deployment) (c Component, is bool) {
	for i := range d.Spec.Template.Spec.Containers {
		container := &d.Spec.Template.Spec.Containers[i]
		name, is := programOf(container)
		if !is {
			continue
		}
		return Component{
			Name: name, Namespace: d.Namespace, Deployment: d.Name, Image: container.Image,
			Version:  cmp.Or(d.Labels[versionLabel], d.Spec.Template.Labels[versionLabel], versionOf(container.Image)),
			Replicas: replicas(d), ReadyReplicas: d.Status.ReadyReplicas,
			Object: d,
		}, true
	}
	return c, false
}

// programOf returns which of the components a container runs, by its command, or else by its image.
func programOf(container *corev1.Container) (component string, is bool) {
	program := repositoryOf(container.Image)
	if len(container.Command) > 0 {
		program = container.Command[0]
	}
	name, ours := strings.CutPrefix(path.Base(program), "loadline-")
	return name, ours && (name == Manager || name == Scheduler)
}

// arguments returns what the containers of a component are started with.
func (c *Component) arguments() []string {
	var all []string
	for i := range c.Object.Spec.Template.Spec.Containers {
		container := &c.Object.Spec.Template.Spec.Containers[i]
		all = append(append(all, container.Command...), container.Args...)
	}
	return all
}

// emulated returns the version of Kubernetes, such as 1.36, whose behaviour a component is told to have, "" for that of its own.
func (c *Component) emulated() string {
	for _, arg := range c.arguments() {
		if version, is := strings.CutPrefix(arg, "--emulated-version="); is {
			return strings.TrimPrefix(version, "kube=")
		}
	}
	return ""
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
func (c *Component) kubectl() string { return "deployment/" + c.Deployment + " -n " + c.Namespace }
