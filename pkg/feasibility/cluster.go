package feasibility

import (
	"fmt"
	"iter"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/volume"
	apidefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
)

// Cluster holds the objects that the filters read.
type Cluster struct {
	// Nodes and Pods are all of them. Of a name that is there twice, the last one counts.
	Nodes []corev1.Node
	Pods  []corev1.Pod
	// Others are the other objects that the filters read, as far as they are known: namespaces, PersistentVolumeClaims,
	// PersistentVolumes, StorageClasses, CSINodes, CSIDrivers, CSIStorageCapacities and VolumeAttachments. Objects of more kinds are
	// left out.
	Others []runtime.Object
}

// List is a list of objects of one kind.
type List interface {
	runtime.Object
	metav1.ListInterface
}

// Needed returns an empty list of each kind of other objects that the filters look at where it is asked about some of all pods.
func Needed(asked iter.Seq[*corev1.Pod], all []corev1.Pod) (lists []List) {
	for i := range all {
		if selectsNamespaces(&all[i]) {
			lists = append(lists, &corev1.NamespaceList{})
			break
		}
	}
	for pod := range asked {
		if hasClaims(pod) {
			return append(lists, &corev1.PersistentVolumeClaimList{}, &corev1.PersistentVolumeList{}, &storagev1.StorageClassList{}, &storagev1.CSINodeList{},
				&storagev1.CSIDriverList{}, &storagev1.CSIStorageCapacityList{}, &storagev1.VolumeAttachmentList{})
		}
	}
	return lists
}

func hasClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil })
}

// informer returns that of the kind of an object, nil for one that the filters do not look at.
func informer(factory informers.SharedInformerFactory, object runtime.Object) toolscache.SharedIndexInformer {
	core, storage := factory.Core().V1(), factory.Storage().V1()
	switch object.(type) {
	case *corev1.Namespace:
		return core.Namespaces().Informer()
	case *corev1.PersistentVolumeClaim:
		return core.PersistentVolumeClaims().Informer()
	case *corev1.PersistentVolume:
		return core.PersistentVolumes().Informer()
	case *storagev1.StorageClass:
		return storage.StorageClasses().Informer()
	case *storagev1.CSINode:
		return storage.CSINodes().Informer()
	case *storagev1.CSIDriver:
		return storage.CSIDrivers().Informer()
	case *storagev1.CSIStorageCapacity:
		return storage.CSIStorageCapacities().Informer()
	case *storagev1.VolumeAttachment:
		return storage.VolumeAttachments().Informer()
	default:
		return nil
	}
}

// store puts the other objects into the stores of informers, from where the plugins read them.
func (c *Cluster) store(factory informers.SharedInformerFactory) (*known, error) {
	for _, object := range c.Others {
		of := informer(factory, object)
		if of == nil {
			continue
		}
		if claim, is := object.(*corev1.PersistentVolumeClaim); is {
			object = bound(claim)
		}
		if err := of.GetStore().Add(object); err != nil {
			return nil, fmt.Errorf("keeping what the scheduler's filters look at: %w", err)
		}
	}
	return newKnown(factory), nil
}

// bound returns a claim that names its volume with the annotation by which the scheduler takes it for bound. The API server's have
// it; one that was written by hand may not.
func bound(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	if claim.Spec.VolumeName == "" || claim.Status.Phase == corev1.ClaimPending || claim.Annotations[volume.AnnBindCompleted] != "" {
		return claim
	}
	said := claim.DeepCopy()
	if said.Annotations == nil {
		said.Annotations = map[string]string{}
	}
	said.Annotations[volume.AnnBindCompleted] = "yes"
	return said
}

// placement returns the nodes with the pods that take up something there.
func (c *Cluster) placement() *placement {
	known := make(map[string]bool, len(c.Nodes))
	var all []*corev1.Node
	for i := range c.Nodes {
		if n := &c.Nodes[i]; n.Name != "" {
			all = append(all, roomy(n))
			known[n.Name] = true
		}
	}
	last := make(map[types.NamespacedName]int, len(c.Pods))
	for i := range c.Pods {
		last[keyOf(&c.Pods[i])] = i
	}
	var running []*corev1.Pod
	for i := range c.Pods {
		if p := &c.Pods[i]; known[p.Spec.NodeName] && !cgroup.Ended(p) && last[keyOf(p)] == i {
			running = append(running, defaulted(p))
		}
	}
	return placed(running, all)
}

// roomy returns a node that takes any number of pods, where it does not say how many: one that was written by hand.
func roomy(node *corev1.Node) *corev1.Node {
	if _, says := node.Status.Allocatable[corev1.ResourcePods]; says {
		return node
	}
	said := node.DeepCopy()
	if said.Status.Allocatable == nil {
		said.Status.Allocatable = corev1.ResourceList{}
	}
	said.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(math.MaxInt32, resource.DecimalSI)
	return said
}

// defaulted returns a pod with the defaults of the API server, such as host ports in the network of the host. A pod that comes from
// there has them.
func defaulted(pod *corev1.Pod) *corev1.Pod {
	if pod.Spec.RestartPolicy != "" {
		return pod
	}
	said := pod.DeepCopy()
	apidefaults.SetObjectDefaults_Pod(said)
	return said
}
