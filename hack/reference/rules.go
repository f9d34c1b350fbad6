package main

import (
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/hack/reference/markdown"
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
	add(between(integers(value.MinLength), integers(value.MaxLength), "character", "characters"))
	add(between(numbers(value.Minimum), numbers(value.Maximum), "", ""))
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
	if length := between(integers(schema.MinItems), integers(schema.MaxItems), "item", "items"); length != "" {
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
func between(least, most, one, many string) string {
	unit := many
	if most == "1" || most == "" && least == "1" {
		unit = one
	}
	if unit != "" {
		unit = " " + unit
	}
	switch {
	case least == "" && most == "":
		return ""
	case most == "":
		return "at least " + least + unit
	case least == "":
		return "at most " + most + unit
	case least == most:
		return "exactly " + least + unit
	default:
		return "from " + least + " to " + most + unit
	}
}

func integers(n *int64) string {
	if n == nil {
		return ""
	}
	return grouped(strconv.FormatInt(*n, 10))
}

func numbers(x *float64) string {
	if x == nil {
		return ""
	}
	return grouped(strconv.FormatFloat(*x, 'f', -1, 64))
}

// grouped puts commas between thousands.
func grouped(number string) string {
	whole, fraction, hasFraction := strings.Cut(number, ".")
	digits := strings.TrimPrefix(whole, "-")
	var b strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	text := whole[:len(whole)-len(digits)] + b.String()
	if hasFraction {
		text += "." + fraction
	}
	return text
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

// capital makes the first letter of an ASCII sentence a capital.
func capital(text string) string {
	return fmt.Sprint(strings.ToUpper(text[:1]), text[1:])
}
