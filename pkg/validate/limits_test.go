package validate_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/config"
)

func TestWhatThePolicyOfLimitsWouldRefuseIsAWarning(t *testing.T) {
	t.Parallel()
	const manifest = `spec:
  selector: {matchLabels: {app: job}}
  resources: [{name: disk, loading: "0.1"}, {name: cpu, loading: "0.5", threads: 1024}]
  sla: {maxDilation: 1}
  importance: 11
`
	const at = "a.yaml:%: warning: WorkloadProfile job: "
	want := []string{
		at + "spec.sla.maxDilation: 1 is less than 1.05: by default the policy limits.loadline.dev refuses that, and the scheduler counts it as that",
		at + "spec.importance: 11 is more than 10: by default the policy limits.loadline.dev refuses that, and the scheduler counts it as that",
	}
	got := check(t, workload("job", manifest))
	for i, line := range got {
		file, rest, _ := strings.Cut(line, ": ")
		got[i] = file[:strings.LastIndex(file, ":")] + ":%: " + rest
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected findings (-want +got):\n%s", diff)
	}
	within := strings.NewReplacer("maxDilation: 1", `maxDilation: "1.05"`, "11", "10").Replace(manifest)
	if got := check(t, workload("job", within)); len(got) > 0 {
		t.Errorf("within the limits: %q", got)
	}
}

// The limits of the policy that is shipped are those of the scheduler's arguments, and those of which check warns: see above.
func TestThePolicyHasTheDefaultLimits(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../config/admission/limits.yaml")
	if err != nil {
		t.Fatal(err)
	}
	document, _, _ := strings.Cut(string(content), "\n---\n")
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := yaml.UnmarshalStrict([]byte(document), policy); err != nil {
		t.Fatal(err)
	}
	limits := map[string]float64{}
	for _, v := range policy.Spec.Variables {
		if number, err := strconv.ParseFloat(strings.Trim(v.Expression, "'"), 64); err == nil {
			limits[v.Name] = number
		}
	}
	args, err := config.LoadDilationArgs(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"minMaxDilation": args.Limits.MinMaxDilation, "maxImportance": args.Limits.MaxImportance, "maxThreads": 1024}
	if diff := cmp.Diff(want, limits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
