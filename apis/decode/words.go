package decode

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Described says what a value is that was read of JSON.
func Described(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "nothing"
	}
}

// ValuesOf says in words what the values of a type are in JSON, such as "a list".
func ValuesOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}

// longestExcerpt is how many characters of a value are shown.
const longestExcerpt = 60

// excerpt returns a scalar as an error shows it, and of lists and objects nothing: they may be of
// any size.
func excerpt(v any) any {
	switch value := v.(type) {
	case string:
		if runes := []rune(value); len(runes) > longestExcerpt {
			return string(runes[:longestExcerpt]) + "…"
		}
		return value
	case []any, map[string]any:
		return field.OmitValueType{}
	default:
		return value
	}
}
