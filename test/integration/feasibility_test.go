package integration

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// misfits returns why explain says that a pod does not fit on nodes, by their names; "" where it fits, and what is not known.
func (p *place) misfits(t *testing.T, pod string) map[string]string {
	t.Helper()
	code, stdout, stderr := p.ask(t, "explain", "pod", pod, "-n", p.namespace, "--nodes", "-o", "json")
	var answer struct {
		Nodes []struct{ Node, DoesNotFit, Unknown string }
	}
	if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil {
		t.Fatalf("exit code %d: %s %v", code, stderr, err)
	}
	said := map[string]string{}
	for _, n := range answer.Nodes {
		said[n.Node] = n.DoesNotFit + n.Unknown
	}
	return said
}

// localVolume makes a volume that is on a node, and a claim that is bound to it.
func (p *place) localVolume(t *testing.T, claim, node string) {
	t.Helper()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	once := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	on := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	must(t, p.Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: p.namespace},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: once, StorageClassName: p.namespace, PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{on}}}}},
		},
	}))
	must(t, p.Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: claim, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: p.namespace, StorageClassName: &p.namespace, AccessModes: once, Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}))
}

// Whatever keeps a pod from a node, explain says it in the words of the scheduler that leaves the pod waiting; and it says that a
// pod fits which the scheduler then puts there.
func TestExplainSaysWhatTheSchedulerSays(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 2)
	open, cordoned := p.nodes[0], p.nodes[1]
	for _, name := range p.nodes {
		p.label(t, name, corev1.LabelHostname, name)
	}
	must(t, p.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: cordoned}}, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"unschedulable":true}}`))))
	p.localVolume(t, "data", cordoned)
	p.startScheduler(t, allDilation)

	port := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	}
	web := func(pod *corev1.Pod) { pod.Labels["tier"] = "web" }
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "web"}}
	resident := p.pod("resident", "resident")
	port(resident)
	web(resident)
	must(t, p.Create(t.Context(), resident))
	if said := p.misfits(t, "resident"); said[open] != "" {
		t.Errorf("a plain pod does not fit: %q", said)
	}
	if nodes := p.awaitBound(t, 1); nodes["resident"] != open {
		t.Fatalf("the scheduler puts it on %s", nodes["resident"])
	}
	for name, change := range map[string]func(*corev1.Pod){
		"hostport":    port,
		"hostnetwork": func(pod *corev1.Pod) { pod.Spec.HostNetwork = true; port(pod) },
		"antiaffinity": func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: selector, TopologyKey: corev1.LabelHostname}},
			}}
		},
		"spread": func(pod *corev1.Pod) {
			web(pod)
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector,
			}}
		},
		"volume": func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		},
	} {
		pod := p.pod(name, name)
		change(pod)
		must(t, p.Create(t.Context(), pod))
		message := p.awaitUnschedulable(t, name)
		said := p.misfits(t, name)
		for _, node := range p.nodes {
			if said[node] == "" || !strings.Contains(message, said[node]) {
				t.Errorf("%s: explain says of %s %q, and the scheduler says %q", name, node, said[node], message)
			}
		}
	}
}
