package pools

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/model/sizing"
)

// Classes returns the classes of a plan as the model takes them, and the
// order in which pools take their jobs. The error is that of [Plan].
func Classes(in Input) ([]sizing.Class, sizing.Discipline, error) {
	p, err := newPlanner(&in)
	if err != nil {
		return nil, 0, err
	}
	return p.classes, p.options.Discipline, nil
}

// exactly returns the number that is nearest to a quantity. The quantity's own
// approximation makes 0.9500000000000001 of 0.95.
func exactly(q *resource.Quantity) float64 {
	value, err := strconv.ParseFloat(digits(q), 64)
	if err != nil {
		return q.AsApproximateFloat64()
	}
	return value
}

// digits writes a quantity as a plain number: 1.2, where its own way is 1200m.
func digits(q *resource.Quantity) string {
	decimal := q.DeepCopy() // which asking for its digits changes
	return decimal.AsDec().String()
}
