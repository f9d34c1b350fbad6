package disruption_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// cpu is what container main is to have, "" for what it has.
func cpu(request, limit string) []disruption.ContainerCPU {
	c := disruption.ContainerCPU{Container: "main"}
	if request != "" {
		c.Request = new(resource.MustParse(request))
	}
	if limit != "" {
		c.Limit = new(resource.MustParse(limit))
	}
	return []disruption.ContainerCPU{c}
}

// having has container main request and be limited to some CPU, and as much memory.
func having(request, limit string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources = resources(request, limit) }
}

// guaranteed has one core, and some memory.
func guaranteed(p *corev1.Pod) {
	having("1", "1")(p)
	for _, list := range []corev1.ResourceList{p.Spec.Containers[0].Resources.Requests, p.Spec.Containers[0].Resources.Limits} {
		list[corev1.ResourceMemory] = resource.MustParse("1Gi")
	}
}

// restarting restarts its containers to change their CPU.
func restarting(p *corev1.Pod) {
	p.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{
		{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.NotRequired}, {ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer},
	}
}

// reporting says what its container has, or nothing, as a kubelet does that cannot resize.
func reporting(r *corev1.ResourceRequirements) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Hour)}}, Resources: r}}
	}
}

func condition(kind corev1.PodConditionType, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Message: message})
	}
}

func TestWhichPodsMayBeResized(t *testing.T) {
	t.Parallel()
	other := func(p *corev1.Pod) { p.Spec.NodeName = "n2" }
	for name, test := range map[string]struct {
		pod  corev1.Pod
		cpus []disruption.ContainerCPU
		old  bool // the API server
		want disruption.Verdict
	}{
		"a higher request":        {pod: pod("web-1"), cpus: cpu("500m", "")},
		"a lower limit":           {pod: pod("web-1", having("250m", "1")), cpus: cpu("", "500m")},
		"a first limit":           {pod: pod("web-1"), cpus: cpu("", "1")},
		"as its kubelet says":     {pod: pod("web-1", reporting(new(resources("250m", "")))), cpus: cpu("500m", "")},
		"a pod that has ended":    {pod: pod("web-1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), cpus: cpu("500m", ""), want: disruption.Verdict{Refused: "it has ended"}},
		"a pod that is too young": {pod: pod("web-1", func(p *corev1.Pod) { p.Status.StartTime = new(ago(time.Minute)) }), cpus: cpu("500m", ""), want: disruption.Verdict{Refused: "it started 60s ago: no pod is disrupted in its first 5m"}},
		"a static pod": {
			pod: pod("web-1", annotated(corev1.MirrorPodAnnotationKey, "abc")), cpus: cpu("500m", ""),
			want: disruption.Verdict{Refused: "it is a static pod: the file on n1 has its resources"},
		},
		"a pod of Windows": {
			pod: pod("web-1", func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }), cpus: cpu("500m", ""),
			want: disruption.Verdict{Refused: "it is a pod of Windows, which is not resized in place"},
		},
		"a pod with resources of its own": {
			pod: pod("web-1", func(p *corev1.Pod) { p.Spec.Resources = new(resources("1", "")) }), cpus: cpu("500m", ""),
			want: disruption.Verdict{Refused: "it has resources of the pod as a whole, which not every cluster resizes in place"},
		},
		"on an API server that cannot": {
			pod: pod("web-1"), cpus: cpu("500m", ""), old: true,
			want: disruption.Verdict{Refused: "the API server does not offer pods/resize: Kubernetes 1.35 and later do, 1.33 and 1.34 unless it is turned off"},
		},
		"on a kubelet that cannot": {
			pod: pod("web-1", reporting(nil)), cpus: cpu("500m", ""), want: disruption.Verdict{Refused: "the kubelet of n1 does not resize pods in place"},
		},
		"while another resize waits": {
			pod: pod("web-1", condition(corev1.PodResizePending, "Node didn't have enough resource: cpu")), cpus: cpu("500m", ""),
			want: disruption.Verdict{Refused: "a resize of it is pending: Node didn't have enough resource: cpu"},
		},
		"during another resize": {
			pod: pod("web-1", condition(corev1.PodResizeInProgress, "")), cpus: cpu("500m", ""), want: disruption.Verdict{Refused: "a resize of it is in progress"},
		},
		"of no change":              {pod: pod("web-1"), cpus: cpu("0.25", ""), want: disruption.Verdict{Refused: "its CPU requests and limits are already so"}},
		"of an unknown container":   {pod: pod("web-1"), cpus: []disruption.ContainerCPU{{Container: "?"}}, want: disruption.Verdict{Refused: "it has no container ? that can be resized"}},
		"to a negative amount":      {pod: pod("web-1"), cpus: cpu("-1", ""), want: disruption.Verdict{Refused: "container main: a CPU request of -1 is below 0"}},
		"to more than the limit":    {pod: pod("web-1", having("250m", "1")), cpus: cpu("2", ""), want: disruption.Verdict{Refused: "container main: a CPU request of 2 is above the limit of 1"}},
		"below the request":         {pod: pod("web-1", having("500m", "1")), cpus: cpu("", "200m"), want: disruption.Verdict{Refused: "container main: a CPU request of 500m is above the limit of 200m"}},
		"out of Guaranteed":         {pod: pod("web-1", guaranteed), cpus: cpu("", "2"), want: disruption.Verdict{Refused: "its QoS class would change from Guaranteed to Burstable, which the API server refuses: change requests and limits together"}},
		"within Guaranteed":         {pod: pod("web-1", guaranteed, other), cpus: cpu("2", "2")},
		"Guaranteed on static CPUs": {pod: pod("web-1", guaranteed), cpus: cpu("2", "2"), want: disruption.Verdict{Refused: "the CPU manager policy of n1 is static, with which the kubelet resizes the CPU of no Guaranteed pod"}},
		"out of BestEffort":         {pod: pod("web-1", having("", "")), cpus: cpu("100m", ""), want: disruption.Verdict{Refused: "its QoS class would change from BestEffort to Burstable, which the API server refuses"}},
		"with a restart":            {pod: pod("web-1", restarting), cpus: cpu("500m", ""), want: disruption.Verdict{Restarts: []string{"main"}, Notes: []string{"container main restarts, by its resizePolicy for CPU"}}},
		"with a restart of work": {
			pod: worker(restarting, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = new(resources("250m", "")) }), cpus: cpu("500m", ""),
			want: disruption.Verdict{Restarts: []string{"main"}, LostSeconds: 1200, Notes: []string{"container main restarts, by its resizePolicy for CPU, and loses the work of 20m"}},
		},
		"of a sidecar": {pod: pod("web-1", sidecar("mesh", true)), cpus: []disruption.ContainerCPU{{Container: "mesh", Request: new(resource.MustParse("1"))}}},
		"of what only runs at first": {
			pod: pod("web-1", sidecar("init", false)), cpus: []disruption.ContainerCPU{{Container: "init", Request: new(resource.MustParse("1"))}},
			want: disruption.Verdict{Refused: "it has no container init that can be resized"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rules(t, disruption.Input{Pods: []corev1.Pod{test.pod}, NoResize: test.old, MinAge: 5 * time.Minute, StaticCPUs: sets.New("n1")})
			before := test.pod.DeepCopy()
			if diff := cmp.Diff(test.want, r.Resize(&test.pod, test.cpus)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, &test.pod); diff != "" {
				t.Errorf("the pod was changed:\n%s", diff)
			}
		})
	}
}

