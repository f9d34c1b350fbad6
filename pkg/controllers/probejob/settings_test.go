package probejob_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/controllers/probejob"
)

func TestPodsRunTheCommandThatTheyAreFor(t *testing.T) {
	t.Parallel()
	s := settings()
	tests := map[string]struct {
		template corev1.PodTemplateSpec
		want     string
	}{
		"a probe": {
			s.Probe(probejob.Run{Job: "cpu", Intensity: 2, Duration: 90 * time.Second}),
			"loadline-probe run --job cpu --intensity 2 --duration 1m30s",
		},
		"a probe that checks itself, of the disk": {
			s.Probe(probejob.Run{Job: "disk-read", Intensity: 1, Duration: time.Second, Check: 500 * time.Millisecond}),
			"loadline-probe run --job disk-read --intensity 1 --duration 1s --check 500ms --dir /var/lib/loadline/probe",
		},
		"a probe of the network": {
			s.Probe(probejob.Run{Job: "network", Intensity: 1, Duration: time.Second, Peer: "10.0.0.7:7070"}),
			"loadline-probe run --job network --intensity 1 --duration 1s --peer 10.0.0.7:7070",
		},
		"a probe of the memory, which leaves a quarter for all but two copies": {
			s.Probe(probejob.Run{Job: "memory-bandwidth", Intensity: 1, Duration: time.Second}),
			"loadline-probe run --job memory-bandwidth --intensity 1 --duration 1s --size 96Mi",
		},
		"a standard job that presses on memory": {
			s.Probe(probejob.Run{Job: "memory-read", Intensity: 1, Duration: time.Second, Pressure: 0.25}),
			"loadline-probe run --job memory-read --intensity 1 --duration 1s --pressure 0.25 --size 96Mi",
		},
		"a standard job that presses on a small cache": {
			s.Probe(probejob.Run{Job: "llc", Intensity: 1, Duration: time.Second, Pressure: 1, Size: resource.MustParse("8Mi")}),
			"loadline-probe run --job llc --intensity 1 --duration 1s --pressure 1 --size 8Mi",
		},
		"a standard job that streams through little memory": {
			s.Probe(probejob.Run{Job: "memory-write", Intensity: 1, Duration: time.Second, Pressure: 1, Size: resource.MustParse("64Mi")}),
			"loadline-probe run --job memory-write --intensity 1 --duration 1s --pressure 1 --size 64Mi",
		},
		"a calibration": {
			s.Calibrate("disk-write", "", 64, 2*time.Minute),
			"loadline-probe calibrate --job disk-write --max-servers 64 --budget 2m0s --dir /var/lib/loadline/probe",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(test.template.Spec.Containers[0].Command, " "); got != test.want {
				t.Errorf("the command is\n%s, want\n%s", got, test.want)
			}
		})
	}
}

func TestProbesMeetTheRestrictedStandardAndSeeNothingOfTheAPI(t *testing.T) {
	t.Parallel()
	spec := settings().Probe(probejob.Run{Job: "disk-write", Intensity: 1, Duration: time.Second, CPURequest: resource.MustParse("250m")}).Spec
	if *spec.AutomountServiceAccountToken || *spec.EnableServiceLinks || spec.HostNetwork || spec.HostPID || spec.HostIPC {
		t.Errorf("the pod sees more than it must: %+v", spec)
	}
	c := spec.Containers[0]
	if sc := c.SecurityContext; !*sc.RunAsNonRoot || *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem ||
		sc.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || sc.Capabilities.Drop[0] != "ALL" {
		t.Errorf("the security context is %+v", sc)
	}
	if c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
		t.Errorf("a probe that fails does not say why: %s", c.TerminationMessagePolicy)
	}
	ofAnyUser := settings()
	ofAnyUser.AnyUser = true
	chosen := ofAnyUser.Probe(probejob.Run{Job: "cpu", Intensity: 1, Duration: time.Second}).Spec.Containers[0].SecurityContext
	if *c.SecurityContext.RunAsUser != 65532 || chosen.RunAsUser != nil || chosen.RunAsGroup != nil || !*chosen.RunAsNonRoot {
		t.Errorf("a probe runs as the user %d, and where the cluster chooses, as %+v", *c.SecurityContext.RunAsUser, chosen)
	}
	want := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("256Mi")},
		Limits:   corev1.ResourceList{"memory": resource.MustParse("256Mi")},
	}
	if diff := cmp.Diff(want, c.Resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if limit := spec.Volumes[0].EmptyDir.SizeLimit; limit == nil || limit.Cmp(resource.MustParse("1Gi")) > 0 {
		t.Errorf("the disk is limited to %v", limit)
	}
}

func TestAProbeOfNoWeightAsksForNoCPU(t *testing.T) {
	t.Parallel()
	c := settings().Probe(probejob.Run{Job: "cpu", Intensity: 1, Duration: time.Second}).Spec.Containers[0]
	if cpu, asks := c.Resources.Requests[corev1.ResourceCPU]; asks {
		t.Errorf("it asks for %v", &cpu)
	}
}

func TestAnObserverIsTheLastToStartBeforeTheWorkload(t *testing.T) {
	t.Parallel()
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "prepare"}}, Containers: []corev1.Container{{Name: "work"}},
	}}
	if err := settings().Observe(&template); err != nil {
		t.Fatal(err)
	}
	spec := template.Spec
	last := spec.InitContainers[len(spec.InitContainers)-1]
	if len(spec.InitContainers) != 2 || last.Name != probejob.WatchContainer || *last.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Errorf("the init containers are %+v", spec.InitContainers)
	}
	if diff := cmp.Diff([]string{"loadline-probe", "watch"}, last.Command); diff != "" {
		t.Errorf("the observer's command (-want +got):\n%s", diff)
	}
	if !*spec.ShareProcessNamespace || *last.SecurityContext.RunAsUser == 0 {
		t.Errorf("the processes are shared: %v, the observer is user %d", *spec.ShareProcessNamespace, *last.SecurityContext.RunAsUser)
	}
	if spec.Containers[0].TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
		t.Error("a workload that fails does not say why")
	}
}

func TestPodsThatCannotBeObservedAreRefusedAndLeftAsTheyAre(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"a pod that sees the node's processes": {corev1.PodSpec{HostPID: true}, "hostPID: true lets the observer see the processes of the whole node"},
		"a pod that is observed already": {
			corev1.PodSpec{InitContainers: []corev1.Container{{Name: probejob.WatchContainer}}}, `a container is named "loadline-watch"`,
		},
		"a container with the observer's name": {
			corev1.PodSpec{Containers: []corev1.Container{{Name: probejob.WatchContainer}}}, `a container is named "loadline-watch"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := corev1.PodTemplateSpec{Spec: *test.spec.DeepCopy()}
			err := settings().Observe(&template)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %v lacks %q", err, test.want)
			}
			if diff := cmp.Diff(test.spec, template.Spec); diff != "" {
				t.Errorf("the template was changed (-before +after):\n%s", diff)
			}
		})
	}
}
