// Package kindcluster configures the cluster of kind that "make e2e-kind" and "make kind-up" start: a control plane and two
// workers. All of kind's nodes see all processors of the machine that Docker runs on; here the pods of each worker are kept to
// one processor, as a real node's are, so that what runs on one worker does not slow down what runs on the other.
package kindcluster

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"k8s.io/utils/cpuset"

	"loadline.dev/loadline/hack/cluster/internal/cores"
	"loadline.dev/loadline/hack/cluster/node"
)

// Name is the cluster's name.
const Name = "loadline-e2e"

// workers is the number of worker nodes.
const workers = 2

//go:embed kind.yaml
var configText string

var configTemplate = template.Must(template.New("kind.yaml").Parse(configText))

// ConfigForDocker returns the cluster's configuration, as "kind create cluster --config" takes it, for the machine that Docker
// runs on. The module hack/cluster must be there, in the folder module: the control plane reads files of it.
func ConfigForDocker(ctx context.Context, module string) ([]byte, error) {
	said, err := docker(ctx, "info", "--format", "{{.NCPU}}")
	if err != nil {
		return nil, err
	}
	processors, err := strconv.Atoi(said)
	if err != nil {
		return nil, fmt.Errorf("the number of processors that docker info says: %w", err)
	}
	return config(processors, module)
}

// config returns the configuration for a machine with that many processors, numbered from 0.
func config(processors int, module string) ([]byte, error) {
	var all cpuset.CPUSet
	for i := range processors {
		all = all.Union(cpuset.New(i))
	}
	plan, err := cores.Divide(all, workers)
	if err != nil {
		return nil, fmt.Errorf("the machine of Docker has too few processors: %w", err)
	}
	// A node's pods run on all processors but those that it reserves.
	reserved := func(own cpuset.CPUSet) string { return all.Difference(own).String() }
	data := struct {
		Name, Patches, AuditPolicy string
		Kubelet                    string // fields of its configuration
		ControlPlane               string // the processors that it reserves
		Workers                    []string
	}{
		Name:         Name,
		Patches:      filepath.Join(module, "kindcluster", "kubeadm"),
		AuditPolicy:  filepath.Join(module, "controlplane", "audit-policy.yaml"),
		Kubelet:      strings.ReplaceAll(strings.TrimSpace(node.KubeletSettings), "\n", "\n  "),
		ControlPlane: reserved(plan.Others),
	}
	for _, own := range plan.Workers {
		data.Workers = append(data.Workers, reserved(own))
	}
	var text bytes.Buffer
	err = configTemplate.Execute(&text, data)
	return text.Bytes(), err
}
