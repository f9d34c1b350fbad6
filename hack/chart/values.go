package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is one value of the chart: where it stands, what it is by default, and what
// it is for. A value with parts has none of the latter two.
type value struct {
	path        []string
	fallback    string // in JSON
	description string
	parts       []value
}

// readValues reads the text of a values.yaml. What a value is for stands above it,
// in lines that begin with "# -- " and go on with "# ".
func readValues(text []byte) ([]value, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("want a mapping")
	}
	return partsOf(nil, document.Content[0])
}

// partsOf reads the values of a mapping that stands at a path.
func partsOf(path []string, mapping *yaml.Node) ([]value, error) {
	var all []value
	for i := 0; i < len(mapping.Content); i += 2 {
		key, content := mapping.Content[i], mapping.Content[i+1]
		v := value{path: append(append([]string(nil), path...), key.Value), description: descriptionOf(key.HeadComment)}
		var err error
		switch {
		case v.description != "":
			v.fallback, err = inJSON(content)
		case content.Kind == yaml.MappingNode && len(content.Content) > 0:
			v.parts, err = partsOf(v.path, content)
		default:
			err = errors.New(`say what it is for, in the lines above: "# -- ..."`)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", key.Line, strings.Join(v.path, "."), err)
		}
		all = append(all, v)
	}
	return all, nil
}

// descriptionOf returns the words of a comment after "# -- ".
func descriptionOf(comment string) string {
	const mark = "# -- "
	_, text, found := strings.Cut("\n"+comment, "\n"+mark)
	if !found {
		return ""
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n#", "\n")), " ")
}

// inJSON returns a value as JSON in one line, its fields in alphabetical order.
func inJSON(node *yaml.Node) (string, error) {
	var content any
	if err := node.Decode(&content); err != nil {
		return "", err
	}
	text, err := json.Marshal(content)
	return string(text), err
}
