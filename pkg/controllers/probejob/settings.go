package probejob

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/probe/result"
)

// Names of containers.
const (
	// ProbeContainer is the container of a pod that runs a standard job. Its
	// termination message is a report.Run, or a report.Calibration.
	ProbeContainer = "loadline-probe"
	// WatchContainer is the observer beside a workload. Its termination message is
	// a report.Watch.
	WatchContainer = "loadline-watch"
)

// What a pod looks like from inside.
const (
	program = "loadline-probe"
	dataDir = "/var/lib/loadline/probe"
	// nonRoot is the user and group of the pods.
	nonRoot = 65532
)

// Settings are the images and resources of probes.
type Settings struct {
	// Image is the container image. It has loadline-probe on its PATH.
	Image string
	// Memory is the memory request and limit of each probe, above 0. A disk job needs 2 MiB of it for each
	// request at once, and those of memory three quarters, for two copies: the more, the larger the caches
	// may be.
	Memory resource.Quantity
	// MaxParallel is how many nodes of the cluster are measured on at once, at
	// least 1.
	MaxParallel int
	// MaxTime is how long the measurement of a class of nodes may take, whatever its budget;
	// 0 for no limit.
	MaxTime time.Duration
	// Namespace is where calibrations run. Probes of a workload run in the
	// workload's.
	Namespace string
	// AnyUser leaves the user of probes and observers to the cluster, as OpenShift's restricted-v2 requires.
	AnyUser bool
}

// Run describes the work of a probe.
type Run struct {
	// Job is the standard job, one of result.Jobs.
	Job string
	// Intensity is how many requests the job has at the resource at once, at
	// least 1.
	Intensity int
	// Duration is how long it runs, above 0.
	Duration time.Duration
	// Check is how long it first finds out whether it keeps the resource busy; 0
	// for not at all.
	Check time.Duration
	// Pressure is how hard the job of an interference resource presses, from above 0 to 1; 0 for other jobs.
	Pressure float64
	// Size is how much memory a job of an interference resource touches; 0 leaves it to the job.
	Size resource.Quantity
	// Peer is where the network job sends to, a host and a port.
	Peer string
	// CPURequest is the CPU that the pod asks for, and so its weight among others.
	// 0 asks for none.
	CPURequest resource.Quantity
}

// StandardJob returns the name of the standard job that keeps a resource busy: the one that the spec
// names, or that of the resource.
func StandardJob(r *v1alpha1.ProbedResource) string { return cmp.Or(r.Job, result.DefaultJob(r.Name)) }

// calibrationCPU is the CPU request of a calibration: it has the node to itself.
const calibrationCPU = "100m"

// Probe returns a pod that runs a standard job.
func (s *Settings) Probe(r Run) corev1.PodTemplateSpec {
	command := []string{program, "run", "--job", r.Job, "--intensity", strconv.Itoa(r.Intensity), "--duration", r.Duration.String()}
	if r.Pressure > 0 {
		command = append(command, "--pressure", strconv.FormatFloat(r.Pressure, 'f', -1, 64))
	}
	if r.Check > 0 {
		command = append(command, "--check", r.Check.String())
	}
	if r.Size.Sign() > 0 {
		command = append(command, "--size", r.Size.String())
	}
	return s.pod(command, r.Job, r.Peer, r.CPURequest)
}

// Calibrate returns a pod that finds how many requests the resource of a standard
// job serves at once, up to maxServers, within a budget of time.
func (s *Settings) Calibrate(job, peer string, maxServers int, budget time.Duration) corev1.PodTemplateSpec {
	command := []string{program, "calibrate", "--job", job, "--max-servers", strconv.Itoa(maxServers), "--budget", budget.String()}
	return s.pod(command, job, peer, resource.MustParse(calibrationCPU))
}

// pod returns a pod that keeps to the restricted security standard and has no
// access to the API.
func (s *Settings) pod(command []string, job, peer string, cpu resource.Quantity) corev1.PodTemplateSpec {
	requests := corev1.ResourceList{corev1.ResourceMemory: s.Memory}
	if cpu.Sign() > 0 {
		requests[corev1.ResourceCPU] = cpu
	}
	container := corev1.Container{
		Name:    ProbeContainer,
		Image:   s.Image,
		Command: command,
		// There is no CPU limit: a quota would hold the probe back, and that would
		// pass for waiting.
		Resources:       corev1.ResourceRequirements{Requests: requests, Limits: corev1.ResourceList{corev1.ResourceMemory: s.Memory}},
		SecurityContext: s.restricted(),
		// A probe that fails says why on its standard error.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
	}
	standard, _ := result.FindJob(job)
	if standard.File {
		container.Command = append(container.Command, "--dir", dataDir)
		container.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: dataDir}}
		spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			// As large as a file of a probe may be at most.
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1Gi"))},
		}}}
	}
	if standard.Streams && !slices.Contains(command, "--size") {
		container.Command = append(container.Command, "--size", s.copied().String())
	}
	if peer != "" {
		container.Command = append(container.Command, "--peer", peer)
	}
	spec.Containers = []corev1.Container{container}
	return corev1.PodTemplateSpec{Spec: spec}
}

// copied is how much memory a copy of a job that streams uses, within what
// loadline-probe takes.
func (s *Settings) copied() *resource.Quantity {
	const mebi, least, most = 1 << 20, 16, 512
	size := min(max(s.Memory.Value()/mebi*3/8, least), most)
	return resource.NewQuantity(size*mebi, resource.BinarySI)
}

// restricted returns the settings that the restricted Pod Security Standard requires of a container.
func (s *Settings) restricted() *corev1.SecurityContext {
	security := &corev1.SecurityContext{
		RunAsNonRoot:             new(true),
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if !s.AnyUser {
		security.RunAsUser, security.RunAsGroup = new(int64(nonRoot)), new(int64(nonRoot))
	}
	return security
}
