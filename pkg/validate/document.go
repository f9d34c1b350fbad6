package validate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	k8syaml "sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/decode"
)

// Document is one document of a file of YAML or JSON.
type Document struct {
	// Place is where it begins.
	Place

	Text []byte
}

// maxDocument is how many bytes the API server reads of a request.
const maxDocument = 3 << 20

// maxItems bounds how many items of a list are checked, and maxValues how many values there
// may be in an object that is.
const maxItems, maxValues = 10_000, 20_000

// value is what a document, or an item of a list in it, holds.
type value struct {
	place Place      // where it begins
	first int        // the line on which its document begins
	json  any        // nil: nothing
	node  *yaml.Node // of the text, nil if it is not known
}

// line returns the line of a field, as exactly as is known.
func (v *value) line(p path) int {
	if line, _ := p.nodeIn(v.node); line > 0 {
		return v.first + line - 1
	}
	return v.place.Line
}

// at returns a finding about a field.
func (v *value) at(p path, problem string) Finding {
	f := Finding{Place: v.place, Field: p.String(), Level: Error, By: ByAPIServer, Problem: problem}
	f.Line = v.line(p)
	return f
}

// read reads a document. It returns the problems of the text; without a value these are the
// whole answer.
func (d *Document) read() (*value, []Finding) {
	v := &value{place: d.Place, first: d.Line}
	if len(d.Text) > maxDocument {
		return nil, []Finding{v.at(nil, fmt.Sprintf("the document has %d bytes: the API server reads %d at most", len(d.Text), maxDocument))}
	}
	var root yaml.Node
	if err := yaml.Unmarshal(d.Text, &root); err == nil && len(root.Content) == 1 { //nolint:forbidigo // for its lines
		v.node = root.Content[0]
	}
	text := d.Text
	if !json.Valid(text) {
		var err error
		if text, err = k8syaml.YAMLToJSON(text); err != nil {
			if found := v.notNumbers(); len(found) > 0 {
				return nil, found
			}
			return nil, []Finding{v.syntax(d.Text, err)}
		}
	}
	if err := utiljson.Unmarshal(text, &v.json); err != nil { //nolint:forbidigo // syntax says what is wrong
		return nil, []Finding{v.syntax(d.Text, err)}
	}
	return v, v.duplicates()
}

// syntax explains why a text is no YAML.
func (v *value) syntax(text []byte, err error) Finding {
	wrong := decode.Syntax(text, err)
	f := v.at(nil, "is not YAML: "+wrong.Problem)
	if wrong.Line > 0 {
		f.Line = v.first + wrong.Line - 1
	}
	return f
}

// notNumbers finds the numbers that YAML has and JSON does not.
func (v *value) notNumbers() (found []Finding) {
	eachNode(v.node, nil, func(t *trail, node *yaml.Node) {
		var number float64
		if node.Kind == yaml.ScalarNode && node.Tag == "!!float" && len(found) < maxFindings &&
			node.Decode(&number) == nil && (math.IsNaN(number) || math.IsInf(number, 0)) {
			found = append(found, v.at(t.path(), node.Value+" is no number that the API takes: write a finite one"))
		}
	})
	return found
}

// duplicates finds fields that stand twice in the same object.
func (v *value) duplicates() (found []Finding) {
	eachNode(v.node, nil, func(t *trail, node *yaml.Node) {
		if node.Kind != yaml.MappingNode {
			return
		}
		first := make(map[string]int, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content) && len(found) < maxFindings; i += 2 {
			key := node.Content[i]
			if line, twice := first[key.Value]; twice {
				f := v.at(t.path().child(key.Value), fmt.Sprintf("the field is here twice, first on line %d: remove one of them", v.first+line-1))
				f.Line = v.first + key.Line - 1
				found = append(found, f)
				continue
			}
			first[key.Value] = key.Line
		}
	})
	return found
}

// trail is a path that is being walked, by its last step; nil is the beginning. Few of the
// values that are visited are named, so a path is made of it only for these.
type trail struct {
	above *trail
	step  any
}

// path returns the path that was walked.
func (t *trail) path() (p path) {
	for ; t != nil; t = t.above {
		p = append(p, t.step)
	}
	slices.Reverse(p)
	return p
}

// eachNode visits a node and what is below it. An alias is not followed: its value is
// visited where it is written.
func eachNode(node *yaml.Node, t *trail, visit func(*trail, *yaml.Node)) {
	if node == nil {
		return
	}
	visit(t, node)
	switch node.Kind { //nolint:exhaustive // others hold nothing
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			eachNode(node.Content[i+1], &trail{t, node.Content[i].Value}, visit)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			eachNode(item, &trail{t, i}, visit)
		}
	}
}

// items returns the items of a list of objects, or the value itself if it is none.
func (v *value) items() []*value {
	object, _ := v.json.(map[string]any)
	kind, _ := object["kind"].(string)
	items, given := object["items"]
	list, isList := items.([]any)
	isList = isList || given && items == nil // null, as Go encodes a list of none
	of, listed := strings.CutSuffix(kind, "List")
	if !isList || !listed {
		return []*value{v}
	}
	all := make([]*value, 0, len(list))
	for i, item := range list {
		one := &value{place: v.place, first: v.first, json: item}
		one.place.Line = v.line(path{"items", i})
		_, one.node = path{"items", i}.nodeIn(v.node)
		if fields, is := item.(map[string]any); is && of != "" && fields["kind"] == nil && fields["apiVersion"] == nil {
			fields["kind"], fields["apiVersion"] = of, object["apiVersion"] // as kubectl does
		}
		all = append(all, one)
	}
	return all
}
