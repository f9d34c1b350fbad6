package feasibility_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/node"
)

const hostname = corev1.LabelHostname

func nodeNamed(name string) corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110")}
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hostname: name}}, Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts}}
}

// pod returns a pod of a Deployment, as changed.
func pod(name, node string, changes ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Labels: map[string]string{"app": name, "tier": "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-5d4f", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"),
		}}}}},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func hostPort(port int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: port, HostPort: port}}
	}
}

// hostNetwork is without a host port, which the API server adds.
func hostNetwork(port int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.HostNetwork = true
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: port}}
	}
}

func apartFrom(label, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}, TopologyKey: hostname,
		}}}}
	}
}

func togetherWith(label, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		apartFrom(label, value)(p)
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		}}
	}
}

func spread(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: hostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "web"}},
	}}
}

func claiming(claims ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, claim := range claims {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{
				Name: claim, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}},
			})
		}
	}
}

func claim(name, volume string, changes ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}}
	for _, change := range changes {
		change(c)
	}
	return c
}

// local returns a volume that is on a node.
func local(name, node string) *corev1.PersistentVolume {
	on := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: hostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}},
		NodeAffinity:           &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{on}}},
	}}
}

// attached returns a volume that a driver attaches to nodes.
func attached(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: name}},
	}}
}

// attaching says how many volumes of the driver a node can attach at most.
func attaching(node string, limit int32) *storagev1.CSINode {
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: "disk.example.com", NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &limit}}},
	}}
}

