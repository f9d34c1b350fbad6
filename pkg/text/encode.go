package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	yamlv3 "go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// JSON returns a value as JSON in lines, which [Writer] leaves as it is: what cannot be
// seen is escaped as JSON has it, so who parses it gets what went in.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	if !bytes.ContainsFunc(b.Bytes(), isEscapedInText) {
		return b.Bytes(), nil
	}
	var escaped strings.Builder
	for _, r := range b.String() { // outside of strings there is nothing to escape
		if !isEscapedInText(r) {
			escaped.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
	}
	return []byte(escaped.String()), nil
}

// YAML returns a value, by the names that JSON has, as YAML that [Writer] leaves as it is:
// what cannot be seen is escaped as YAML has it, so who parses it gets what went in.
func YAML(value any) ([]byte, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if !bytes.ContainsFunc(encoded, isUnseen) {
		out, err := yaml.JSONToYAML(encoded)
		if err != nil || !bytes.ContainsFunc(out, isEscapedInText) {
			return out, err
		}
	}
	var plain any
	if err := utiljson.Unmarshal(encoded, &plain); err != nil {
		return nil, err
	}
	document, err := quoted(plain)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := yamlv3.NewEncoder(NewWriter(&b)) // its escapes are those of quoted YAML
	encoder.SetIndent(2)
	err = errors.Join(encoder.Encode(document), encoder.Close())
	return b.Bytes(), err
}

// quoted returns a value as YAML, with double quotes around what has something to escape.
func quoted(value any) (*yamlv3.Node, error) {
	node := &yamlv3.Node{}
	var children []any
	switch v := value.(type) {
	case string:
		if strings.ContainsFunc(v, isUnseen) {
			return &yamlv3.Node{Kind: yamlv3.ScalarNode, Tag: "!!str", Style: yamlv3.DoubleQuotedStyle, Value: v}, nil
		}
		return node, node.Encode(v)
	case map[string]any:
		node.Kind = yamlv3.MappingNode
		for _, key := range slices.Sorted(maps.Keys(v)) {
			children = append(children, key, v[key])
		}
	case []any:
		node.Kind, children = yamlv3.SequenceNode, v
	default:
		return node, node.Encode(v)
	}
	for _, child := range children {
		c, err := quoted(child)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, c)
	}
	return node, nil
}

// isEscapedInText reports whether a [Writer] escapes a character.
func isEscapedInText(r rune) bool { return isUnseen(r) && !strings.ContainsRune(kept, r) }

// Manifest is a document of a file that kubectl applies.
type Manifest struct {
	// Comments come first, a line each.
	Comments []string
	// Object is what is applied; nil where there are comments only.
	Object any
}

// Manifests returns documents as YAML. Each has the one object that it was given and no
// other, whatever names and comments say.
func Manifests(documents ...Manifest) ([]byte, error) {
	var b bytes.Buffer
	for i := range documents {
		d := &documents[i]
		if d.Object != nil {
			b.WriteString("---\n")
		}
		for _, comment := range d.Comments {
			b.WriteString("# " + Printable(comment) + "\n")
		}
		if d.Object == nil {
			continue
		}
		object, err := YAML(d.Object)
		if err != nil {
			return nil, err
		}
		b.Write(object)
	}
	return b.Bytes(), nil
}
