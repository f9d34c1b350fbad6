package installation

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"loadline.dev/loadline/pkg/report/text"
)

// Gauge is the component that runs on every node, as ComponentLabel says.
const (
	Gauge          = "gauge"
	ComponentLabel = "app.kubernetes.io/component"
)

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

// judgeGauges judges the gauges. Without any there is no check: nothing else needs them.
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
		case g.ReadyNodes < g.Nodes:
			c.State, c.Do = StateWarning, "kubectl describe "+kubectl+" says why"
		}
		checks = append(checks, c)
	}
	return checks
}