// sidecar has another container, which runs beside the others or before them.
func sidecar(name string, beside bool) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := corev1.Container{Name: name, Resources: resources("100m", "")}
		if beside {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
}

// vertical returns a VerticalPodAutoscaler for Deployment shop/web, with more lines in its spec.
func vertical(t *testing.T, lines string) disruption.VerticalPodAutoscaler {
	t.Helper()
	object := &unstructured.Unstructured{}
	text := `{apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {namespace: shop, name: web},
  spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}` + lines + "}}"
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	v, err := disruption.ReadVerticalPodAutoscaler(object)
	if err != nil {
		t.Fatal(err)
	}
	return *v
}

func TestAVerticalPodAutoscalerIsNotCountermanded(t *testing.T) {
	t.Parallel()
	const left = "VerticalPodAutoscaler shop/web sets the CPU of container main"
	for name, test := range map[string]struct{ lines, want string }{
		"without a mode":             {"", left},
		"with mode Auto":             {", updatePolicy: {updateMode: Auto}", left},
		"with mode Recreate":         {", updatePolicy: {updateMode: Recreate}", left},
		"in place":                   {", updatePolicy: {updateMode: InPlaceOrRecreate}", left},
		"turned off":                 {`, updatePolicy: {updateMode: "Off"}`, ""},
		"for new pods":               {", updatePolicy: {updateMode: Initial}", ""},
		"of memory":                  {`, resourcePolicy: {containerPolicies: [{containerName: "*", controlledResources: [memory]}]}`, ""},
		"of CPU":                     {`, resourcePolicy: {containerPolicies: [{containerName: "*", controlledResources: [cpu]}]}`, left},
		"of another container":       {`, resourcePolicy: {containerPolicies: [{containerName: "*"}, {containerName: main, mode: "Off"}]}`, ""},
		"of this container only":     {`, resourcePolicy: {containerPolicies: [{containerName: main}, {containerName: "*", mode: "Off"}]}`, left},
		"with limits for some other": {`, resourcePolicy: {containerPolicies: [{containerName: mesh, mode: "Off"}]}`, left},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pod("web-1")
			r := rules(t, disruption.Input{VerticalPodAutoscalers: []disruption.VerticalPodAutoscaler{vertical(t, test.lines), {}}})
			if got := r.Resize(&p, cpu("500m", "")).Refused; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	other := pod("other", of("ReplicaSet", "other"))
	if got := rules(t, disruption.Input{VerticalPodAutoscalers: []disruption.VerticalPodAutoscaler{vertical(t, "")}}).Resize(&other, cpu("500m", "")); got.Refused != "" {
		t.Errorf("of another Deployment: %s", got.Refused)
	}
}

func TestAVerticalPodAutoscalerThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "web"}, "spec": "?"}}
	if _, err := disruption.ReadVerticalPodAutoscaler(object); err == nil {
		t.Error("a spec that is a word is read")
	}
}

