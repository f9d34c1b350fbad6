package fits

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// DeviceProfiles are what a fit has learnt as profiles: a class of nodes with a device, and the jobs that share it.
type DeviceProfiles struct {
	Node      v1alpha1.NodeProfile
	Workloads []v1alpha1.WorkloadProfile
	// Loss is what the profiles cannot hold of the fit.
	Loss ProfileLoss
}

// ProfileLoss is how far predictions from the profiles of a fit are from its own, over the stated alone times.
type ProfileLoss struct {
	// Pairs is of all jobs beside each other one and a copy of itself, of more than 200 jobs of those that ran, and Larger of
	// the runs of three jobs and more that the fit was made from, absent if there are none.
	Pairs  Differences  `json:"pairs"`
	Larger *Differences `json:"larger,omitempty"`
}

// Differences are relative.
type Differences struct {
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
	Count int     `json:"count"`
}

func (d *Differences) add(is, want float64) {
	off := math.Abs(is/want - 1)
	d.Mean = (d.Mean*float64(d.Count) + off) / float64(d.Count+1)
	d.Worst = max(d.Worst, off)
	d.Count++
}

// DeviceProfiles returns the fit as profiles of jobs that share a device in some way, as they did where they were measured, and
// notes in the answer what these cannot hold.
func (a *Answer) DeviceProfiles(device string, sharing v1alpha1.DeviceSharing) (*DeviceProfiles, error) {
	all, err := DeviceProfilesOf(a.result, device, sharing)
	if err != nil {
		return nil, err
	}
	a.Profiles = &all.Loss
	return all, nil
}

const (
	// company is for how many of the job that presses hardest the curves go on.
	company = 16
	// mostInterference is how many interference resources a profile holds.
	mostInterference = 16
	// millionth is the precision of quantities.
	millionth = 1e-6
)

// DeviceProfilesOf returns a fit as profiles, see [Answer.DeviceProfiles].
//
// A job with sensitivities s and pressures q is dilated λ = 1 + s·Σq to first order, which is what a job is that is at the
// device all the time and has the curve 1 + s_i·x at each interference resource i of it. The vectors are those of
// [fit.Result.FirstOrder]: pairs are dilated as the fit predicts, its corrections included, and what pairs do adds up in larger
// company. The names of the resources include the way of sharing, so that a profile can hold the vectors of several.
//
// The error says that there are too many resources, that two jobs get the same name, or what is wrong with the device.
func DeviceProfilesOf(result *fit.Result, device string, sharing v1alpha1.DeviceSharing) (*DeviceProfiles, error) {
	way, known := map[v1alpha1.DeviceSharing]string{v1alpha1.SharingTimeSliced: "turns", v1alpha1.SharingConcurrent: "concurrent"}[sharing]
	if !known {
		return nil, fmt.Errorf("sharing: %q is not %s or %s: the jobs of a run shared a device", sharing, v1alpha1.SharingTimeSliced, v1alpha1.SharingConcurrent)
	}
	vectors, err := result.FirstOrder(mostInterference)
	if err != nil {
		return nil, err
	}
	all := &DeviceProfiles{Node: nodeWith(device, way, sharing, vectors.Resources)}
	if _, problems := profile.NewNodeClass(&all.Node); len(problems) > 0 {
		return nil, fmt.Errorf("device: %q: %s", device, problems[0].ErrorBody())
	}
	names := map[string]string{}
	for j, job := range result.Jobs {
		name := labelOf(job.Name)
		if other, again := names[name]; again || name == "" {
			return nil, fmt.Errorf("job %q: its profile would be called %q, as that of %q: rename it", job.Name, name, other)
		}
		names[name] = job.Name
		w := v1alpha1.WorkloadProfile{TypeMeta: typeMeta("WorkloadProfile"), ObjectMeta: metav1.ObjectMeta{Name: name}}
		w.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		w.Spec.Resources = []v1alpha1.ResourceDemand{{Name: device, Loading: profile.Fraction(1)}}
		for i, resource := range all.Node.Spec.Devices[0].Interference {
			w.Spec.Interference = append(w.Spec.Interference, interferenceOf(string(resource), vectors.Sensitivity[j][i], vectors.Pressure[j][i]))
		}
		if factor := vectors.Baseline[j]; math.Abs(factor-1) >= leastCorrection {
			w.Spec.NeutralCorrection = profile.Fraction(min(max(factor, profile.MinNeutralCorrection), profile.MaxNeutralCorrection))
		}
		all.Workloads = append(all.Workloads, w)
	}
	all.Loss = lossOf(result, all.Workloads)
	return all, nil
}

