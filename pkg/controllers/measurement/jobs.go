package measurement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// The times of a step.
const (
	// lead is how long a probe runs before the target begins, tail how long it goes
	// on after the target is expected to have ended.
	lead, tail = 5 * time.Second, 5 * time.Second
	// settle is how much of the time around the target's is left out, while pods
	// are made and removed.
	settle = time.Second
	// startUp is how long a pod may take until its processes begin. It has run alone
	// before, so that its image is there.
	startUp = 8 * time.Second
	// check is how long a probe looks whether it keeps its resource busy, and
	// checkRequests how long one that waits for it does: it counts requests, of which
	// slow resources serve few, and what it finds scales the dilations of all rounds.
	check, checkRequests = 2 * time.Second, 10 * time.Second
	// slack is added to what Jobs may take, for their pods to end.
	slack = time.Minute
	// longest is how long a probe can run.
	longest = time.Hour
	// margin is by how much a target may take longer than expected.
	margin = 1.2
	// mostInflation is how many times longer a target is expected to compute beside a standard job that presses on it.
	mostInflation = 2
	// longer is by how much a probe runs longer for each time before that it ended
	// before the target did.
	longer = 1.5
)

// minWeight is the CPU that a probe asks for beside a target that asks for none,
// in thousandths: it is the least weight of the kernel.
const minWeight = 2

// Roles of Jobs within a step.
const (
	roleTarget = "target"
	roleProbe  = "probe"
)

// run is a Job of a step.
type run struct {
	role string
	job  *batchv1.Job
	// later Jobs are applied once the probe has run for a while.
	later bool
}

// stepRuns returns the Jobs of the current step. Their names follow from the status, and
// no other step, attempt or measurement has the same ones.
func (in *input) stepRuns() ([]run, error) {
	m, s := in.profile.Status.Measuring, in.current()
	placement := func(role, node string, deadline time.Duration) probejob.Placement {
		deadline = min(deadline, in.settings.budget+longest+slack)
		whole := fmt.Sprint(m.Question, m.StartTime.Unix(), m.NodeProfile, node)
		hash := sha256.Sum256([]byte(whole))
		key := fmt.Sprintf("%d-%s-%s-%d-%s", *m.Round, s.name(), role, attempts(m), hex.EncodeToString(hash[:3]))
		return probejob.Placement{
			Owner: in.profile, OwnerKind: v1alpha1.GroupVersion.WithKind("WorkloadProfile"),
			Namespace: in.profile.Namespace, Name: probejob.Name(in.profile, key), Node: node, Step: s.name(), Deadline: deadline,
		}
	}
	weight := in.weight()
	var runs []run
	if s.probes() {
		node := m.Node
		if s.kind == baseline {
			node = m.BaselineNode
		}
		r := in.probe(s, node)
		r.CPURequest = *resource.NewMilliQuantity(weight, resource.DecimalSI)
		runs = append(runs, run{role: roleProbe, job: probejob.New(placement(roleProbe, node, r.Check+r.Duration+slack), in.probes.Probe(r))})
	}
	if in.settings.target == nil || s.kind == baseline {
		return runs, nil
	}
	template := in.template.DeepCopy()
	ask(&template.Spec, weight)
	if err := in.probes.Observe(template); err != nil {
		return nil, err
	}
	deadline := time.Duration(float64(in.settings.timeout)*in.dilation(s)) + slack
	target := func(role string) *batchv1.Job { return probejob.New(placement(role, m.Node, deadline), *template) }
	if s.kind == copies {
		for i := range s.copies {
			role := fmt.Sprintf("%s-%d", roleTarget, i+1)
			runs = append(runs, run{role: role, job: target(role)})
		}
		return runs, nil
	}
	runs = append(runs, run{role: roleTarget, job: target(roleTarget), later: s.probes()})
	return in.repeat(runs, target), nil
}

// attempts returns how many attempts at the current step were lost.
func attempts(m *v1alpha1.MeasurementProgress) int32 { return ptr.Deref(m.Attempts, 0) }

