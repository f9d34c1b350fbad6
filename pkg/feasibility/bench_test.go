package feasibility_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/feasibility"
)

// large is a cluster of 500 nodes with 30 pods each, of 200 Deployments, all as changed.
func large(changes ...func(*corev1.Pod)) *feasibility.Cluster {
	c := &feasibility.Cluster{}
	for n := range 500 {
		c.Nodes = append(c.Nodes, nodeNamed(fmt.Sprintf("n%d", n)))
		for k := range 30 {
			p := pod(fmt.Sprintf("p%d-%d", n, k), c.Nodes[n].Name, changes...)
			p.Labels = map[string]string{"app": fmt.Sprintf("app-%d", (n*30+k)%200), "tier": "web"}
			p.Spec.RestartPolicy = corev1.RestartPolicyAlways
			c.Pods = append(c.Pods, p)
		}
	}
	return c
}

// BenchmarkNew is what an answer about a large cluster costs before the first question.
func BenchmarkNew(b *testing.B) {
	c := large()
	for b.Loop() {
		filter(b, c)
	}
}

// BenchmarkOf is a question about a pod and three nodes, as who asks it: of a plain pod, and of one that is kept apart from all
// others of its kind and spread evenly, as all pods of the cluster are.
func BenchmarkOf(b *testing.B) {
	for name, changes := range map[string][]func(*corev1.Pod){"plain": nil, "constrained": {spread, apartFrom("app", "app-1")}} {
		b.Run(name, func(b *testing.B) {
			c := large(changes...)
			f := filter(b, c)
			for b.Loop() {
				verdict := f.Of(&c.Pods[0])
				for n := range 3 {
					verdict(c.Nodes[n+1].Name)
				}
			}
		})
	}
}
