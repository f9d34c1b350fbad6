package main

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"
)

// field is a field of a kind, with all below it.
type field struct {
	// name is what stands before the colon; path leads there from the top, such as
	// spec.resources[].name.
	name, path string
	// of says what one value is; list is whether the field holds many.
	of   words
	list bool
	// required is whether the field must be there, and otherwise what it is if it is
	// not, in JSON, or nothing.
	required  bool
	otherwise string
	// description says what it means; element says what one of a list is.
	description, element string
	// enum lists the values that are allowed, in JSON; rules say in sentences of
	// Markdown what else must hold.
	enum, rules []string
	// fields are those of the object, or of each object of the list.
	fields []*field
}

// words name a type: one value of it, many, and where to read about it in api.md.
type words struct{ one, many, anchor string }

// object is the type of what has fields.
var object = words{one: "object", many: "objects"}

// scalars are the types of values.
var scalars = map[string]words{
	"string":  {one: "string", many: "strings"},
	"integer": {one: "integer", many: "integers"},
	"number":  {one: "number", many: "numbers"},
	"boolean": {one: "boolean", many: "booleans"},
}

// conditions and selectors are types whose rules api.md tells.
var (
	conditions = words{one: "condition", many: "conditions", anchor: "conditions"}
	selectors  = words{one: "label selector", many: "label selectors", anchor: "label-selectors"}
)

// shared are the types of Kubernetes that api.md explains.
var shared = map[reflect.Type]words{
	reflect.TypeFor[resource.Quantity]():    {one: "quantity", many: "quantities", anchor: "quantities"},
	reflect.TypeFor[metav1.MicroTime]():     {one: "time", many: "times", anchor: "times"},
	reflect.TypeFor[metav1.Time]():          {one: "time", many: "times", anchor: "times"},
	reflect.TypeFor[metav1.LabelSelector](): selectors,
	reflect.TypeFor[metav1.Condition]():     conditions,
}

// newField reads a field from its schema. Its Go type says which types of Kubernetes
// are in it, and the order of the fields, which the schema does not keep.
func newField(path string, schema *apiextensionsv1.JSONSchemaProps, goType reflect.Type) (*field, error) {
	f := &field{name: path[strings.LastIndex(path, ".")+1:], path: path, description: schema.Description}
	value := schema
	for goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	if schema.Type == "array" {
		if schema.Items == nil || schema.Items.Schema == nil || goType.Kind() != reflect.Slice {
			return nil, fmt.Errorf("%s: want a list with one schema for its items, and a slice in Go", path)
		}
		f.list, value, goType = true, schema.Items.Schema, goType.Elem()
		f.element = value.Description
		for goType.Kind() == reflect.Pointer {
			goType = goType.Elem()
		}
	}
	if f.description == "" {
		return nil, fmt.Errorf("%s: the field does not say what it means: comment it in apis/loadline/v1alpha1", path)
	}
	if schema.Default != nil {
		f.otherwise = string(schema.Default.Raw)
	}
	for _, v := range value.Enum {
		f.enum = append(f.enum, string(v.Raw))
	}
	if of, ok := shared[goType]; ok {
		f.of = of
		if of != selectors {
			f.rules = validations(schema)
		}
		if f.list && of != conditions {
			f.rules = append(listRules(schema), f.rules...)
		}
		return f, nil
	}
	f.rules = rulesOf(f, schema, value)
	if err := unknownKeywords(path, schema, value); err != nil {
		return nil, err
	}
	if of, ok := scalars[value.Type]; ok {
		f.of = of
		return f, nil
	}
	if value.Type != "object" || len(value.Properties) == 0 {
		return nil, fmt.Errorf("%s: no words for the type %q of Go's %s", path, value.Type, goType)
	}
	f.of = object
	var err error
	f.fields, err = newFields(f.itemPath(), value, goType)
	return f, err
}

// itemPath is the path of the object that has the field's fields.
func (f *field) itemPath() string {
	if f.list {
		return f.path + "[]"
	}
	return f.path
}

// newFields reads the fields of an object in the order of its Go type.
func newFields(path string, schema *apiextensionsv1.JSONSchemaProps, goType reflect.Type) ([]*field, error) {
	types, names := goFields(goType)
	if want := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(want, slices.Sorted(slices.Values(names))) {
		return nil, fmt.Errorf("%s: the CRD has the fields %v, its Go type %s has %v: run make generate", path, want, goType, names)
	}
	required := sets.New(schema.Required...)
	var fields []*field
	var errs []error
	for i, name := range names {
		if path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue // every object has them
		}
		property := schema.Properties[name]
		f, err := newField(strings.TrimPrefix(path+"."+name, "."), &property, types[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f.required = required.Has(name)
		fields = append(fields, f)
	}
	return fields, errors.Join(errs...)
}

// goFields returns the types of the fields of a struct and their names in JSON, with
// those of the structs that are inlined.
func goFields(t reflect.Type) (types []reflect.Type, names []string) {
	if t.Kind() != reflect.Struct {
		return nil, nil
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && strings.Contains(options, "inline") {
			inlined, its := goFields(f.Type)
			types, names = append(types, inlined...), append(names, its...)
			continue
		}
		types, names = append(types, f.Type), append(names, name)
	}
	return types, names
}

// unknownKeywords fails if a schema has a keyword that the pages would leave out.
func unknownKeywords(path string, schemas ...*apiextensionsv1.JSONSchemaProps) error {
	for _, schema := range schemas {
		rest := *schema
		rest.Type, rest.Description, rest.Default, rest.Enum, rest.Pattern, rest.Required = "", "", nil, nil, "", nil
		rest.Minimum, rest.Maximum, rest.MinLength, rest.MaxLength, rest.MinItems, rest.MaxItems = nil, nil, nil, nil, nil, nil
		rest.Properties, rest.Items, rest.XValidations, rest.XListMapKeys, rest.XListType, rest.XMapType = nil, nil, nil, nil, nil, nil
		if rest.Format == "int32" || rest.Format == "int64" {
			rest.Format = ""
		}
		left, err := yaml.Marshal(&rest)
		if err != nil {
			return err
		}
		if keywords := strings.TrimSpace(string(left)); keywords != "{}" {
			return fmt.Errorf("%s: the reference has no words for a keyword of its schema: %s", path, keywords)
		}
	}
	return nil
}
