package pools

import "k8s.io/apimachinery/pkg/api/resource"

// digits writes a quantity as a plain number: 1.2, where its own way is 1200m.
func digits(q *resource.Quantity) string {
	decimal := q.DeepCopy() // which asking for its digits changes
	return decimal.AsDec().String()
}
