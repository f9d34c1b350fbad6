package explain_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/clitest"
)

// Two nodes, and on the first a static pod, one of a volume, and one that has a port of the node for which another waits.
const (
	twoPlaces = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1}}, status: {allocatable: {cpu: "1", pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: node-2, labels: {kubernetes.io/hostname: node-2}}, status: {allocatable: {cpu: "1", pods: "110"}}}
- apiVersion: v1
  kind: Pod
  metadata:
    {name: etcd-node-1, namespace: kube-system, annotations: {kubernetes.io/config.mirror: abc}, ownerReferences: [{apiVersion: v1, kind: Node, name: node-1, uid: a, controller: true}]}
  spec: {nodeName: node-1, containers: [{name: main, resources: {requests: {cpu: 100m}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: db-0, namespace: shop}
  spec:
    nodeName: node-1
    containers: [{name: main, resources: {requests: {cpu: 100m}}}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]
- apiVersion: v1
  kind: Pod
  metadata: {name: router-0, namespace: shop}
  spec: {nodeName: node-1, containers: [{name: main, ports: [{containerPort: 80, hostPort: 80}]}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: router-1, namespace: shop}
  spec: {nodeSelector: {kubernetes.io/hostname: node-1}, containers: [{name: main, ports: [{containerPort: 80, hostPort: 80}]}]}
  status: {phase: Pending}
`
	claimOfDB = `---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-0, namespace: shop}, spec: {volumeName: pv-1}}
`
	volumeOnNode1 = `---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  local: {path: /data}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-1]}]}]}}
`
)

func TestExplainSaysInTheSchedulersWordsWhereAPodMayNotGo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files, pod string
		want       []string
	}{
		"a static pod": {twoPlaces, "kube-system/etcd-node-1", []string{
			"does not fit: it is a static pod, which the kubelet of node-1 runs: no scheduler places it\n", "No other node fits.\n",
		}},
		"a host port": {twoPlaces, "shop/router-1", []string{
			"does not fit: node(s) didn't have free ports for the requested pod ports\n", "does not fit: node(s) didn't match Pod's node affinity/selector\n", "No node fits.\n",
		}},
		"a volume that is not in the files": {twoPlaces + claimOfDB, "shop/db-0", []string{
			"not known to fit: PersistentVolume pv-1 of PersistentVolumeClaim shop/data-db-0 is not known\n", "No other node is known to fit. Of 1 node it is not known.\n",
		}},
		"a volume of its node": {twoPlaces + claimOfDB + volumeOnNode1, "shop/db-0", []string{
			"does not fit: node(s) didn't match PersistentVolume's node affinity\n", "No other node fits.\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, test.files, "explain", "pod", test.pod, "-f", "-", "--nodes")
			for _, want := range test.want {
				if code != 0 || !strings.Contains(stdout, want) {
					t.Errorf("exit code %d, errors %q, want %q in\n%s", code, stderr, want, stdout)
				}
			}
		})
	}
}

// A pod that is not there yet is not said to fit where that is not known.
func TestASimulatedPodIsNotPromisedANode(t *testing.T) {
	t.Parallel()
	const manifest = `apiVersion: v1
kind: Pod
metadata: {name: db-1, namespace: shop}
spec:
  containers: [{name: main, resources: {requests: {cpu: 100m}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-1}}]
`
	code, stdout, stderr := clitest.Run(t, manifest, "explain", "--simulate", "-", "-f", clitest.WriteFile(t, "cluster.yaml", twoPlaces))
	if code != 1 || !strings.HasPrefix(stdout, "shop/db-1 is not known to fit any node.\n") || stderr != "Error: no node is known to fit\n" ||
		strings.Count(stdout, "not known to fit: PersistentVolumeClaim shop/data-db-1 is not known\n") != 2 {
		t.Errorf("exit code %d, errors %q:\n%s", code, stderr, stdout)
	}
}

// In a cluster, explain lists the objects that volumes depend on where the pod has volumes; objects that the user may not
// list are unknown.
func TestExplainListsWhatVolumesDependOn(t *testing.T) {
	t.Parallel()
	db := clitest.SortPod("db-0", corev1.PodRunning)
	db.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-db-0"}}}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "data-db-0"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-1"}}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-1", Labels: map[string]string{corev1.LabelTopologyZone: "a"}}}
	zone := func(objects []client.Object) []client.Object {
		for _, o := range objects {
			if node, is := o.(*corev1.Node); is {
				node.Labels = map[string]string{corev1.LabelTopologyZone: map[string]string{"worker-1": "a"}[node.Name]}
			}
		}
		return objects
	}
	objects := zone(append(append(clitest.Installed(), clitest.EtlCluster()...), db, claim, volume))
	code, stdout, stderr := clitest.NewServer(t, objects...).Ask(t, "explain", "pod", "db-0", "--nodes")
	if want := "does not fit: node(s) had no available volume zone\n"; code != 0 || stderr != "" || !strings.Contains(stdout, want) {
		t.Errorf("exit code %d, errors %q, want %q in\n%s", code, stderr, want, stdout)
	}
	code, stdout, stderr = clitest.NewServer(t, objects...).Refuse("/api/v1/persistentvolumes").Ask(t, "explain", "pod", "db-0", "--nodes")
	if want := "not known to fit: PersistentVolume pv-1 of PersistentVolumeClaim etl/data-db-0 is not known\n"; code != 0 || !strings.Contains(stdout, want) ||
		!strings.Contains(stderr, "where pods may go that depend on them is not known") {
		t.Errorf("exit code %d, errors %q, want %q in\n%s", code, stderr, want, stdout)
	}
	code, _, stderr = clitest.NewServer(t, objects...).Refuse("/api/v1/persistentvolumes", "/api/v1/persistentvolumeclaims").Ask(t, "explain", "pod", "sort-0", "--nodes")
	if code != 0 || stderr != "" {
		t.Errorf("of a pod without volumes: exit code %d, errors %q", code, stderr)
	}
}
