package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// describe sets the descriptions of a schema to those of the values, and fails if
// the two do not have the same values.
func describe(schema []byte, values []value) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	var root object
	if err := decoder.Decode(&root); err != nil {
		return nil, err
	}
	d := describer{root: root, described: map[string]string{}}
	if err := d.describe("#", root, values); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(root)
	return text.Bytes(), err
}

// describer describes one schema.
type describer struct {
	root      object
	described map[string]string // the value that gave a property its description, by the property's place
}

// onlyInSchema are values that Helm sets.
var onlyInSchema = []string{"global"}

// describe describes the properties of the schema at a place, that of some values.
func (d *describer) describe(place string, schema object, values []value) error {
	place, schema, err := d.resolve(place, schema)
	if err != nil {
		return err
	}
	properties, _ := schema["properties"].(object)
	var errs []error
	known := slices.Clone(onlyInSchema)
	for _, v := range values {
		name := v.path[len(v.path)-1]
		known = append(known, name)
		property, found := properties[name].(object)
		switch at := place + "/" + name; {
		case !found:
			errs = append(errs, fmt.Errorf("%s has no property %q, which values.yaml has as %s", place, name, v))
		case v.parts != nil:
			errs = append(errs, d.describe(at, property, v.parts))
		case d.described[at] != "" && property["description"] != v.description:
			errs = append(errs, fmt.Errorf("%s and %s are described by the same words: let values.yaml use the same", d.described[at], v))
		default:
			property["description"] = v.description
			d.described[at] = v.String()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("%s has a property %q that values.yaml has not", place, name))
		}
	}
	return errors.Join(errs...)
}

// resolve follows the reference to a definition, if there is one.
func (d *describer) resolve(place string, schema object) (string, object, error) {
	reference, is := schema["$ref"].(string)
	if !is {
		return place, schema, nil
	}
	definitions, _ := d.root["definitions"].(object)
	definition, found := definitions[strings.TrimPrefix(reference, "#/definitions/")].(object)
	if !found {
		return "", nil, fmt.Errorf("%s: there is no %s", place, reference)
	}
	return reference, definition, nil
}

// String returns the path of a value as one gives it to --set.
func (v value) String() string { return strings.Join(v.path, ".") }
