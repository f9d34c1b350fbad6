package measurement

import (
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/experiment"
)

// measuredInterference returns the result at an interference resource in the form of the status.
func measuredInterference(i experiment.Interference) v1alpha1.MeasuredInterference {
	all := v1alpha1.MeasuredInterference{Name: i.Name, Pressure: rounded(i.Pressure.Value)}
	if !math.IsInf(i.Pressure.Error, 1) {
		all.PressureError = rounded(reportedError(i.Pressure))
	}
	for k, inflation := range i.Sensitivity.Inflations {
		point := v1alpha1.MeasuredCurvePoint{
			Pressure: rounded(i.Sensitivity.Pressures[k]), Inflation: rounded(inflation.Value), Samples: new(int32(inflation.Samples)),
		}
		if !math.IsInf(inflation.Error, 1) {
			point.InflationError = rounded(reportedError(inflation))
		}
		all.Curve = append(all.Curve, point)
	}
	return all
}

// rounded returns a number with three decimals, more than any measurement has, so that
// people read 605m.
func rounded(x float64) *resource.Quantity {
	q := resource.MustParse(strconv.FormatFloat(x, 'f', 3, 64))
	return &q
}

// vector returns the result of a measurement in the form of the status.
func (p *concluded) vector(m *v1alpha1.MeasurementProgress, result experiment.Result, rounds int32) v1alpha1.MeasuredVector {
	v := v1alpha1.MeasuredVector{
		NodeProfile: m.NodeProfile, Node: m.Node, Time: new(p.now), Question: m.Question, Method: p.settings.method(), Rounds: new(rounds),
	}
	if n := result.Neutral; n.Taken() {
		v.NeutralMillis = new(int64(math.Round(n.Value / 1e6)))
		if !math.IsInf(n.Error, 1) {
			v.NeutralErrorMillis = new(int64(math.Ceil(n.Error / 1e6)))
		}
	}
	for _, c := range result.Components {
		r := &p.settings.resources[c.Index]
		l := v1alpha1.MeasuredLoading{
			Name: r.Name, Threads: new(int32(r.Threads)), Samples: new(int32(max(c.Loading.Samples, c.Pressure.Samples))),
			Loading: rounded(c.Loading.Value), Pressure: rounded(c.Pressure.Value),
		}
		if !math.IsInf(c.Loading.Error, 1) {
			l.LoadingError = rounded(reportedError(c.Loading))
		}
		if !math.IsInf(c.Pressure.Error, 1) {
			l.PressureError = rounded(reportedError(c.Pressure))
		}
		if c.Sensitivity.Taken() {
			l.Sensitivity = rounded(c.Sensitivity.Value)
			if !math.IsInf(c.Sensitivity.Error, 1) {
				l.SensitivityError = rounded(reportedError(c.Sensitivity))
			}
		}
		v.Resources = append(v.Resources, l)
	}
	for _, i := range result.Interference {
		v.Interference = append(v.Interference, measuredInterference(i))
	}
	return v
}
