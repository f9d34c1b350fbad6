package replays

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// devicesOf returns which servers of a class of nodes are time-sliced devices, nil for none.
func (r *Replay) devicesOf(n *v1alpha1.ReplayNodes, servers map[string]int, path *field.Path) (*epochs.Devices, error) {
	sharing, err := sharingOf(n, r.profiles, path)
	if err != nil {
		return nil, err
	}
	var devices *epochs.Devices
	for _, name := range slices.Sorted(maps.Keys(sharing)) {
		path, how := path.Child("resources").Key(name), sharing[name]
		switch {
		case how == v1alpha1.SharingExclusive:
		case how != v1alpha1.SharingTimeSliced:
			return nil, field.NotSupported(path.Child("sharing"), how, []v1alpha1.DeviceSharing{v1alpha1.SharingExclusive, v1alpha1.SharingTimeSliced})
		case devices != nil:
			return nil, field.Invalid(path.Child("sharing"), how, "is that of a second kind of devices: replays know one that is shared")
		case servers[name] > loading.MaxDevices:
			return nil, field.Invalid(path.Child("servers"), servers[name], fmt.Sprintf("is more than %d devices", loading.MaxDevices))
		default:
			devices = &epochs.Devices{Resource: slices.Index(r.resources.Names(), name), Request: -1}
			if slices.ContainsFunc(n.Capacity, func(c v1alpha1.ReplayCapacity) bool { return c.Name == name }) {
				devices.Request = slices.Index(r.requests, name)
			}
		}
	}
	return devices, nil
}

// sharingOf returns how the devices of a class of nodes are shared, by their resource: as the spec says, else its profile.
func sharingOf(n *v1alpha1.ReplayNodes, profiles []*profile.NodeClass, path *field.Path) (map[string]v1alpha1.DeviceSharing, error) {
	sharing, counted := map[string]v1alpha1.DeviceSharing{}, map[string]bool{}
	for _, s := range n.Resources {
		counted[s.Name] = s.Servers != nil
		if s.Sharing != "" {
			sharing[s.Name] = s.Sharing
		}
	}
	i := slices.IndexFunc(profiles, func(p *profile.NodeClass) bool { return p.Name == n.NodeProfile })
	if n.NodeProfile == "" || i < 0 {
		return sharing, nil
	}
	for _, kind := range profiles[i].DeviceKinds() {
		switch {
		case sharing[kind.Name] != "":
		case len(kind.Interference) > 0:
			return nil, field.Invalid(path.Child("nodeProfile"), n.NodeProfile, fmt.Sprintf(
				"its %ss slow jobs down by curves, which replays do not know: say under resources that %s is TimeSliced or Exclusive", kind.Name, kind.Name))
		case kind.Count == 0 && !counted[kind.Name]:
			return nil, field.Required(path.Child("resources").Key(kind.Name).Child("servers"), "NodeProfile "+n.NodeProfile+" does not say how many there are")
		default:
			sharing[kind.Name] = kind.Sharing
		}
	}
	return sharing, nil
}