// horizontal returns a HorizontalPodAutoscaler for Deployment shop/web, by metrics.
func horizontal(metrics ...autoscalingv2.MetricSpec) []autoscalingv2.HorizontalPodAutoscaler {
	return []autoscalingv2.HorizontalPodAutoscaler{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, Metrics: metrics,
		},
	}}
}

func TestWhatAHorizontalPodAutoscalerMakesOfAResizeIsSaid(t *testing.T) {
	t.Parallel()
	target := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(60))}
	ofPod := autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: target}}
	ofContainer := func(name string) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: corev1.ResourceCPU, Container: name, Target: target}}
	}
	memory, amount := ofPod, ofPod
	memory.Resource = &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceMemory, Target: target}
	amount.Resource = &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("1"))}}
	const aims = "HorizontalPodAutoscaler shop/web aims at 60% of the CPU request: "
	for name, test := range map[string]struct {
		metrics []autoscalingv2.MetricSpec
		cpus    []disruption.ContainerCPU
		want    []string
	}{
		"a higher request":          {[]autoscalingv2.MetricSpec{memory, ofPod}, cpu("500m", ""), []string{aims + "with 600m instead of 350m, what this pod uses counts 0.58× as much"}},
		"a lower request":           {[]autoscalingv2.MetricSpec{ofPod}, cpu("75m", ""), []string{aims + "with 175m instead of 350m, what this pod uses counts 2.00× as much"}},
		"of its container":          {[]autoscalingv2.MetricSpec{ofContainer("main")}, cpu("500m", ""), []string{aims + "with 500m instead of 250m, what this pod uses counts 0.50× as much"}},
		"of another container":      {[]autoscalingv2.MetricSpec{ofContainer("mesh")}, cpu("500m", ""), nil},
		"of an amount of CPU":       {[]autoscalingv2.MetricSpec{amount}, cpu("500m", ""), nil},
		"of a limit only":           {[]autoscalingv2.MetricSpec{ofPod}, cpu("", "500m"), nil},
		"from one that is not said": {[]autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType}}, cpu("500m", ""), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pod("web-1", sidecar("mesh", true), sidecar("init", false))
			r := rules(t, disruption.Input{HorizontalPodAutoscalers: horizontal(test.metrics...)})
			if diff := cmp.Diff(disruption.Verdict{Notes: test.want}, r.Resize(&p, test.cpus)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A StatefulSet is found by its own name, and a target without a kind is none.
func TestAutoscalersAreFoundByWhatTheyScale(t *testing.T) {
	t.Parallel()
	v := disruption.VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}, Spec: disruption.VerticalPodAutoscalerSpec{
		TargetRef: &autoscalingv1.CrossVersionObjectReference{Kind: "StatefulSet", Name: "db"},
	}}
	p := pod("db-0", of("StatefulSet", "db"))
	r := rules(t, disruption.Input{VerticalPodAutoscalers: []disruption.VerticalPodAutoscaler{v}})
	if got, want := r.Resize(&p, cpu("500m", "")).Refused, "VerticalPodAutoscaler shop/db sets the CPU of container main"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
