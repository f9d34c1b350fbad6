package validate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/decode"
)

// explain describes the problem of a field, in one sentence for all refusals of it.
func (o *object) explain(g *group) string {
	v, there := g.path.in(o.mended)
	schema := g.path.schemaIn(o.definition.schema)
	worst := slices.MinFunc(g.refusals, func(a, b refusal) int { return cmp.Compare(rank(a), rank(b)) })
	switch {
	case worst.unknown:
		return o.unknownField(g.path)
	case there && schema != nil && !fits(v, schema):
		return fmt.Sprintf("%s is %s where the API wants %s", o.shown(g.path, v), decode.Described(v), wanted(schema))
	case there && wantsString(g.path, v):
		return fmt.Sprintf("%s is %s where the API wants a string", o.shown(g.path, v), decode.Described(v))
	case !there || worst.Type == field.ErrorTypeRequired:
		return missing(worst, schema)
	}
	switch v.(type) {
	case map[string]any, []any:
		return rule(worst, schema)
	default:
		return o.shown(g.path, v) + ": " + rule(worst, schema)
	}
}

// rank orders refusals of a field by what they say, the most first: our own messages
// stand in the rules in CEL, which come last.
func rank(r refusal) int {
	switch r.Type { //nolint:exhaustive // others say more
	case field.ErrorTypeTypeInvalid:
		return 3
	case field.ErrorTypeInvalid:
		if strings.Contains(r.Detail, " in body ") { // of the schema
			return 2
		}
	}
	return 1
}

// rule says which rule a value breaks.
func rule(r refusal, schema *structuralschema.Structural) string {
	ofSchema := rank(r) > 1
	switch {
	case r.Type == field.ErrorTypeDuplicate:
		return "is in the list already: each may be there once"
	case r.Type == field.ErrorTypeNotSupported:
		return "is none of " + strings.Join(enum(schema), ", ")
	case r.Type == field.ErrorTypeTooLong && schema != nil && len(schema.XValidations) > 0, ofSchema && schema != nil && len(schema.XValidations) > 0:
		return schema.XValidations[0].Message // of what the pattern and the length are for
	case ofSchema && schema != nil && schema.ValueValidation != nil && schema.Type == "integer":
		return "must be " + between(schema)
	case ofSchema && schema != nil && schema.Type == "array":
		return "must have at least " + strconv.FormatInt(ptr.Deref(schema.ValueValidation.MinItems, 1), 10) + " item"
	default:
		return cmp.Or(r.Detail, r.ErrorBody())
	}
}

// missing says that a field is needed.
func missing(r refusal, schema *structuralschema.Structural) string {
	if r.Detail != "" {
		return r.Detail
	}
	if schema == nil || schema.Description == "" {
		return "is missing"
	}
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(schema.Description), " "), ". ")
	return "is missing: " + strings.TrimSuffix(sentence, ".")
}

// unknownField says which fields there are in the place of one that there is not.
func (o *object) unknownField(p path) string {
	parent := p.parent().schemaIn(o.definition.schema)
	const most = 12
	if parent == nil || len(parent.Properties) == 0 || len(parent.Properties) > most || len(p) < 2 {
		return "there is no such field"
	}
	return "there is no such field; there are " + strings.Join(slices.Sorted(maps.Keys(parent.Properties)), ", ")
}

// fits reports whether a value is of the type that a schema wants.
func fits(v any, schema *structuralschema.Structural) bool {
	if schema.XIntOrString {
		switch v.(type) {
		case string, int64:
			return true
		}
		return false
	}
	switch value := v.(type) {
	case string:
		return schema.Type == "string"
	case int64:
		return schema.Type == "integer" || schema.Type == "number"
	case float64:
		return schema.Type == "number" || schema.Type == "integer" && value == float64(int64(value))
	case bool:
		return schema.Type == "boolean"
	case []any:
		return schema.Type == "array"
	case map[string]any:
		return schema.Type == "object" || schema.Type == ""
	default:
		return true // null is left out
	}
}

// wanted describes the values that a schema allows.
func wanted(schema *structuralschema.Structural) string {
	switch {
	case schema.XIntOrString, schema.Type == "string":
		return "a string"
	case schema.Type == "integer":
		return "a whole number"
	case schema.Type == "array":
		return "a list"
	case schema.Type == "object":
		return "an object"
	default:
		return "a " + schema.Type
	}
}

// shown returns the text of a value, or the beginning of it.
func (o *object) shown(p path, v any) string {
	const most = 60
	text := ""
	if _, isString := v.(string); !isString {
		text = o.text(p)
	}
	if text == "" {
		written, err := json.Marshal(v)
		if err != nil {
			return "it"
		}
		text = string(written)
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// text returns what the document has in the place of a number or of true and false, ""
// where that is not known: 0.580 stays as it is.
func (o *object) text(p path) string {
	_, node := p.nodeIn(o.node)
	if node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// between says which whole numbers a schema wants.
func between(schema *structuralschema.Structural) string {
	least, most := schema.ValueValidation.Minimum, schema.ValueValidation.Maximum
	switch {
	case least == nil && most == nil:
		return "a whole number"
	case most == nil:
		return fmt.Sprintf("a whole number of at least %.0f", *least)
	case least == nil:
		return fmt.Sprintf("a whole number of at most %.0f", *most)
	default:
		return fmt.Sprintf("a whole number from %.0f to %.0f", *least, *most)
	}
}

// enum returns the values that a schema allows.
func enum(schema *structuralschema.Structural) []string {
	if schema == nil || schema.ValueValidation == nil {
		return nil
	}
	var values []string
	for _, v := range schema.ValueValidation.Enum {
		values = append(values, fmt.Sprint(v.Object))
	}
	return values
}
