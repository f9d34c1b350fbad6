package profile_test

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// requesting is a container that requests so much of each resource.
func requesting(requests map[corev1.ResourceName]string) corev1.Container {
	c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}
	for name, amount := range requests {
		c.Resources.Requests[name] = resource.MustParse(amount)
	}
	return c
}

func cpu(amount string) corev1.Container {
	return requesting(map[corev1.ResourceName]string{corev1.ResourceCPU: amount})
}

// limited is a container with a CPU request and a CPU limit.
func limited(request, limit string) corev1.Container {
	c := cpu(request)
	c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	return c
}

func TestAPodWithoutAProfileGetsItsVectorFromItsRequests(t *testing.T) {
	t.Parallel()
	gpuRule := config.RequestRule{Resource: "gpu", Request: "nvidia.com/gpu", PerThread: 1, Utilization: 0.5}
	halfCores := config.RequestRule{Resource: "cpu", Request: corev1.ResourceCPU, PerThread: 0.5, Utilization: 0.8, Minimum: 0.1}
	tests := map[string]struct {
		rules []config.RequestRule // cpuRule where none are given
		spec  corev1.PodSpec
		want  loading.Vector // cpu, disk, network, memory-bandwidth, llc, gpu
	}{
		"a core is one thread": {
			spec: corev1.PodSpec{Containers: []corev1.Container{cpu("1")}},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"half a core is one thread, half busy": {
			spec: corev1.PodSpec{Containers: []corev1.Container{cpu("500m")}},
			want: loading.Vector{{Loading: 0.5, Pressure: 0.5, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"two and a half cores are three threads": {
			spec: corev1.PodSpec{Containers: []corev1.Container{cpu("2500m")}},
			want: loading.Vector{{Loading: 2.5 / 3, Pressure: 2.5 / 3, Threads: 3}, {}, {}, {}, {}, {}},
		},
		"no request is the minimum": {
			spec: corev1.PodSpec{Containers: []corev1.Container{{}}},
			want: loading.Vector{{Loading: 0.1, Pressure: 0.1, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"less than the minimum is the minimum": {
			spec: corev1.PodSpec{Containers: []corev1.Container{cpu("1m")}},
			want: loading.Vector{{Loading: 0.1, Pressure: 0.1, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"the minimum is within the limit": {
			spec: corev1.PodSpec{Containers: []corev1.Container{limited("30m", "60m")}},
			want: loading.Vector{{Loading: 0.06, Pressure: 0.06, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"the smallest limit is 10m, as for a kubelet": {
			spec: corev1.PodSpec{Containers: []corev1.Container{limited("1m", "1m")}},
			want: loading.Vector{{Loading: 0.01, Pressure: 0.01, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"a container without a limit leaves the pod without one": {
			spec: corev1.PodSpec{Containers: []corev1.Container{limited("30m", "60m"), {}}},
			want: loading.Vector{{Loading: 0.1, Pressure: 0.1, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"containers add up": {
			spec: corev1.PodSpec{Containers: []corev1.Container{cpu("1"), cpu("1")}},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: 2}, {}, {}, {}, {}, {}},
		},
		"an init container counts where it asks for more than the rest": {
			spec: corev1.PodSpec{InitContainers: []corev1.Container{cpu("4")}, Containers: []corev1.Container{cpu("1")}},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: 4}, {}, {}, {}, {}, {}},
		},
		"a sidecar adds to the rest": {
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{func() corev1.Container {
					c := cpu("2")
					c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
					return c
				}()},
				Containers: []corev1.Container{cpu("1")},
			},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: 3}, {}, {}, {}, {}, {}},
		},
		"overhead adds to the rest": {
			spec: corev1.PodSpec{
				Overhead:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
				Containers: []corev1.Container{cpu("1500m")},
			},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: 2}, {}, {}, {}, {}, {}},
		},
		"the request of the whole pod goes before those of its containers": {
			spec: corev1.PodSpec{
				Resources:  &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
				Containers: []corev1.Container{cpu("1")},
			},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: 2}, {}, {}, {}, {}, {}},
		},
		"half a core to a thread, used by four fifths": {
			rules: []config.RequestRule{halfCores},
			spec:  corev1.PodSpec{Containers: []corev1.Container{cpu("1")}},
			want:  loading.Vector{{Loading: 0.8, Pressure: 0.8, Threads: 2}, {}, {}, {}, {}, {}},
		},
		"an extended resource": {
			rules: []config.RequestRule{gpuRule},
			spec:  corev1.PodSpec{Containers: []corev1.Container{requesting(map[corev1.ResourceName]string{"nvidia.com/gpu": "2"})}},
			want:  loading.Vector{{}, {}, {}, {}, {}, {Loading: 0.5, Pressure: 0.5, Threads: 2}},
		},
		"an extended resource that is not requested": {
			rules: []config.RequestRule{cpuRule, gpuRule},
			spec:  corev1.PodSpec{Containers: []corev1.Container{cpu("1")}},
			want:  loading.Vector{{Loading: 1, Pressure: 1, Threads: 1}, {}, {}, {}, {}, {}},
		},
		"loadings of more than 1 are scaled down to 1": {
			rules: []config.RequestRule{cpuRule, gpuRule},
			spec: corev1.PodSpec{Containers: []corev1.Container{
				requesting(map[corev1.ResourceName]string{corev1.ResourceCPU: "4", "nvidia.com/gpu": "1"}),
			}},
			want: loading.Vector{{Loading: 2. / 3, Pressure: 2. / 3, Threads: 4}, {}, {}, {}, {}, {Loading: 1. / 3, Pressure: 1. / 3, Threads: 1}},
		},
		"a resource that no NodeProfile names": {
			rules: []config.RequestRule{cpuRule, {Resource: "tape", Request: corev1.ResourceCPU, PerThread: 1, Utilization: 1}},
			spec:  corev1.PodSpec{Containers: []corev1.Container{cpu("1")}},
			want:  loading.Vector{{Loading: 0.5, Pressure: 0.5, Threads: 1}, {}, {}, {}, {}, {}, {Loading: 0.5, Pressure: 0.5, Threads: 1}},
		},
		"more threads than the model takes": {
			spec: corev1.PodSpec{Containers: []corev1.Container{cpu("1M")}},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: profile.MaxThreads}, {}, {}, {}, {}, {}},
		},
		"a request beyond all numbers": {
			spec: corev1.PodSpec{Containers: []corev1.Container{cpu("1e400")}},
			want: loading.Vector{{Loading: 1, Pressure: 1, Threads: profile.MaxThreads}, {}, {}, {}, {}, {}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := test.rules
			if rules == nil {
				rules = []config.RequestRule{cpuRule}
			}
			x := profile.NewIndex(rules, logr.Discard())
			x.OnAdd(machines("gpu-node", servers("gpu", 8)), true)
			got := x.Snapshot().Vector(&corev1.Pod{Spec: test.spec})
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
				t.Errorf("unexpected vector (-want +got):\n%s", diff)
			}
			if err := got.Validate(); err != nil {
				t.Errorf("the model refuses the vector: %v", err)
			}
		})
	}
}

// In binary 9m / 3m is a hair more than 3: neither may that make a fourth
// thread, nor may a real hair more be lost.
func TestARequestOfWholeThreadsHasThatManyThreads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		milli := rapid.Int64Range(1, 100_000).Draw(t, "milli cores to a thread")
		threads := rapid.Int64Range(1, 1000).Draw(t, "threads")
		more := rapid.Int64Range(0, 1).Draw(t, "milli cores more")
		perThread := resource.NewMilliQuantity(milli, resource.DecimalSI).AsApproximateFloat64()
		x := profile.NewIndex([]config.RequestRule{{Resource: "cpu", Request: corev1.ResourceCPU, PerThread: perThread, Utilization: 1}}, logr.Discard())

		request := resource.NewMilliQuantity(milli*threads+more, resource.DecimalSI)
		container := corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *request}}}
		got := x.Snapshot().Vector(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}})
		if want := int(threads + more); got[0].Threads != want {
			t.Fatalf("%d threads of %dm request %dm: got %d threads, want %d", threads, milli, milli*threads+more, got[0].Threads, want)
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("the model refuses the vector: %v", err)
		}
	})
}
