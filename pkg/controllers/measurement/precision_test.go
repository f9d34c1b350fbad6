package measurement

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/experiment"
	"loadline.dev/loadline/pkg/model/probing"
)

// measuredAs is the result of one resource; an error of 0 is not known.
func measuredAs(name string, loading, loadingError, pressure, pressureError float64) v1alpha1.MeasuredLoading {
	l := v1alpha1.MeasuredLoading{Name: name, Loading: rounded(loading), Pressure: rounded(pressure)}
	if loadingError > 0 {
		l.LoadingError = rounded(loadingError)
	}
	if pressureError > 0 {
		l.PressureError = rounded(pressureError)
	}
	return l
}

func TestWhatIsImpreciseIsNamedWithItsNumbers(t *testing.T) {
	t.Parallel()
	const remedy = ": raise maxRounds or budgetSeconds, or measure a target that runs longer"
	for name, test := range map[string]struct {
		resources []v1alpha1.MeasuredLoading
		precision string
		want      string
	}{
		"nothing": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.58, 0.02, 0.6, 0.03), measuredAs("disk", 0.41, 0.03, 0.4, 0.01)},
			"0.03",
			"cpu 0.58 ± 0.02, disk 0.41 ± 0.03 on node worker-1 after 5 rounds",
		},
		"the pressure, and not the loading": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.94, 0.04, 0.98, 0.07)},
			"0.05",
			"cpu 0.94 ± 0.04 on node worker-1 after 5 rounds; the pressure of cpu, 0.98 ± 0.07, is less precise than ± 0.05" + remedy,
		},
		"a loading whose error rounds to what was asked for": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.94, 0.051, 0.98, 0.05)},
			"0.05",
			"cpu 0.94 ± 0.05 on node worker-1 after 5 rounds; the loading of cpu, 0.940 ± 0.051, is less precise than ± 0.050" + remedy,
		},
		"several": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.5, 0.06, 0.5, 0.07), measuredAs("disk", 0.4, 0.01, 0.4, 0.08)},
			"0.05",
			"cpu 0.50 ± 0.06, disk 0.40 ± 0.01 on node worker-1 after 5 rounds; " +
				"the loading of cpu, 0.50 ± 0.06, and the pressure of cpu, 0.50 ± 0.07, and the pressure of disk, 0.40 ± 0.08, are less precise than ± 0.05" + remedy,
		},
		"a service, whose pressure is its loading": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.3, 0.06, 0.3, 0.06)},
			"0.03",
			"cpu 0.30 ± 0.06 on node worker-1 after 5 rounds; the loading of cpu, 0.30 ± 0.06, is less precise than ± 0.03" + remedy,
		},
		"an error that is not known": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.3, 0, 0.3, 0)},
			"0.03",
			"cpu 0.30 ± unknown on node worker-1 after 5 rounds; the loading of cpu, 0.30 ± unknown, is less precise than ± 0.03" + remedy,
		},
		"a precision of four decimals": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.3, 0.031, 0.3, 0.03)},
			"0.0309",
			"cpu 0.30 ± 0.03 on node worker-1 after 5 rounds; the loading of cpu, 0.3000 ± 0.0310, is less precise than ± 0.0309" + remedy,
		},
		"nothing, where errors are small": {
			[]v1alpha1.MeasuredLoading{measuredAs("cpu", 0.3, 0.004, 0.3, 0.001)},
			"0.03",
			"cpu 0.300 ± 0.004 on node worker-1 after 5 rounds",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := filecomp(func(m *v1alpha1.Measurement) { m.Precision = new(resource.MustParse(test.precision)) })
			settings, err := newSettings(p.Spec.Measurement, 0)
			if err != nil {
				t.Fatal(err)
			}
			m := v1alpha1.MeasuredVector{NodeProfile: "(none)", Node: "worker-1", Rounds: new(int32(5)), Resources: test.resources}
			got, imprecise := (&results{task: &task{settings: settings}}).describe([]v1alpha1.MeasuredVector{m}, []string{"(none)"})
			if got != test.want || imprecise != strings.Contains(test.want, "less precise") {
				t.Errorf("imprecise: %v; it says\n%s, want\n%s", imprecise, got, test.want)
			}
		})
	}
}

// Whatever is called less precise prints as less precise, and no error prints as none.
func TestNumbersThatDifferLookDifferent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		precision := float64(rapid.IntRange(10, 9999).Draw(t, "ten thousandths")) / 10000
		value := rapid.Float64Range(0, 1).Draw(t, "value")
		raw := probing.Estimate{Value: value, Samples: 5, Error: rapid.Float64Range(1e-9, 2).Draw(t, "error")}
		err := reportedError(raw)
		if err < raw.Error-1e-9 || err > raw.Error+0.001 {
			t.Fatalf("an error of %v is reported as %v", raw.Error, err)
		}
		if _, printed, _ := strings.Cut((interval{value, err}).String(), " ± "); strings.Trim(printed, "0.") == "" {
			t.Fatalf("an error of %v prints as %s", err, printed)
		}
		result := experiment.Result{Components: []experiment.Component{{Resource: probing.Resource{Loading: raw, Pressure: raw}}}}
		if (&settings{precision: precision, rounds: 3}).precise(result, 3) == wider(err, precision) {
			t.Fatalf("an error of %v is precise enough for %v before it is reported, or after, and not both", raw.Error, precision)
		}
		if !wider(err, precision) {
			return
		}
		text := lessPrecise([]shortfall{{"it", interval{value, err}}}, precision)
		parts := strings.Split(text, "± ")
		if want := strconv.FormatFloat(precision, 'f', -1, 64); !strings.HasPrefix(parts[2], want) {
			t.Fatalf("a precision of %s prints as %s", want, parts[2])
		}
		if got, limit := strings.TrimSuffix(parts[1], ", is less precise than "), parts[2]; got <= limit {
			t.Fatalf("an error of %v for a precision of %v prints %s", err, precision, text)
		}
	})
}

func TestAnUnknownErrorIsWiderThanAny(t *testing.T) {
	t.Parallel()
	if got := (interval{0.5, math.Inf(1)}).String(); got != "0.50 ± unknown" || !wider(math.Inf(1), 1) {
		t.Errorf("it prints %s", got)
	}
}
