package input

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/pkg/feasibility"
)

// volumes are the kinds that say on which nodes the volumes of a pod can be used.
var volumes = []Kind{
	ofVolumes[corev1.PersistentVolume](corev1.SchemeGroupVersion, "PersistentVolume"),
	ofVolumes[corev1.PersistentVolumeClaim](corev1.SchemeGroupVersion, "PersistentVolumeClaim"),
	ofVolumes[storagev1.StorageClass](storagev1.SchemeGroupVersion, "StorageClass"),
	ofVolumes[storagev1.CSINode](storagev1.SchemeGroupVersion, "CSINode"),
	ofVolumes[storagev1.CSIDriver](storagev1.SchemeGroupVersion, "CSIDriver"),
	ofVolumes[storagev1.CSIStorageCapacity](storagev1.SchemeGroupVersion, "CSIStorageCapacity"),
	ofVolumes[storagev1.VolumeAttachment](storagev1.SchemeGroupVersion, "VolumeAttachment"),
}

// ofVolumes returns a kind whose objects are added to [Objects.Volumes].
func ofVolumes[T any, P interface {
	*T
	runtime.Object
}](version schema.GroupVersion, name string) Kind {
	return Kind{version.WithKind(name), true, func(all *Objects, object *decode.Value, decoder *decode.Decoder) error {
		one := P(new(T))
		if err := decoder.Into(object, one); err != nil {
			return err
		}
		all.Volumes = append(all.Volumes, one)
		return nil
	}}
}

// Feasibility returns the filter of the nodes where pods may go, by the objects in the files.
func (o *Objects) Feasibility() (*feasibility.Filter, error) {
	cluster := &feasibility.Cluster{Nodes: o.Nodes, Pods: o.Pods, Others: slices.Clone(o.Volumes)}
	for i := range o.Namespaces {
		cluster.Others = append(cluster.Others, &o.Namespaces[i])
	}
	return feasibility.New(cluster)
}