func filter(t testing.TB, c *feasibility.Cluster) *feasibility.Filter {
	t.Helper()
	f, err := feasibility.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each case is a pod on n1 that is asked about, and what the scheduler says of n2, on which there is another pod.
func TestTheSchedulerSaysWhereAPodMayGo(t *testing.T) {
	t.Parallel()
	rwop := func(c *corev1.PersistentVolumeClaim) {
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	for name, test := range map[string]struct {
		pod, other corev1.Pod
		change     func(*corev1.Node)
		others     []runtime.Object
		refused    string
		unknown    string
	}{
		"a plain pod":                         {pod: pod("a", "n1"), other: pod("b", "n2")},
		"a host port that is taken":           {pod: pod("a", "n1", hostPort(80)), other: pod("b", "n2", hostPort(80)), refused: "node(s) didn't have free ports for the requested pod ports"},
		"its own host port":                   {pod: pod("a", "n1", hostPort(80)), other: pod("b", "n2", hostPort(81))},
		"a port of the host's network":        {pod: pod("a", "n1", hostNetwork(80)), other: pod("b", "n2", hostNetwork(80)), refused: "node(s) didn't have free ports for the requested pod ports"},
		"required anti-affinity":              {pod: pod("a", "n1", apartFrom("app", "b")), other: pod("b", "n2"), refused: "node(s) didn't match pod anti-affinity rules"},
		"required anti-affinity of the other": {pod: pod("a", "n1"), other: pod("b", "n2", apartFrom("app", "a")), refused: "node(s) didn't satisfy existing pods anti-affinity rules"},
		"anti-affinity with itself":           {pod: pod("a", "n1", apartFrom("app", "a")), other: pod("b", "n2")},
		"affinity with the pods of its node":  {pod: pod("a", "n1", togetherWith("app", "c")), other: pod("b", "n2"), refused: "node(s) didn't match pod affinity rules"},
		"affinity with itself alone":          {pod: pod("a", "n1", togetherWith("app", "a")), other: pod("b", "n2")},
		"a hard spread":                       {pod: pod("a", "n1", spread), other: pod("b", "n2"), refused: "node(s) didn't match pod topology spread constraints"},
		"a spread that it evens out":          {pod: pod("a", "n1", spread), other: pod("b", "n2", func(p *corev1.Pod) { p.Labels = nil })},
		"a cordoned node":                     {pod: pod("a", "n1"), other: pod("b", "n2"), change: func(n *corev1.Node) { n.Spec.Unschedulable = true }, refused: "node(s) were unschedulable"},
		"a node that is full":                 {pod: pod("a", "n1"), other: pod("b", "n2"), change: func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("1") }, refused: "Too many pods: it runs 1, as many as it may"},
		"a node that does not say how many":   {pod: pod("a", "n1"), other: pod("b", "n2"), change: func(n *corev1.Node) { delete(n.Status.Allocatable, corev1.ResourcePods) }},
		"a taint": {
			pod: pod("a", "n1"), other: pod("b", "n2"), refused: "node(s) had untolerated taint(s): gpu=yes:NoSchedule",
			change: func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
			},
		},
		"too few processors":                   {pod: pod("a", "n1"), other: pod("b", "n2"), change: func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("150m") }, refused: "Insufficient cpu: the pod requests 100m, and 50m is left"},
		"a claim without its object":           {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2"), unknown: "PersistentVolumeClaim shop/data is not known"},
		"a claim without its volume":           {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2"), others: []runtime.Object{claim("data", "pv-1")}, unknown: "PersistentVolume pv-1 of PersistentVolumeClaim shop/data is not known"},
		"a claim without its class":            {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2"), others: []runtime.Object{claim("data", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("fast") })}, unknown: "StorageClass fast of PersistentVolumeClaim shop/data is not known"},
		"a claim that is not known and a port": {pod: pod("a", "n1", claiming("data"), hostPort(80)), other: pod("b", "n2", hostPort(80)), refused: "node(s) didn't have free ports for the requested pod ports"},
		"a volume on its node":                 {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2"), others: []runtime.Object{claim("data", "pv-1"), local("pv-1", "n1")}, refused: "node(s) didn't match PersistentVolume's node affinity"},
		"a volume on the other node":           {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2"), others: []runtime.Object{claim("data", "pv-1"), local("pv-1", "n2")}},
		"a volume for one pod, which it is":    {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2"), others: []runtime.Object{claim("data", "pv-1", rwop), local("pv-1", "n2")}},
		"as many volumes as can be attached":   {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2", claiming("more")), others: []runtime.Object{claim("data", "pv-1"), attached("pv-1"), claim("more", "pv-2"), attached("pv-2"), attaching("n2", 1)}, refused: "node(s) exceed max volume count"},
		"fewer volumes than can be attached":   {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2", claiming("more")), others: []runtime.Object{claim("data", "pv-1"), attached("pv-1"), claim("more", "pv-2"), attached("pv-2"), attaching("n2", 2)}},
		"a node of which that is not known":    {pod: pod("a", "n1", claiming("data")), other: pod("b", "n2"), others: []runtime.Object{claim("data", "pv-1"), attached("pv-1")}, unknown: "CSINode n2 is not known, so neither is whether it can attach PersistentVolume pv-1"},
		"a volume that is made with the pod": {
			pod: pod("a", "n1", func(p *corev1.Pod) {
				p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
			}),
			other: pod("b", "n2"), unknown: "where its volume scratch would be made anew is not known",
		},
		"devices that it claims": {
			pod: pod("a", "n1", func(p *corev1.Pod) {
				p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}}
			}),
			other: pod("b", "n2"), unknown: "where there are devices for its ResourceClaims is not looked at",
		},
		"pods of namespaces that it selects": {
			pod:   pod("a", "n1", byNamespace(togetherWith("app", "b"))),
			other: pod("b", "n2"), unknown: "the labels of namespaces are not known, by which pods are kept apart or together",
		},
		"pods of namespaces that are known": {
			pod:   pod("a", "n1", byNamespace(togetherWith("app", "b"))),
			other: pod("b", "n2"), others: []runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "shop"}}}},
		},
		"a static pod": {
			pod: pod("a", "n1", func(p *corev1.Pod) {
				p.Annotations, p.OwnerReferences = map[string]string{corev1.MirrorPodAnnotationKey: "abc"}, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", Controller: new(true)}}
			}),
			other: pod("b", "n2"), refused: "it is a static pod, which the kubelet of n1 runs: no scheduler places it",
		},
		"a pod of a DaemonSet": {
			pod:   pod("a", "n1", func(p *corev1.Pod) { p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "DaemonSet", "agent" }),
			other: pod("b", "n2"), refused: "DaemonSet agent has a pod for each of its nodes: this one is for n1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := nodeNamed("n2")
			if test.change != nil {
				test.change(&there)
			}
			c := &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1"), there}, Pods: []corev1.Pod{test.pod, test.other, pod("c", "n1", func(p *corev1.Pod) { p.Labels["tier"] = "etl" })}, Others: test.others}
			verdict := filter(t, c).Of(&test.pod)
			if diff := cmp.Diff(node.Fit{Refused: test.refused, Unknown: test.unknown}, verdict("n2")); diff != "" {
				t.Errorf("of n2 (-want +got):\n%s", diff)
			}
			if got := verdict("n1"); got.Refused != "" && test.refused != "" {
				t.Errorf("where it is, it is refused: %q", got.Refused)
			}
		})
	}
}

// byNamespace has the term of a pod select namespaces of a team.
func byNamespace(change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		change(p)
		p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}
	}
}

// A pod that waits is on no node, and counts nowhere.
func TestAPodThatWaitsIsAskedAboutAllNodes(t *testing.T) {
	t.Parallel()
	waiting := pod("a", "", hostPort(80))
	c := &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1"), nodeNamed("n2")}, Pods: []corev1.Pod{waiting, pod("b", "n2", hostPort(80))}}
	verdict := filter(t, c).Of(&waiting)
	if got := verdict("n1"); got != (node.Fit{}) {
		t.Errorf("of n1: %+v", got)
	}
	if got := verdict("n2"); got.Refused == "" {
		t.Errorf("of n2: %+v", got)
	}
	if got := verdict("n3"); got.Refused != "there is no such node" {
		t.Errorf("of a node that is not there: %+v", got)
	}
}

