package extremes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// extreme is one extreme value of one field.
type extreme struct {
	field string
	name  string // the field with the value
	depth int    // of the field: what is above goes first, so that copies follow
	set   func(spec any)
}

// Steps of a path other than the names of fields.
const (
	eachItem  = "[]"
	firstItem = "[0]"
)

// visitor collects the extremes of a schema along an object.
type visitor struct{ found []extreme }

// visit looks at a field of which the object has some values, in items of lists.
func (v *visitor) visit(s *apiextensionsv1.JSONSchemaProps, at []string, values []any) {
	switch {
	case s.Type == "array" && s.Items != nil:
		v.list(s, at, values)
	case s.Type == "object":
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			field := s.Properties[name]
			property, below := bounded(&field, s, name), append(slices.Clone(at), name)
			var inner []any
			for _, value := range values {
				fields, _ := value.(map[string]any)
				if field, there := fields[name]; there {
					inner = append(inner, field)
				}
			}
			if isNumber(&property) {
				v.number(&property, below)
			} else if len(inner) > 0 {
				v.visit(&property, below, inner)
			}
		}
	}
}

func (v *visitor) list(s *apiextensionsv1.JSONSchemaProps, at []string, values []any) {
	var items []any
	several := false
	for _, value := range values {
		list, _ := value.([]any)
		items = append(items, list...)
		several = several || len(list) > 1
	}
	if len(items) == 0 {
		return
	}
	n := length(s)
	v.add(at, fmt.Sprintf("%d items", n), func(list any) any { return grown(list, s, n) })
	for _, step := range []string{eachItem, firstItem} {
		below := append(slices.Clone(at), step)
		switch {
		case step == firstItem && !several:
		case isNumber(s.Items.Schema):
			v.number(s.Items.Schema, below)
		default:
			v.visit(s.Items.Schema, below, items)
		}
	}
}

func (v *visitor) number(s *apiextensionsv1.JSONSchemaProps, at []string) {
	for _, value := range ends(s) {
		v.add(at, fmt.Sprint(value), func(any) any { return value })
	}
}

func (v *visitor) add(at []string, value string, change func(any) any) {
	if slices.ContainsFunc(v.found, func(e extreme) bool { return e.name == shown(at)+" = "+value }) {
		return // within the first item as within each
	}
	v.found = append(v.found, extreme{
		field: strings.ReplaceAll(shown(at), firstItem, eachItem), name: shown(at) + " = " + value, depth: len(at),
		set: func(spec any) { put(spec, at, change) },
	})
}

// shown returns a path as one writes it: classes[].sla.probability.
func shown(at []string) string {
	text := strings.Join(append([]string{"spec"}, at...), ".")
	return strings.NewReplacer("."+eachItem, eachItem, "."+firstItem, firstItem).Replace(text)
}

// put changes the values at a path.
func put(value any, at []string, change func(any) any) {
	step, rest := at[0], at[1:]
	switch place := value.(type) {
	case map[string]any:
		before, there := place[step]
		switch {
		case len(rest) > 0 && there:
			put(before, rest, change)
		case len(rest) == 0:
			if after := change(before); after != nil {
				place[step] = after
			}
		}
	case []any:
		for i := range place {
			if step == firstItem && i > 0 {
				return
			}
			if len(rest) > 0 {
				put(place[i], rest, change)
			} else {
				place[i] = change(place[i])
			}
		}
	}
}

// grown returns a list with n items; nil for none, which has nothing to copy.
func grown(value any, s *apiextensionsv1.JSONSchemaProps, n int) any {
	list, _ := value.([]any)
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	for i := len(list); i < n; i++ {
		item := runtime.DeepCopyJSONValue(last)
		switch fields := item.(type) {
		case map[string]any:
			for _, key := range s.XListMapKeys {
				property := s.Items.Schema.Properties[key]
				if fields[key] = distinct(fields[key], &property, i); fields[key] == nil {
					return list // there are no more keys
				}
			}
		case string:
			if s.XListType != nil && *s.XListType == "set" {
				if item = distinct(item, s.Items.Schema, i); item == nil {
					return list
				}
			}
		}
		list = append(list, item)
	}
	return list
}

// distinct returns a value for item i that no other item has, nil if there is none.
func distinct(value any, s *apiextensionsv1.JSONSchemaProps, i int) any {
	if len(s.Enum) > 0 {
		if i >= len(s.Enum) {
			return nil
		}
		return strings.Trim(string(s.Enum[i].Raw), `"`)
	}
	text, _ := value.(string)
	suffix := fmt.Sprintf("x%d", i) // letters and digits are admitted in names of every kind
	if s.MaxLength != nil {
		text = text[:min(len(text), int(*s.MaxLength)-len(suffix))]
	}
	return text + suffix
}
