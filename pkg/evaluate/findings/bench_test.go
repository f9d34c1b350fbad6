package findings_test

import (
	"fmt"
	"testing"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// BenchmarkOf is an answer about a cluster of nodes of 16 cores with pods of as many different vectors, of which one in ten
// has a pod that is slowed down.
func BenchmarkOf(b *testing.B) {
	for _, size := range []struct{ nodes, pods int }{{100, 30}, {100, 110}, {1000, 30}} {
		b.Run(fmt.Sprintf("%dx%d", size.nodes, size.pods), func(b *testing.B) {
			in := &observed.Input{}
			for n := range size.nodes {
				name := fmt.Sprintf("worker-%d", n)
				in.Nodes = append(in.Nodes, nodeNamed(name, "16"))
				var seenThere []usage.Pod
				for k := range size.pods {
					p := fmt.Sprintf("%s-%d", name, k)
					in.Pods = append(in.Pods, pod(p, name, fmt.Sprintf("%dm", 50+k), ""))
					wait := 0.0
					if k == 0 && n%10 == 0 {
						wait = 0.3
					}
					seenThere = append(seenThere, seen(p, 0.05+0.3*float64(k%17)/17, wait, 0))
				}
				in.Sights = append(in.Sights, sight(name, 16, 0, seenThere...))
			}
			var answer *findings.Answer
			for b.Loop() {
				var err error
				if answer, err = findings.Find(in, asked(b, in)); err != nil {
					b.Fatal(err)
				}
			}
			if len(answer.Findings) != size.nodes/10 {
				b.Errorf("%d findings", len(answer.Findings))
			}
		})
	}
}
