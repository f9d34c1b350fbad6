package explained

import (
	"fmt"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/text"
)

// deviceLines names the devices that the pod uses, the pods that share them, and the slowdown by these.
func deviceLines(e *explanation.Answer) (lines []string) {
	uses := "uses"
	if e.Simulation != nil {
		uses = "would use"
	}
	for _, d := range e.Devices {
		if len(d.With) == 0 {
			lines = append(lines, fmt.Sprintf("It %s %s, and no other pod does.", uses, d.Name))
		} else {
			lines = append(lines, fmt.Sprintf("It %s %s together with %s, because of which it takes %s as long.", uses, d.Name, text.Names(d.With), text.Times(1+waitsAt(e, d.Name))))
		}
		if d.Assumed {
			lines = append(lines, fmt.Sprintf("That is assumed: pods without the annotation %s are taken to use the device that has the fewest pods.", v1alpha1.DevicesAnnotation))
		}
	}
	for _, wrong := range e.IgnoredAnnotations {
		lines = append(lines, "Ignored: "+wrong+".")
	}
	return lines
}

// waitsAt returns the part of the pod's dilation that a device adds.
func waitsAt(e *explanation.Answer, device string) (waits float64) {
	for _, r := range e.Resources {
		if r.Device == device {
			waits += r.Waits
		}
	}
	return waits
}

// nameOf returns the name of a resource: that of the device at which the pod queues, or where it is shared without a queue,
// such as "gpu-bandwidth of gpu-0".
func nameOf(r *explanation.Resource) string {
	switch {
	case r.Device == "":
		return r.Name
	case r.Domains > 0:
		return r.Name + " of " + r.Device
	default:
		return r.Device
	}
}
