package size

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/trace"
)

// recorded sets the arrival rates of classes to those of recorded jobs, and returns warnings: arrivals that come in bursts, where
// the answer takes them to come at random.
func (f *planFlags) recorded(spec *v1alpha1.PoolPlanSpec) (warnings []string, err error) {
	for _, text := range f.arrivals {
		class, path, err := classValue(spec, text, "checkout=lastweek.csv")
		if err != nil {
			return nil, fmt.Errorf("--arrivals %s: %w", text, err)
		}
		within := int64(0)
		if class.SLA != nil && class.SLA.ResponseTimeMillis != nil {
			within = *class.SLA.ResponseTimeMillis
		}
		v, err := variationOf(path, float64(within)/1000)
		if err != nil {
			return nil, fmt.Errorf("--arrivals %s: %w", text, err)
		}
		class.Arrival = &v1alpha1.ClassArrival{RatePerSecond: resource.NewScaledQuantity(int64(math.Round(1e9*v.Rate)), resource.Nano)}
		if v.Bursty() {
			warnings = append(warnings, fmt.Sprintf(
				"the arrivals of %s come in bursts: how many there are in %.3gs varies %.1f times as much as of arrivals at random, for which the answer is (scv of the times between them: %.1f); it takes more servers than this",
				class.Name, v.Window, v.Dispersion, v.SCV))
		}
	}
	return warnings, nil
}

// variationOf returns how the jobs of a trace arrive, in windows of the given length in seconds or longer.
func variationOf(path string, atLeast float64) (v arrivals.Variation, err error) {
	file, name, err := input.Open(path, nil)
	if err != nil {
		return v, err
	}
	format := trace.CSV
	if strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".swf") {
		format = trace.SWF
	}
	millis, err := replays.GapsOf(trace.Jobs(name, file, trace.Options{Format: format}))
	if err := errors.Join(err, file.Close()); err != nil {
		return v, err
	}
	gaps := make([]float64, len(millis))
	for i, gap := range millis {
		gaps[i] = float64(gap) / 1000
	}
	v, err = arrivals.VariationOf(gaps, atLeast)
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}
