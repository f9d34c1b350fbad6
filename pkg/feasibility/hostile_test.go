package feasibility_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/node"
)

// oddities are what files have that no API server accepts.
var oddities = map[string]func(*corev1.Pod){
	"nothing":       func(*corev1.Pod) {},
	"no containers": func(p *corev1.Pod) { p.Spec.Containers = nil },
	"a negative amount": func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("-1")
	},
	"a huge amount": func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("9999999999999999999E")
	},
	"a port beyond all":      hostPort(1 << 30),
	"a selector of nonsense": apartFrom("-/-", "?"),
	"no selector at all": func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{
			PodAffinity:  &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}},
			NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}},
		}
	},
	"an operator of nonsense": func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: "?"}}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: -1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}},
		}}}
	},
	"a spread by nothing": func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.DoNotSchedule}}
	},
	"claims that exist in part": claiming("", "data", "unbound", "lost"),
	"a volume of no kind":       func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{{Name: "v"}} },
	"a disk of a cloud": func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{}}}}
	},
}

func TestWhateverFilesHoldIsAnsweredAgainAlike(t *testing.T) {
	t.Parallel()
	odd := rapid.SampledFrom(slices.Sorted(maps.Keys(oddities)))
	rapid.Check(t, func(t *rapid.T) {
		c := &feasibility.Cluster{
			Nodes: []corev1.Node{nodeNamed("n1"), nodeNamed("n2"), {ObjectMeta: metav1.ObjectMeta{Name: "n3"}}},
			Others: []runtime.Object{
				claim("data", "pv-1"), claim("lost", "pv-2"), claim("unbound", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("fast") }),
				&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-1"}, Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{}}},
				&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}},
			},
		}
		for i := range rapid.IntRange(1, 6).Draw(t, "pods") {
			on := rapid.SampledFrom([]string{"", "n1", "n2", "n3", "n4"}).Draw(t, "node")
			c.Pods = append(c.Pods, pod(fmt.Sprintf("p%d", i), on, oddities[odd.Draw(t, "oddity")]))
		}
		f, err := feasibility.New(c)
		if err != nil {
			t.Fatal(err)
		}
		said := func(i int) (all []node.Fit) {
			verdict := f.Of(&c.Pods[i])
			for _, n := range c.Nodes {
				v := verdict(n.Name)
				if v.Refused != "" && v.Unknown != "" {
					t.Fatalf("pod %d on %s is refused and not known: %+v", i, n.Name, v)
				}
				all = append(all, v)
			}
			return all
		}
		for i := range c.Pods {
			first := said(i)
			for k, v := range said(i) {
				if v != first[k] {
					t.Fatalf("pod %d on %s: %+v, and then %+v", i, c.Nodes[k].Name, first[k], v)
				}
			}
		}
	})
}