// A claim that only one pod may use keeps others away while that pod runs, wherever it is.
func TestAClaimOfOnePodKeepsOthersAway(t *testing.T) {
	t.Parallel()
	alone := claim("data", "pv-1", func(c *corev1.PersistentVolumeClaim) {
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	})
	waiting := pod("a", "", claiming("data"))
	c := &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1"), nodeNamed("n2")}, Pods: []corev1.Pod{waiting, pod("b", "n1", claiming("data"))}, Others: []runtime.Object{alone, local("pv-1", "n2")}}
	const want = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
	if got := filter(t, c).Of(&waiting)("n2"); got.Refused != want {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// What a question was about does not change the answer to the next one.
func TestQuestionsDoNotDependOnEachOther(t *testing.T) {
	t.Parallel()
	c := &feasibility.Cluster{
		Nodes: []corev1.Node{nodeNamed("n1"), nodeNamed("n2"), nodeNamed("n3")},
		Pods: []corev1.Pod{
			pod("a", "n1", spread), pod("b", "n2", spread, apartFrom("app", "a")), pod("c", "n3", hostPort(80)), pod("d", "n1", hostPort(80)),
			pod("e", "n1", claiming("data")), pod("f", "n2", togetherWith("app", "a")),
		},
		Others: []runtime.Object{claim("data", "pv-1"), local("pv-1", "n2")},
	}
	said := func(f *feasibility.Filter, i int) (all []node.Fit) {
		verdict := f.Of(&c.Pods[i])
		for _, n := range c.Nodes {
			all = append(all, verdict(n.Name))
		}
		return all
	}
	want := map[int][]node.Fit{}
	for i := range c.Pods {
		want[i] = said(filter(t, c), i)
	}
	f := filter(t, c)
	for range 2 {
		for _, i := range slices.Sorted(maps.Keys(want)) {
			if diff := cmp.Diff(want[i], said(f, i)); diff != "" {
				t.Errorf("of pod %s (-asked alone +asked after others):\n%s", c.Pods[i].Name, diff)
			}
		}
	}
}

// Objects as users write them: a name twice, nodes that are not there, pods that have ended, nothing at all.
func TestWhatIsWrittenByHandIsAnswered(t *testing.T) {
	t.Parallel()
	ended := pod("ended", "n2", hostPort(80))
	ended.Status.Phase = corev1.PodSucceeded
	asked := pod("a", "nowhere", hostPort(80))
	c := &feasibility.Cluster{
		Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, nodeNamed("n2"), nodeNamed("n2"), {}},
		Pods:  []corev1.Pod{asked, asked, ended, {}, {Spec: corev1.PodSpec{NodeName: "n1"}}},
	}
	verdict := filter(t, c).Of(&asked)
	if got := verdict("n2"); got != (node.Fit{}) {
		t.Errorf("of n2: %+v", got)
	}
	if got := verdict("n1"); !strings.HasPrefix(got.Refused, "Insufficient cpu: ") {
		t.Errorf("of a node that has nothing: %+v", got)
	}
	empty := filter(t, &feasibility.Cluster{})
	if got := empty.Of(&corev1.Pod{})(""); got.Refused == "" {
		t.Errorf("of no node: %+v", got)
	}
}

func TestAnObjectThatNoFilterLooksAtIsLeftOut(t *testing.T) {
	t.Parallel()
	asked := pod("a", "n1")
	c := &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1"), nodeNamed("n2")}, Pods: []corev1.Pod{asked}, Others: []runtime.Object{&corev1.Secret{}, nil}}
	if got := filter(t, c).Of(&asked)("n2"); got != (node.Fit{}) {
		t.Errorf("got %+v", got)
	}
}

// What a cluster is asked for is what the filters take, and no more than the pods need.
func TestOnlyWhatPodsNeedIsListed(t *testing.T) {
	t.Parallel()
	plain, with := pod("a", "n1"), pod("b", "n2", claiming("data"), byNamespace(togetherWith("app", "a")))
	for name, test := range map[string]struct {
		asked []*corev1.Pod
		all   []corev1.Pod
		want  int
	}{
		"nothing":                        {[]*corev1.Pod{&plain}, []corev1.Pod{plain}, 0},
		"namespaces that others select":  {[]*corev1.Pod{&plain}, []corev1.Pod{plain, with}, 1},
		"and what its volumes depend on": {[]*corev1.Pod{&plain, &with}, []corev1.Pod{plain, with}, 8},
	} {
		if got := feasibility.Needed(slices.Values(test.asked), test.all); len(got) != test.want {
			t.Errorf("%s: %T", name, got)
		}
	}
}