// dilation returns how many times longer than alone a target may take in a step.
func (in *input) dilation(s *step) float64 {
	switch s.kind {
	case copies:
		return float64(s.copies) * margin
	case pressing:
		return mostInflation * margin
	case beside:
		return (1 + float64(s.resource.Threads)/float64(in.servers(s.resource))) * margin
	default:
		return 1
	}
}

// servers returns how many requests a resource serves at once where the
// measurement takes place.
func (in *input) servers(r *probed) int {
	n := in.node(in.profile.Status.Measuring.Node)
	if n == nil {
		return 1
	}
	return max(1, n.servers[r.Name])
}

// probe returns what the probe of a step does.
func (in *input) probe(s *step, node string) probejob.Run {
	m := in.profile.Status.Measuring
	r := probejob.Run{Job: s.resource.Job, Intensity: in.servers(s.resource), Peer: s.resource.Peer, Pressure: float64(s.percent) / 100}
	if s.kind == pressing {
		r.Intensity = 1 // a thread on another core
		r.Size = *resource.NewQuantity(int64(s.resource.MebiBytes)<<20, resource.BinarySI)
	}
	if n := in.node(node); n != nil && s.kind == baseline {
		r.Intensity = max(1, n.servers[s.resource.Name])
	}
	if in.checks(s) {
		r.Check = check
		if s.resource.waits() {
			r.Check = checkRequests
		}
	}
	if in.settings.target == nil {
		r.Duration = in.settings.timeout
		return r
	}
	expected, short := expectedTime(m.Samples), 0
	for i := range m.Samples {
		if m.Samples[i].Step == s.name() && m.Samples[i].TargetNanos == nil {
			short++
		}
	}
	runs := runsOf(time.Duration(expected))
	expected *= in.dilation(s) * float64(runs)
	for range short {
		expected *= longer
	}
	r.Duration = min(longest, lead+startUp+time.Duration(expected).Round(time.Second)+time.Duration(runs-1)*turnover+tail)
	return r
}

// expectedTime returns how long the target took alone when it did last, once, in
// nanoseconds.
func expectedTime(samples []v1alpha1.MeasurementSample) float64 {
	last := 0.0
	for i := range samples {
		if s := &samples[i]; s.Step == "alone" && s.TargetNanos != nil {
			last = float64(*s.TargetNanos)
		}
	}
	return last
}

// weight returns the CPU that the probe and each copy of the target ask for, in
// thousandths: as much as the workload does, so that they weigh the same, or as much
// as fits on the node for each of them.
func (in *input) weight() int64 {
	m := in.profile.Status.Measuring
	n := in.node(m.Node)
	if in.settings.target == nil {
		if n == nil {
			return minWeight
		}
		return max(minWeight, n.weight)
	}
	weight := requested(&in.template.Spec)
	if n != nil && n.looked {
		at := int64(2)
		if in.settings.copies {
			at = 3
		}
		// Each observer asks for a little, too.
		weight = min(weight, n.room()/at-1)
	}
	return max(minWeight, weight)
}

// requested returns the CPU that a pod asks for, in thousandths. A limit without a
// request is one.
func requested(spec *corev1.PodSpec) int64 {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			if limit, ok := r.Limits[corev1.ResourceCPU]; ok && r.Requests.Cpu().IsZero() {
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				r.Requests[corev1.ResourceCPU] = limit
			}
		}
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	return requests.Cpu().MilliValue()
}

// ask lowers what the containers of a pod ask for, in proportion, if together they
// ask for more than so much CPU, in thousandths.
func ask(spec *corev1.PodSpec, most int64) {
	total := requested(spec)
	if total <= most {
		return
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			own := r.Requests.Cpu().MilliValue()
			if limit, ok := r.Limits[corev1.ResourceCPU]; ok && own == 0 {
				own = limit.MilliValue()
			}
			if own == 0 {
				continue
			}
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(max(1, own*most/total), resource.DecimalSI)
		}
	}
}
