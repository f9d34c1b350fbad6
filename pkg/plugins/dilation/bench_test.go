package dilation

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const (
	benchNodes = 5000
	benchPods  = 30 // per node
)

// benchCluster returns a plugin, 5,000 nodes with 16 cores and 30 pods each, of
// 20 profiles that each use every resource, and one more pod.
func benchCluster(b *testing.B, resources int) (*Dilation, []fwk.NodeInfo, *corev1.Pod) {
	names := []string{"cpu", "disk", "network", "memory-bandwidth"}
	servers := map[string]int{}
	for len(names) < resources {
		name := fmt.Sprintf("resource-%d", len(names))
		names = append(names, name)
		servers[name] = 1
	}
	objects := []any{nodeProfile(servers)}
	const profiles = 20
	for p := range profiles {
		w := workload(fmt.Sprintf("app-%d", p))
		for _, name := range names {
			w.Spec.Resources = append(w.Spec.Resources, demand(name, float64(p+1)/float64(profiles*resources)))
		}
		objects = append(objects, w)
	}
	nodes := make([]fwk.NodeInfo, benchNodes)
	for n := range nodes {
		pods := make([]*corev1.Pod, benchPods)
		for k := range pods {
			pods[k] = testPod(fmt.Sprintf("pod-%d-%d", n, k), fmt.Sprintf("app-%d", (n+k)%profiles))
			pods[k].Status.QOSClass = corev1.PodQOSBestEffort // as the API server sets it
		}
		nodes[n] = testNode(fmt.Sprintf("node-%d", n), 16, pods...)
	}
	return testPlugin(b, objects...), nodes, testPod("candidate", "app-7")
}

// benchScore times one Score when every price is at hand.
func benchScore(b *testing.B, d *Dilation, pod *corev1.Pod, nodes []fwk.NodeInfo) {
	scores(b, d, pod, nodes) // the first cycle prices the nodes
	state := framework.NewCycleState()
	d.PreScore(b.Context(), state, pod, nodes)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, status := d.Score(b.Context(), state, pod, nodes[n]); status != nil {
			b.Fatal(status)
		}
		if n++; n == len(nodes) {
			n = 0
		}
	}
}

// BenchmarkScore reports the time of one Score when every price is at hand.
func BenchmarkScore(b *testing.B) {
	for _, resources := range []int{4, 16} {
		b.Run(fmt.Sprintf("nodes=%d/resources=%d", benchNodes, resources), func(b *testing.B) {
			d, nodes, pod := benchCluster(b, resources)
			benchScore(b, d, pod, nodes)
		})
	}
}

// BenchmarkScoreUnequal is BenchmarkScore for pods that request different amounts.
func BenchmarkScoreUnequal(b *testing.B) {
	d, nodes, pod := benchCluster(b, 4)
	unequal(nodes)
	requesting(pod, "700m", "")
	benchScore(b, d, pod, nodes)
}

// unequal lets the pods of nodes request 100m to 1.
func unequal(nodes []fwk.NodeInfo) {
	for _, node := range nodes {
		for k, pod := range node.GetPods() {
			requesting(pod.GetPod(), fmt.Sprintf("%dm", 100*(1+k%10)), "")
		}
	}
}

// BenchmarkPrice reports the time of pricing one node with 30 pods, and one that is like a node which is priced already.
func BenchmarkPrice(b *testing.B) {
	for _, requests := range []string{"equal", "unequal"} {
		b.Run(requests, func(b *testing.B) {
			d, nodes, _ := benchCluster(b, 4)
			if requests == "unequal" {
				unequal(nodes[:1])
			}
			r := newResidents(d.modes, d.kinds, &cycle{snapshot: d.index.Snapshot()}, nodes[0], nil)
			b.Run("new", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r.price(b.Context())
				}
			})
			b.Run("alike", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					priceNode(b.Context(), r)
				}
			})
		})
	}
}

