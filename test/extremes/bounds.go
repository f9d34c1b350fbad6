package extremes

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// isQuantity reports whether a field is a resource.Quantity.
func isQuantity(s *apiextensionsv1.JSONSchemaProps) bool { return s.XIntOrString }

// isNumber reports whether a field is a number.
func isNumber(s *apiextensionsv1.JSONSchemaProps) bool {
	return isQuantity(s) || s.Type == "integer" || s.Type == "number"
}

// ends returns the smallest and the largest value of a number.
func ends(s *apiextensionsv1.JSONSchemaProps) []any {
	if isQuantity(s) {
		return quantityEnds(s)
	}
	return integerEnds(s)
}

var integerRule = regexp.MustCompile(`self (>=|<=) (\d+)`)

// integerEnds takes bounds from the schema, from rules such as self >= 1, and else from
// the format.
func integerEnds(s *apiextensionsv1.JSONSchemaProps) []any {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if s.Format == "int32" {
		low, high = math.MinInt32, math.MaxInt32
	}
	if s.Minimum != nil {
		low = int64(*s.Minimum)
	}
	if s.Maximum != nil {
		high = int64(*s.Maximum)
	}
	for _, rule := range s.XValidations {
		for _, m := range integerRule.FindAllStringSubmatch(rule.Rule, -1) {
			bound, err := strconv.ParseInt(m[2], 10, 64)
			switch {
			case err != nil: // no integer bounds it
			case m[1] == ">=":
				low = bound
			default:
				high = bound
			}
		}
	}
	return []any{low, high}
}

// longest is the largest number that a quantity may be written as, which has 20
// characters at most.
const longest = "99999999999999999999"

var quantityRule = regexp.MustCompile(`compareTo\(quantity\('([^']+)'\)\) (>=|<=|>|<) 0`)

// quantityEnds takes bounds from rules such as
// quantity(string(self)).compareTo(quantity('4096')) <= 0.
func quantityEnds(s *apiextensionsv1.JSONSchemaProps) []any {
	low, high := "0", longest
	step := *resource.NewScaledQuantity(1, resource.Nano)
	for _, rule := range s.XValidations {
		for _, m := range quantityRule.FindAllStringSubmatch(rule.Rule, -1) {
			bound := resource.MustParse(m[1])
			switch m[2] {
			case ">":
				bound.Add(step)
			case "<":
				bound.Sub(step)
			}
			if strings.HasPrefix(m[2], ">") {
				low = bound.AsDec().String()
			} else {
				high = bound.AsDec().String()
			}
		}
	}
	return []any{low, high}
}

// unbounded is how long a list without maxItems is made: the API server takes objects of
// up to a MiB or so.
const unbounded = 1000

// bounded returns a field of an object with the length that a rule of the object gives
// it, such as size(self.matchExpressions) <= 8.
func bounded(property, object *apiextensionsv1.JSONSchemaProps, name string) apiextensionsv1.JSONSchemaProps {
	with := *property
	size := regexp.MustCompile(`size\(self\.` + regexp.QuoteMeta(name) + `\) <= (\d+)`)
	for _, rule := range object.XValidations {
		if m := size.FindStringSubmatch(rule.Rule); m != nil && with.MaxItems == nil {
			if bound, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				with.MaxItems = &bound
			}
		}
	}
	return with
}

// length returns how many items a list may have.
func length(s *apiextensionsv1.JSONSchemaProps) int {
	if s.MaxItems == nil {
		return unbounded
	}
	return int(*s.MaxItems)
}
