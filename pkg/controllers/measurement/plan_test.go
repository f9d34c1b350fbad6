package measurement

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestTheStepsOfARound(t *testing.T) {
	t.Parallel()
	unsaturatedDisk := []v1alpha1.MeasurementSample{{Round: new(int32(1)), Step: "beside-disk", SelfDilation: quantity(1.2)}}
	for name, test := range map[string]struct {
		of      *v1alpha1.WorkloadProfile
		round   int32
		samples []v1alpha1.MeasurementSample
		want    string
	}{
		"of a target":                       {filecomp(), 1, nil, "alone beside-cpu beside-disk"},
		"of a target, the next":             {filecomp(), 2, nil, "alone beside-disk beside-cpu"},
		"of a service":                      {filecomp(asService), 1, nil, "beside-cpu baseline-disk beside-disk"},
		"of copies":                         {filecomp(func(m *v1alpha1.Measurement) { m.Method = v1alpha1.MethodCopies }), 1, nil, "alone copies-2 copies-3 beside-cpu"},
		"of copies, the next":               {filecomp(func(m *v1alpha1.Measurement) { m.Method = v1alpha1.MethodCopies }), 2, nil, "alone copies-2 copies-3"},
		"without what was given up":         {filecomp(), 2, unsaturatedDisk, "alone beside-cpu"},
		"in which something was given up":   {filecomp(), 1, unsaturatedDisk, "alone beside-cpu beside-disk"},
		"of resources that the spec names":  {filecomp(only("network", "cpu")), 1, nil, "alone beside-network beside-cpu"},
		"of a service of one resource":      {filecomp(asService, only("cpu")), 3, nil, "beside-cpu"},
		"of three resources, the third one": {filecomp(only("a", "b", "c")), 3, nil, "alone beside-c beside-a beside-b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newSettings(test.of.Spec.Measurement, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, step := range s.steps(test.round, test.samples) {
				got = append(got, step.name())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("unexpected steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheDefaultsOfAMeasurement(t *testing.T) {
	t.Parallel()
	s, err := newSettings(filecomp().Spec.Measurement, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []probed{{Name: "cpu", Job: v1alpha1.ProbeCPU, Threads: 1}, {Name: "disk", Job: v1alpha1.ProbeDiskRead, Threads: 1}}
	if diff := cmp.Diff(want, s.resources); diff != "" {
		t.Errorf("unexpected resources (-want +got):\n%s", diff)
	}
	if s.timeout != defaultTimeout || s.rounds != 10 || s.minRounds() != 3 || s.method() != v1alpha1.MethodProbes {
		t.Errorf("unexpected settings: %+v", s)
	}
	if s, err = newSettings(filecomp(asService).Spec.Measurement, 0); err != nil || s.timeout != defaultProbeDuration {
		t.Errorf("a probe of a service runs for %v, want %v (%v)", s.timeout, defaultProbeDuration, err)
	}
}

func TestAProbeThatCountsRequestsChecksItselfLongerAndOnce(t *testing.T) {
	t.Parallel()
	in := newInput(filecomp(only(v1alpha1.ProbeCPU, v1alpha1.ProbeMemoryBandwidth, v1alpha1.ProbeNetwork)), nil, metav1.Time{})
	in.profile.Status.Measuring = &v1alpha1.MeasurementProgress{Round: new(int32(1))}
	var err error
	if in.settings, err = newSettings(in.profile.Spec.Measurement, 0); err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{v1alpha1.ProbeCPU: 2 * time.Second, v1alpha1.ProbeMemoryBandwidth: 2 * time.Second, v1alpha1.ProbeNetwork: 10 * time.Second}
	for i := range in.settings.resources {
		s := &step{kind: beside, resource: &in.settings.resources[i]}
		if got := in.probe(s, "node").Check; got != want[s.resource.Job] {
			t.Errorf("a probe of %s checks itself for %v, want %v", s.resource.Name, got, want[s.resource.Job])
		}
		later := newInput(in.profile.DeepCopy(), nil, metav1.Time{})
		later.settings = in.settings
		later.profile.Status.Measuring.Round = new(int32(2))
		later.profile.Status.Measuring.Samples = []v1alpha1.MeasurementSample{{Round: new(int32(1)), Step: s.name(), SelfDilation: quantity(2)}}
		if got := later.probe(s, "node").Check; got != 0 {
			t.Errorf("a probe of %s checks itself again for %v", s.resource.Name, got)
		}
	}
}

func TestAPodThatAsksForTooMuchAsksForLessInProportion(t *testing.T) {
	t.Parallel()
	cpu := func(text string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text)}
	}
	spec := func() *corev1.PodSpec {
		return &corev1.PodSpec{Containers: []corev1.Container{
			{Resources: corev1.ResourceRequirements{Requests: cpu("600m")}},
			{Resources: corev1.ResourceRequirements{Limits: cpu("200m")}}, // a limit without a request is one
			{},
		}}
	}
	if got := requested(spec()); got != 800 {
		t.Errorf("the pod asks for %d thousandths, want 800", got)
	}
	for most, want := range map[int64][]int64{400: {300, 100, 0}, 900: {600, 0, 0}} {
		pod := spec()
		limitRequests(pod, most)
		var got []int64
		for _, c := range pod.Containers {
			got = append(got, c.Resources.Requests.Cpu().MilliValue())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %d thousandths at most it asks for (-want +got):\n%s", most, diff)
		}
	}
}

func TestTheQuestionIsThatOfTheTemplateTheMeasurementAndTheServers(t *testing.T) {
	t.Parallel()
	ask := func(servers int, edit func(*v1alpha1.Measurement, *corev1.PodTemplateSpec)) string {
		m, template := filecomp().Spec.Measurement, targetJob().Spec.Template.DeepCopy()
		if edit != nil {
			edit(m, template)
		}
		question, err := condense(m, template, map[string]int{"disk": servers})
		if err != nil {
			t.Fatal(err)
		}
		return question
	}
	was := ask(1, nil)
	for name, test := range map[string]struct {
		servers int
		edit    func(*v1alpha1.Measurement, *corev1.PodTemplateSpec)
		same    bool
	}{
		"other servers":     {servers: 2},
		"another image":     {1, func(_ *v1alpha1.Measurement, p *corev1.PodTemplateSpec) { p.Spec.Containers[0].Image = "other" }, false},
		"another precision": {1, func(m *v1alpha1.Measurement, _ *corev1.PodTemplateSpec) { m.MaxRounds = new(int32(3)) }, false},
		"other labels":      {1, func(_ *v1alpha1.Measurement, p *corev1.PodTemplateSpec) { p.Labels["uid"] = "other" }, true},
		"another validity":  {1, func(m *v1alpha1.Measurement, _ *corev1.PodTemplateSpec) { m.ValidSeconds = new(int64(60)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if same := ask(test.servers, test.edit) == was; same != test.same {
				t.Errorf("it is the same question: %v, want %v", same, test.same)
			}
		})
	}
}

func TestQuantitiesHaveSixDigits(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{1.23456789: "1.23457", 0: "0", 123456.789: "123457", 0.000123456789: "0.000123457"} {
		if got := quantity(x); got.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("%v became %v, want %s", x, got, want)
		}
	}
}
