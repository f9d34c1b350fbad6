package evaluate

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/fit"
)

// DeviceProfiles are the vectors of a fit as profiles: a class of nodes with a device, and the jobs that share it.
type DeviceProfiles struct {
	Node      v1alpha1.NodeProfile
	Workloads []v1alpha1.WorkloadProfile
}

// DeviceProfiles returns the vectors of the fit as profiles of jobs that share a device in some way, as they did where they
// were measured.
func (a *FitAnswer) DeviceProfiles(device string, sharing v1alpha1.DeviceSharing) (*DeviceProfiles, error) {
	return DeviceProfilesOf(a.result, device, sharing)
}

// company is for how many of the job that presses hardest the curves go on.
const company = 16

// DeviceProfilesOf returns the vectors of a fit as profiles, see [FitAnswer.DeviceProfiles].
//
// A job with sensitivities s and pressures q at the resources of a fit is dilated λ = 1 + s·Σq, which is what a job is that
// is at the device all the time and has the curve 1 + s_i·x at each interference resource i of it. The names of these
// include the way of sharing, so that a profile can hold the vectors of several. Corrections of a fit are not part of them.
//
// The error says that the fit is none of the first order, that two jobs get the same name, or what is wrong with the device.
func DeviceProfilesOf(result *fit.Result, device string, sharing v1alpha1.DeviceSharing) (*DeviceProfiles, error) {
	if problems := validation.IsDNS1035Label(device); len(problems) > 0 {
		return nil, fmt.Errorf("device: %q: %s", device, problems[0])
	}
	way, known := map[v1alpha1.DeviceSharing]string{v1alpha1.SharingTimeSliced: "turns", v1alpha1.SharingConcurrent: "concurrent"}[sharing]
	if !known {
		return nil, fmt.Errorf("sharing: %q is not %s or %s: the jobs of a run shared a device", sharing, v1alpha1.SharingTimeSliced, v1alpha1.SharingConcurrent)
	}
	if first := (fit.FirstOrder{}).Name(); result.Solver != first {
		return nil, fmt.Errorf("solver: the vectors are those of the %s, and the curves of profiles are those of the %s", result.Solver, first)
	}
	all := &DeviceProfiles{Node: nodeWith(device, way, sharing, result.Resources)}
	names := map[string]string{}
	for _, job := range result.Jobs {
		name := labelOf(job.Name)
		if other, again := names[name]; again || name == "" {
			return nil, fmt.Errorf("job %q: its profile would be called %q, as that of %q: rename it", job.Name, name, other)
		}
		names[name] = job.Name
		w := v1alpha1.WorkloadProfile{TypeMeta: typeMeta("WorkloadProfile"), ObjectMeta: metav1.ObjectMeta{Name: name}}
		w.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		w.Spec.Resources = []v1alpha1.ResourceDemand{{Name: device, Loading: Fraction(1)}}
		for i, resource := range all.Node.Spec.Devices[0].Interference {
			w.Spec.Interference = append(w.Spec.Interference, interferenceOf(string(resource), job.Sensitivity[i].Value, job.Pressure[i].Value, hardest(result, i)))
		}
		all.Workloads = append(all.Workloads, w)
	}
	return all, nil
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind}
}

// nodeWith returns a class of nodes with one device that is shared in a way, at the resources of a fit.
func nodeWith(device, way string, sharing v1alpha1.DeviceSharing, resources []string) v1alpha1.NodeProfile {
	n := v1alpha1.NodeProfile{TypeMeta: typeMeta("NodeProfile"), ObjectMeta: metav1.ObjectMeta{Name: device + "-" + way}}
	n.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"example.com/devices": n.Name}}
	kind := v1alpha1.NodeDevices{Name: v1alpha1.DeviceResource(device), Count: new(int32(1)), Sharing: sharing}
	for _, resource := range resources {
		kind.Interference = append(kind.Interference, v1alpha1.DeviceResource(n.Name+"-"+labelOf(resource)))
	}
	n.Spec.Devices = []v1alpha1.NodeDevices{kind}
	return n
}

// hardest returns the largest pressure of a job at a resource of a fit.
func hardest(result *fit.Result, resource int) float64 {
	pressure := 0.0
	for _, job := range result.Jobs {
		pressure = max(pressure, job.Pressure[resource].Value)
	}
	return pressure
}

// interferenceOf returns what a job with a sensitivity and a pressure has to do with a resource. Its curve is a line as far
// as the company goes, or as profiles can say.
func interferenceOf(name string, sensitivity, pressure, hardest float64) v1alpha1.Interference {
	i := v1alpha1.Interference{Name: name, Pressure: Fraction(pressure)}
	end := min(company*hardest, contention.MaxPressure)
	if most := contention.MaxInflation - 1.0; sensitivity*end > most {
		end = most / sensitivity
	}
	// What would be written as 0 is none.
	if written := math.Round(end*1e6) / 1e6; written > 0 && sensitivity*written >= 1e-6 {
		i.Curve = []v1alpha1.CurvePoint{{Pressure: Fraction(written), Inflation: Fraction(1 + sensitivity*written)}}
	}
	return i
}

var notOfLabels = regexp.MustCompile(`[^a-z0-9]+`)

// labelOf returns the name of a job as one of Kubernetes: "LM (batch size 10)" is lm-batch-size-10.
func labelOf(name string) string {
	label := strings.Trim(notOfLabels.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.TrimRight(label[:min(len(label), validation.DNS1035LabelMaxLength)], "-")
}