// BenchmarkScoreMeasured is BenchmarkScore for a pod whose vector was measured on
// a number of classes of nodes, among which the nodes are spread.
func BenchmarkScoreMeasured(b *testing.B) {
	for _, classes := range []int{1, 8, 100} {
		b.Run(fmt.Sprintf("nodes=%d/classes=%d", benchNodes, classes), func(b *testing.B) {
			d, nodes, pod := benchCluster(b, 4)
			measured := workload("app-7")
			for c := range classes {
				class := nodeProfile(map[string]int{"disk": 1})
				class.Name = fmt.Sprintf("class-%d", c)
				class.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"class": class.Name}}
				d.index.OnAdd(class, false)
				measuredOn(measured, class.Name, map[string]float64{"cpu": 0.5, "disk": 0.25})
			}
			for n, node := range nodes {
				node.Node().Labels = map[string]string{"class": fmt.Sprintf("class-%d", n%classes)}
			}
			d.index.OnAdd(measured, false)
			benchScore(b, d, pod, nodes)
		})
	}
}

// scoring returns what runs a scoring cycle over all nodes, in one goroutine: PreScore, Score of each node, NormalizeScore.
func scoring(b *testing.B, d *Dilation, pod *corev1.Pod, nodes []fwk.NodeInfo) func() {
	list := make(fwk.NodeScoreList, len(nodes))
	return func() {
		state := framework.NewCycleState()
		d.PreScore(b.Context(), state, pod, nodes)
		for n, node := range nodes {
			list[n].Score, _ = d.Score(b.Context(), state, pod, node)
		}
		d.NormalizeScore(b.Context(), state, pod, list)
	}
}

// BenchmarkHostileProfileChanges reports the time of a scoring cycle over 1,000 nodes before each of which a user changes a
// profile in a namespace of theirs, which has pods on no node, on one, and on all; and without any change, to compare.
func BenchmarkHostileProfileChanges(b *testing.B) {
	const count = 1000
	for _, test := range []struct {
		name    string
		changes bool
		pods    int // of the namespace, on as many nodes
	}{{"none", false, 0}, {"pods=0", true, 0}, {"pods=1", true, 1}, {"pods=1000", true, count}} {
		b.Run(test.name, func(b *testing.B) {
			d, nodes, pod := benchCluster(b, 4)
			nodes = nodes[:count]
			for n, node := range nodes[:test.pods] {
				theirs := testPod(fmt.Sprint("theirs-", n), "theirs")
				theirs.Namespace = "theirs"
				info, err := framework.NewPodInfo(theirs)
				if err != nil {
					b.Fatal(err)
				}
				node.AddPodInfo(info)
			}
			profile := workload("theirs", demand("disk", 0.1))
			profile.Namespace = "theirs"
			d.index.OnAdd(profile, false)
			d.knows(nodes...)
			cycle := scoring(b, d, pod, nodes)
			for range 2 { // the first time the nodes are new
				cycle()
			}
			b.ReportAllocs()
			for b.Loop() {
				if test.changes {
					next := profile.DeepCopy()
					next.Generation++
					d.index.OnUpdate(profile, next)
					profile = next
				}
				cycle()
			}
		})
	}
}

// BenchmarkCycle reports the time of a whole scoring cycle over all nodes, in
// one goroutine: PreScore, Score of each node, NormalizeScore. Either nothing
// has changed since the last cycle, or one node has a pod more or less.
func BenchmarkCycle(b *testing.B) {
	for _, resources := range []int{4, 16} {
		for _, changed := range []int{0, 1} {
			b.Run(fmt.Sprintf("nodes=%d/resources=%d/changed=%d", benchNodes, resources, changed), func(b *testing.B) {
				d, nodes, pod := benchCluster(b, resources)
				info, err := framework.NewPodInfo(testPod("more", "app-3"))
				if err != nil {
					b.Fatal(err)
				}
				d.knows(nodes...)
				cycle := scoring(b, d, pod, nodes)
				for range 2 { // the first time the nodes are new
					cycle()
				}
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					if changed == 1 {
						if node := nodes[n/2%len(nodes)]; n%2 == 0 {
							node.AddPodInfo(info)
						} else if err := node.RemovePod(klog.Background(), info.Pod); err != nil {
							b.Fatal(err)
						}
						n++
					}
					cycle()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(nodes)), "ns/node")
			})
		}
	}
}
