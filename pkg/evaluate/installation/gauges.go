package installation

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/text"
)

// Gauge is the component that runs on every node, as ComponentLabel says.
const (
	Gauge          = "gauge"
	ComponentLabel = "app.kubernetes.io/component"
)

// GaugeNamespace is the namespace of the gauges, unless they were installed into another.
const GaugeNamespace = "loadline-gauge"

// GaugeLabels returns the labels of the pods of gauges, and of their DaemonSet. Any other pod can have them, too.
func GaugeLabels() map[string]string {
	return map[string]string{PartOfLabel: PartOf, ComponentLabel: Gauge}
}

// ReaderAnnotation is the annotation of the pods of gauges that holds the name of the service account that may read them. The
// account is in the pod's own namespace, so that a pod can ask for a token of no other.
const ReaderAnnotation = "loadline.dev/reader"

// ManagerAnnotation is the annotation of a gauge's pod that names the namespace of the manager that collects from it, absent where
// there is none. Only operators may make pods of gauges, which see all processes of their nodes, so no other user can name one.
const ManagerAnnotation = "loadline.dev/manager"

// ManagerLabels are the labels by which the pods of the manager are found in its namespace, of which [IsManager] picks them.
func ManagerLabels() map[string]string { return map[string]string{PartOfLabel: PartOf} }

// IsManager reports whether a pod with the labels of [ManagerLabels] is the manager's, by the command that it runs.
func IsManager(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		if name, is := programOf(&pod.Spec.Containers[i]); is && name == Manager {
			return true
		}
	}
	return false
}

// GaugeReader returns the service account of which a token is to be shown to the gauge of a pod. The error names the pod.
func GaugeReader(pod *corev1.Pod) (types.NamespacedName, error) {
	name := pod.Annotations[ReaderAnnotation]
	if name == "" {
		return types.NamespacedName{}, fmt.Errorf("pod %s has no annotation %s, which names the service account that may read it: the chart and config/gauge set it",
			text.QualifiedName(pod), ReaderAnnotation)
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}, nil
}

// IsGauge reports whether a pod with the labels of a gauge can be taken for one: it belongs to a DaemonSet, and has the
// process IDs of its node (hostPID), which Pod Security allows in namespaces of privileged pods only. A
// user who may create such a pod controls the node already.
func IsGauge(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return pod.Spec.HostPID && owner != nil && owner.Kind == "DaemonSet" && strings.HasPrefix(owner.APIVersion, appsv1.GroupName+"/")
}

// usagePortName is the name of the port of the containers of gauges and of the manager.
const usagePortName = "https"

// UsagePort returns the number of the port on which a pod, of a gauge or of the manager, serves what was observed: that of the
// container's port https, else the default.
func UsagePort(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.Name == usagePortName {
				return strconv.Itoa(int(port.ContainerPort))
			}
		}
	}
	return usage.Port
}

// Gauges is a DaemonSet of gauges.
type Gauges struct {
	Namespace string `json:"namespace"`
	DaemonSet string `json:"daemonSet"`
	Version   string `json:"version"`
	// Nodes is on how many nodes one is to run, ReadyNodes on how many one is ready.
	Nodes      int32 `json:"nodes"`
	ReadyNodes int32 `json:"readyNodes"`
}

// NewGauges returns what a DaemonSet of gauges says of itself.
func NewGauges(d *appsv1.DaemonSet) Gauges {
	g := Gauges{
		Namespace: d.Namespace, DaemonSet: d.Name, Version: cmp.Or(d.Labels[versionLabel], d.Spec.Template.Labels[versionLabel]),
		Nodes: d.Status.DesiredNumberScheduled, ReadyNodes: d.Status.NumberReady,
	}
	if containers := d.Spec.Template.Spec.Containers; g.Version == "" && len(containers) > 0 {
		g.Version = versionOf(containers[0].Image)
	}
	return g
}

// judgeGauges judges the gauges. Without any there is no check: nothing else needs them. Gauges of which none is ready are
// taken for failed, as an operator who wants none does not install them.
func (f *Facts) judgeGauges() (checks []Check) {
	if f.GaugesErr != nil {
		return []Check{{Name: "gauges", State: StateWarning, Message: "cannot tell: " + f.GaugesErr.Error(), Do: askForRight}}
	}
	for i := range f.Gauges {
		g := &f.Gauges[i]
		c := Check{Name: "gauges", State: StateOK, Message: fmt.Sprintf("ready on %d of %s, version %s", g.ReadyNodes, text.Counted(int(g.Nodes), "node"), g.Version)}
		kubectl := "daemonset/" + g.DaemonSet + " -n " + g.Namespace
		switch {
		case g.Nodes == 0:
			c.State, c.Do = StateWarning, "kubectl describe "+kubectl+" says on which nodes they may run"
		case g.ReadyNodes == 0:
			c.State, c.Do = StateFailed, "kubectl describe "+kubectl+" and kubectl logs "+kubectl+" say why"
		case g.ReadyNodes < g.Nodes:
			c.State, c.Do = StateWarning, "kubectl describe "+kubectl+" says why"
		}
		checks = append(checks, c)
	}
	return checks
}

// judgeObserved returns a check of whether there are answers about what gauges observe, and from whom, if it was asked for them.
func (f *Facts) judgeObserved() []Check {
	c := Check{Name: "observations", State: StateOK}
	o := f.Observed
	switch {
	case f.ObservedErr != nil:
		c.State, c.Message, c.Do = StateWarning, "cannot tell: "+f.ObservedErr.Error(), "ask for the role loadline-gauge-user in the gauges' namespace, or run it as a user who has it (--as)"
		return []Check{c}
	case o == nil:
		return nil
	}
	c.Message = fmt.Sprintf("there are answers about %d of %s, %d of them from the manager", o.Answered, text.Counted(o.Gauges, "node"), o.ByManager)
	switch {
	case o.Answered == 0:
		c.State = StateFailed
	case o.Answered < o.Gauges || o.Note != "":
		c.State = StateWarning
	}
	for _, why := range []string{o.Problem, o.Note} {
		if why != "" {
			c.Message += "; " + why
			c.Do = "docs/troubleshooting.md says what to do about it, under who"
		}
	}
	return append([]Check{c}, o.judgeRefused()...)
}

// maxNamed is how many gauges are named whose answers are refused.
const maxNamed = 5

// judgeRefused returns a check that names the gauges whose answers are refused, if there are any.
func (o *ObservedFacts) judgeRefused() []Check {
	if len(o.Refused) == 0 {
		return nil
	}
	var named []string
	for _, r := range o.Refused[:min(len(o.Refused), maxNamed)] {
		named = append(named, r.Node+": "+r.Reason)
	}
	all := len(o.Refused) + o.RefusedBesides
	if more := all - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return []Check{{
		Name: "refused answers", State: StateWarning, Message: fmt.Sprintf("of the gauges of %s: %s", text.Counted(all, "node"), strings.Join(named, "; ")),
		Do: "no gauge of Loadline answers that: see whether the gauges are of the manager's version, and who else has these nodes; docs/troubleshooting.md says more, under who",
	}}
}
