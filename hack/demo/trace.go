package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/report/text"
	"loadline.dev/loadline/pkg/trace"
)

const (
	namespace = "openb"
	// gpuMilli is the extended resource by which pods get thousandths of GPUs.
	gpuMilli = "openb.test/gpu-milli"
	// shapeLabel tells pods of one shape, gpusLabel nodes of one class.
	shapeLabel, gpusLabel = "openb.test/shape", "openb.test/gpus"
)

// inputs is what is placed, and on what: jobs and nodes of the openb trace. Each
// job becomes a pod.
type inputs struct {
	jobs  []trace.Job
	nodes []trace.OpenbNode
}

func readTrace(dir string, o *options) (*inputs, error) {
	in := &inputs{}
	const podsFile, nodesFile = "openb_pod_list_first_2000.csv", "openb_node_list_all_node.csv"
	file, err := os.Open(filepath.Join(dir, podsFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for job, err := range trace.Jobs(podsFile, file, trace.Options{Format: trace.Openb}) {
		if err != nil {
			return nil, err
		}
		if in.jobs = append(in.jobs, job); len(in.jobs) == o.pods {
			break
		}
	}
	nodes, err := os.Open(filepath.Join(dir, nodesFile))
	if err != nil {
		return nil, err
	}
	defer nodes.Close()
	number := 0
	for node, err := range trace.OpenbNodes(nodesFile, nodes) {
		if err != nil {
			return nil, err
		}
		if number%o.every == 0 {
			in.nodes = append(in.nodes, node)
		}
		number++
	}
	return in, nil
}

func (in *inputs) describe() {
	cores, gpus := int64(0), 0
	for _, n := range in.nodes {
		cores += n.CPUMilli / 1000
		gpus += n.GPUs
	}
	fmt.Printf(`
2. A production trace, placed by kube-scheduler and by Loadline

The first %s pods of the openb trace (a Kubernetes GPU cluster) that ever ran, created
at once, on %d of its nodes: %s cores and %s GPUs, on a real API server, with KWOK in
the place of kubelets. The trace tells what pods request, not how they spend their time.
Their loading vectors are derived so: a pod that requests g GPUs by m thousandths is
at a GPU for m/1000 of its time, with g threads; the rest of the time it keeps the
CPUs busy that it requests, with a thread per core. This leaves out: pods that use
less than they request, disk, network and memory bandwidth, when pods come and go,
and that a pod is tied to the GPUs it was given.

`, text.Count(int64(len(in.jobs))), len(in.nodes), text.Count(cores), text.Count(int64(gpus)))
}

// resources are those of the derived jobs, in the order of vectors.
var resources = []string{"cpu", "gpu"}

// vector returns the loading vector of a job.
func vector(job trace.Job) contention.Vector {
	v := make(contention.Vector, len(resources))
	for _, d := range job.Demands {
		loading := d.Seconds / job.Neutral
		v[slices.Index(resources, d.Resource)] = contention.Demand{Loading: loading, Pressure: loading, Threads: d.Threads}
	}
	return v
}

// shape names the vector of a job, as cpu-0.540000x6-gpu-0.460000x1 does: jobs of
// one shape have one profile.
func shape(job trace.Job) string {
	var parts []string
	for i, d := range vector(job) {
		if d.Loading > 0 {
			parts = append(parts, fmt.Sprintf("%s-%sx%d", resources[i], decimals(d.Loading), d.Threads))
		}
	}
	return strings.Join(parts, "-")
}

func decimals(loading float64) string { return strconv.FormatFloat(loading, 'f', 6, 64) }

// servers returns how many servers a node has at cpu and gpu. A node without
// GPUs gets one, which no pod uses.
func servers(n trace.OpenbNode) []int {
	return []int{int(max(1, n.CPUMilli/1000)), max(1, n.GPUs)}
}

// workloadProfiles returns a profile for each shape of jobs.
func (in *inputs) workloadProfiles() []*v1alpha1.WorkloadProfile {
	var profiles []*v1alpha1.WorkloadProfile
	seen := map[string]bool{}
	for _, job := range in.jobs {
		name := shape(job)
		if seen[name] {
			continue
		}
		seen[name] = true
		profile := &v1alpha1.WorkloadProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       v1alpha1.WorkloadProfileSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{shapeLabel: name}}},
		}
		for i, d := range vector(job) {
			if d.Loading == 0 {
				continue
			}
			profile.Spec.Resources = append(profile.Spec.Resources, v1alpha1.ResourceDemand{
				Name:    resources[i],
				Loading: new(resource.MustParse(decimals(d.Loading))),
				Threads: new(int32(d.Threads)),
			})
		}
		profiles = append(profiles, profile)
	}
	return profiles
}

// nodeProfiles returns a profile for each class of nodes: by their GPUs.
func (in *inputs) nodeProfiles() []*v1alpha1.NodeProfile {
	var gpus []int
	for _, n := range in.nodes {
		if n.GPUs > 0 && !slices.Contains(gpus, n.GPUs) {
			gpus = append(gpus, n.GPUs)
		}
	}
	var profiles []*v1alpha1.NodeProfile
	for _, n := range gpus {
		profiles = append(profiles, &v1alpha1.NodeProfile{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("gpus-%d", n)},
			Spec: v1alpha1.NodeProfileSpec{
				Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{gpusLabel: strconv.Itoa(n)}},
				Resources: []v1alpha1.ResourceServers{{Name: "gpu", Servers: new(int32(n))}},
			},
		})
	}
	return profiles
}

// kubernetesNodes returns the nodes as objects.
func (in *inputs) kubernetesNodes() []*corev1.Node {
	nodes := make([]*corev1.Node, len(in.nodes))
	for i, n := range in.nodes {
		nodes[i] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{gpusLabel: strconv.Itoa(n.GPUs)}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(n.CPUMilli, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(n.MemoryMiB<<20, resource.BinarySI),
				corev1.ResourcePods:   resource.MustParse("110"),
				gpuMilli:              *resource.NewQuantity(int64(n.GPUs)*1000, resource.DecimalSI),
			}},
		}
	}
	return nodes
}

// kubernetesPods returns the jobs as pods for one of the schedulers.
func (in *inputs) kubernetesPods(scheduler string) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(in.jobs))
	for i, job := range in.jobs {
		needs := requirements(job)
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: job.Name, Labels: map[string]string{shapeLabel: shape(job)}},
			Spec: corev1.PodSpec{
				SchedulerName: scheduler,
				Containers:    []corev1.Container{{Name: "main", Image: "openb.test/none", Resources: needs}},
			},
		}
	}
	return pods
}

// requirements returns what a job requests as a pod does.
func requirements(job trace.Job) corev1.ResourceRequirements {
	needs := corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
	for _, r := range job.Requests {
		switch thousandths := int64(math.Round(r.Amount * 1000)); r.Resource {
		case "cpu":
			needs.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(thousandths, resource.DecimalSI)
		case "memory":
			needs.Requests[corev1.ResourceMemory] = *resource.NewQuantity(int64(r.Amount), resource.BinarySI)
		case "gpu":
			needs.Requests[gpuMilli] = *resource.NewQuantity(thousandths, resource.DecimalSI)
			needs.Limits = corev1.ResourceList{gpuMilli: needs.Requests[gpuMilli]} // as for every extended resource
		}
	}
	return needs
}
