package feasibility_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/node"
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
// others of its kind and spread evenly, as all pods of the cluster are. It is asked before any change and after many.
func BenchmarkOf(b *testing.B) {
	for name, changes := range map[string][]func(*corev1.Pod){"plain": nil, "constrained": {spread, apartFrom("app", "app-1")}} {
		c := large(changes...)
		f := filter(b, c)
		for _, moves := range []int{0, 100} {
			b.Run(fmt.Sprintf("%s after %d", name, moves), func(b *testing.B) {
				f := changedBy(f, c, moves)
				for b.Loop() {
					verdict := f.Of(&c.Pods[0])
					for n := range 3 {
						verdict(c.Nodes[n+1].Name)
					}
				}
			})
		}
	}
}

// changedBy returns the feasibility after some moves of pods to the next node.
func changedBy(f node.Feasibility, c *feasibility.Cluster, moves int) node.Feasibility {
	for i := range moves {
		f = f.With(&c.Pods[i*30], c.Nodes[i+1].Name)
	}
	return f
}

// BenchmarkWith is what one more change costs, after none and after many.
func BenchmarkWith(b *testing.B) {
	c := large(spread, apartFrom("app", "app-1"))
	f := filter(b, c)
	for _, moves := range []int{0, 100} {
		b.Run(fmt.Sprintf("after %d", moves), func(b *testing.B) {
			f := changedBy(f, c, moves)
			for b.Loop() {
				f.With(&c.Pods[len(c.Pods)-1], c.Nodes[0].Name)
			}
		})
	}
}
