package input

import (
	"cmp"
	"errors"
	"fmt"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/text"
)

// Applied reads a workload, and the profiles and namespaces beside it, for a simulation of what applying them would do.
func (f *Files) Applied(streams verb.Streams) (*explanation.Manifests, error) {
	read, err := f.Read(streams, append(Workloads(), WorkloadProfile, NodeProfile, Namespace)...)
	if err != nil {
		return nil, err
	}
	if read.Skipped["Node"] > 0 {
		return nil, errors.New("there is a Node among the manifests: to ask files in place of a cluster, write explain --simulate MANIFEST -f CLUSTER")
	}
	if len(read.Workloads) != 1 {
		var names []string
		for i := range read.Workloads {
			names = append(names, read.Workloads[i].Name())
		}
		return nil, fmt.Errorf("a simulation is about one workload, such as a Pod or a Deployment, and the manifest has %d: %s", len(names), cmp.Or(text.Names(names), "none"))
	}
	return &explanation.Manifests{Workload: read.Workloads[0], Workloads: read.WorkloadProfiles, Classes: read.NodeProfiles, Namespaces: read.Namespaces}, nil
}

// SetNamespace gives manifests without a namespace one.
func SetNamespace(applied *explanation.Manifests, namespace string) {
	w := &applied.Workload
	w.Pod.Namespace = cmp.Or(w.Pod.Namespace, namespace)
	for i := range applied.Workloads {
		p := &applied.Workloads[i]
		p.Namespace = cmp.Or(p.Namespace, namespace)
	}
}
