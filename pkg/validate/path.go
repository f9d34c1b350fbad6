package validate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// path leads to a value in an object: its steps are names of fields (string) and
// positions in lists (int).
type path []any

// parsePath reads a path as errors write it, such as spec.resources[0].loading or
// metadata.labels[app].
func parsePath(text string) path {
	var p path
	if text == "<nil>" {
		return p
	}
	for text != "" {
		if inner, rest, closed := strings.Cut(text[1:], "]"); text[0] == '[' && closed {
			if i, err := strconv.Atoi(inner); err == nil {
				p = append(p, i)
			} else {
				p = append(p, inner)
			}
			text = strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(text[1:], ".[")
		if end < 0 {
			return append(p, text)
		}
		p = append(p, text[:end+1])
		text = strings.TrimPrefix(text[end+1:], ".")
	}
	return p
}

// String writes the path as errors do. A name that has a point stands in brackets.
func (p path) String() string {
	var b strings.Builder
	for _, step := range p {
		name, isName := step.(string)
		switch {
		case !isName || strings.ContainsAny(name, ".[]/"):
			fmt.Fprintf(&b, "[%v]", step)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(name)
		}
	}
	return b.String()
}

// within reports whether p is other or leads below it.
func (p path) within(other path) bool {
	if len(p) < len(other) {
		return false
	}
	for i := range other {
		if p[i] != other[i] {
			return false
		}
	}
	return true
}

// name returns the name of the field that the path leads to, "" for an item of a list.
func (p path) name() string {
	if len(p) == 0 {
		return ""
	}
	name, _ := p[len(p)-1].(string)
	return name
}

// child returns the path of a value that the one at p holds.
func (p path) child(step any) path { return append(slices.Clip(p), step) }

// parent returns the path of what holds the value.
func (p path) parent() path { return p[:max(0, len(p)-1)] }

// in returns the value that the path leads to.
func (p path) in(value any) (found any, ok bool) {
	for _, step := range p {
		switch at := value.(type) {
		case map[string]any:
			name, isName := step.(string)
			if value, ok = at[name]; !isName || !ok {
				return nil, false
			}
		case []any:
			i, isIndex := step.(int)
			if !isIndex || i < 0 || i >= len(at) {
				return nil, false
			}
			value = at[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// schemaIn returns the schema of the value, nil if there is none.
func (p path) schemaIn(s *structuralschema.Structural) *structuralschema.Structural {
	for _, step := range p {
		if s == nil {
			return nil
		}
		switch name, isName := step.(string); {
		case !isName:
			s = s.Items
		case s.AdditionalProperties != nil:
			s = s.AdditionalProperties.Structural
		default:
			property, known := s.Properties[name]
			if !known {
				return nil
			}
			s = &property
		}
	}
	return s
}

// nodeIn returns the line of the value in a text, and its node. Where the text does
// not have it, it returns the line of the closest value above it, and no node.
func (p path) nodeIn(root *yaml.Node) (line int, node *yaml.Node) {
	if root == nil {
		return 0, nil
	}
	line, node = root.Line, root
	for _, step := range p {
		key, value := child(node, step)
		if value == nil {
			return line, nil
		}
		line, node = key.Line, value
	}
	return line, node
}

// child returns one value of a mapping or sequence and the node of its key, which for
// an item is the item.
func child(node *yaml.Node, step any) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch s := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && s >= 0 && s < len(node.Content) {
			return node.Content[s], node.Content[s]
		}
	case string:
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == s {
				return node.Content[i], node.Content[i+1]
			}
		}
	}
	return nil, nil
}