// leastCorrection is from which difference on an alone time is written as another one than was stated.
const leastCorrection = 2e-3

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

// interferenceOf returns what a job with a sensitivity and a pressure has to do with a resource at which the job that presses
// hardest presses with 1. Its curve is a line as far as the company goes, or as profiles can say.
func interferenceOf(name string, sensitivity, pressure float64) v1alpha1.Interference {
	i := v1alpha1.Interference{Name: name, Pressure: profile.Fraction(pressure)}
	end := float64(company)
	if most := loading.MaxInflation - 1.0; sensitivity*end > most {
		end = most / sensitivity
	}
	end = math.Floor(end/millionth) * millionth // as it is written, which must not go beyond the largest inflation
	if end > 0 && sensitivity*end >= millionth {
		i.Curve = []v1alpha1.CurvePoint{{Pressure: profile.Fraction(end), Inflation: profile.Fraction(min(1+sensitivity*end, loading.MaxInflation))}}
	}
	return i
}

// lossOf compares predictions from profiles, whose jobs are in the order of those of a fit, with its own.
func lossOf(result *fit.Result, workloads []v1alpha1.WorkloadProfile) (loss ProfileLoss) {
	place := map[string]int{}
	jobs := make([]jobOnDevice, len(workloads))
	for j := range workloads {
		place[result.Jobs[j].Name], jobs[j] = j, jobOf(&workloads[j])
	}
	runs := result.Predicted()
	if len(jobs) <= mostPaired {
		runs = slices.DeleteFunc(runs, func(r fit.Run) bool { return len(r.Members) == 2 })
		for j, row := range result.Pairs() {
			for k, dilation := range row {
				loss.Pairs.add(jobs[j].dilation(jobs[k])*jobs[j].correction, dilation*result.Jobs[j].Baseline.Value)
			}
		}
	}
	for _, run := range runs {
		for a, m := range run.Members {
			var others []jobOnDevice
			for _, other := range slices.Delete(slices.Clone(run.Members), a, a+1) {
				others = append(others, jobs[place[other.Job]])
			}
			differences := &loss.Pairs
			switch {
			case len(others) == 0:
				continue
			case len(others) > 1 && loss.Larger == nil:
				loss.Larger = &Differences{}
				fallthrough
			case len(others) > 1:
				differences = loss.Larger
			}
			j := place[m.Job]
			differences.add(jobs[j].dilation(others...)*jobs[j].correction, m.Dilation*result.Jobs[j].Baseline.Value)
		}
	}
	return loss
}

// jobOnDevice is what a profile says of a job that is at a device all the time.
type jobOnDevice struct {
	pressures  []float64
	curves     []loading.Curve
	correction float64
}

func jobOf(w *v1alpha1.WorkloadProfile) jobOnDevice {
	j := jobOnDevice{correction: 1}
	if w.Spec.NeutralCorrection != nil {
		j.correction = w.Spec.NeutralCorrection.AsApproximateFloat64()
	}
	for _, i := range w.Spec.Interference {
		j.pressures = append(j.pressures, i.Pressure.AsApproximateFloat64())
		var curve loading.Curve
		for _, p := range i.Curve {
			curve = append(curve, loading.Point{Pressure: p.Pressure.AsApproximateFloat64(), Inflation: p.Inflation.AsApproximateFloat64()})
		}
		j.curves = append(j.curves, curve)
	}
	return j
}

// dilation returns that of the job beside others at its device.
func (j jobOnDevice) dilation(others ...jobOnDevice) float64 {
	dilation := 1.0
	for i, curve := range j.curves {
		pressure := 0.0
		for _, other := range others {
			pressure += other.pressures[i]
		}
		dilation += curve.At(pressure) - 1
	}
	return dilation
}

var notOfLabels = regexp.MustCompile(`[^a-z0-9]+`)

// labelOf returns the name of a job as one of Kubernetes: "LM (batch size 10)" is lm-batch-size-10.
func labelOf(name string) string {
	label := strings.Trim(notOfLabels.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.TrimRight(label[:min(len(label), validation.DNS1035LabelMaxLength)], "-")
}
