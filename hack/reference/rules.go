package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/hack/reference/markdown"
	"loadline.dev/loadline/pkg/text"
)

// rulesOf says in sentences what a schema demands of a field beyond its type: the list
// by its own schema, each value by that of values.
func rulesOf(f *field, schema, value *apiextensionsv1.JSONSchemaProps) []string {
	var rules []string
	each := ""
	if f.list {
		rules = listRules(schema)
		each = "Each "
	}
	add := func(rule string) {
		if rule != "" {
			rules = append(rules, capital(each+rule+"."))
		}
	}
	if len(f.enum) > 0 {
		add("one of " + codes(f.enum))
	}
	add(between(limit(value.MinLength), limit(value.MaxLength), "character", "characters"))
	add(between(limit(value.Minimum), limit(value.Maximum), "", ""))
	if value.Pattern != "" {
		add("matches " + markdown.Code(value.Pattern))
	}
	rules = append(rules, validations(schema)...)
	if f.list {
		rules = append(rules, validations(value)...)
	}
	return rules
}

// listRules says how many values a list has, and which ones exclude each other.
func listRules(schema *apiextensionsv1.JSONSchemaProps) []string {
	var rules []string
	if length := between(limit(schema.MinItems), limit(schema.MaxItems), "item", "items"); length != "" {
		rules = append(rules, capital(length+"."))
	}
	switch ptr.Deref(schema.XListType, "") {
	case "map":
		rules = append(rules, "No two with the same "+codes(schema.XListMapKeys)+".")
	case "set":
		rules = append(rules, "No two alike.")
	}
	return rules
}

// validations are the messages of the rules in CEL, in quotes. One that is about a field
// below names it.
func validations(schema *apiextensionsv1.JSONSchemaProps) []string {
	var rules []string
	for _, v := range schema.XValidations {
		rule := "“" + markdown.Cell(strings.TrimSpace(v.Message)) + "”"
		if v.Message == "" {
			rule = markdown.Code(v.Rule)
		}
		if below := strings.TrimPrefix(v.FieldPath, "."); below != "" {
			rule = markdown.Code(below) + ": " + rule
		}
		rules = append(rules, rule)
	}
	return rules
}

// between says between which bounds a number lies; either may be missing.
func between(lower, upper, one, many string) string {
	unit := many
	if upper == "1" || upper == "" && lower == "1" {
		unit = one
	}
	if unit != "" {
		unit = " " + unit
	}
	switch {
	case lower == "" && upper == "":
		return ""
	case upper == "":
		return "at least " + lower + unit
	case lower == "":
		return "at most " + upper + unit
	case lower == upper:
		return "exactly " + lower + unit
	default:
		return "from " + lower + " to " + upper + unit
	}
}

// limit writes a limit with thousands separators, or nothing where there is none.
func limit[N int64 | float64](n *N) string {
	if n == nil {
		return ""
	}
	return text.Exact(float64(*n))
}

// codes lists values, which are in JSON, as code.
func codes(values []string) string {
	var shown []string
	for _, v := range values {
		if plain, err := strconv.Unquote(v); err == nil {
			v = plain
		}
		shown = append(shown, markdown.Code(v))
	}
	return strings.Join(shown, ", ")
}

// capital makes the first letter of a sentence a capital.
func capital(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	return string(unicode.ToUpper(first)) + sentence[size:]
}
