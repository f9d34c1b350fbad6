package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/pkg/text"
)

// The bounds on a file. Reading costs memory and time in proportion to the size of the file within
// these bounds; content beyond them is refused before it is parsed into objects.
const (
	// maxFile bounds a file, in bytes: the pods of a large cluster take a part of it.
	maxFile = 256 << 20
	// maxDocuments bounds the documents of a file.
	maxDocuments = 20_000
	// maxDepth bounds how deep values are nested. The API server takes 10,000 levels, and
	// no kind has more than some tens.
	maxDepth = 100
	// maxObject bounds an object, in bytes, also after its aliases are expanded. The API server has
	// the same bound on a request.
	maxObject = 3 << 20
	// maxValues bounds the values in an object: lists of nothing take few bytes each, and
	// much memory in objects.
	maxValues = 20_000
)

// checkShape refuses a document that is nested too deep, or whose aliases expand too far. It parses
// only documents that may be such.
func checkShape(document []byte) error {
	if depthAtMost(document) <= maxDepth && !mayHaveAliases(document) {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil { //nolint:forbidigo // for its shape
		if json.Valid(document) { // JSON allows some texts that YAML does not
			if depth := depthAtMost(withoutStrings(document)); depth > maxDepth {
				return tooDeep(depth)
			}
			return nil
		}
		return decode.Syntax(document, err)
	}
	s := shapes{}
	whole, err := s.of(&root)
	switch {
	case err != nil:
		return err
	case whole.depth > maxDepth:
		return tooDeep(whole.depth)
	case whole.aliases && whole.size > maxObject:
		return fmt.Errorf("its aliases stand for more than %s bytes: write out what they stand for", text.Count(maxObject))
	}
	return nil
}

func tooDeep(depth int) error {
	return fmt.Errorf("values are nested %s levels deep; %d are read at most", text.Count(int64(depth)), maxDepth)
}

// depthAtMost returns a bound on how deep the values of a document are nested: the brackets
// that are open, and the indentation before, which takes a column for each level.
func depthAtMost(document []byte) int {
	open, mostOpen, mostIndented := 0, 0, 0
	for line := range bytes.Lines(document) {
		mostIndented = max(mostIndented, len(line)-len(bytes.TrimLeft(line, " -?:\t"))+1)
		for _, c := range line {
			switch c {
			case '[', '{':
				open++
				mostOpen = max(mostOpen, open)
			case ']', '}':
				open = max(0, open-1)
			}
		}
	}
	return mostOpen + mostIndented
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// withoutStrings returns JSON without its strings and spaces.
func withoutStrings(document []byte) []byte {
	return bytes.Join(bytes.Fields(jsonString.ReplaceAll(document, nil)), nil)
}

var anchor, alias = regexp.MustCompile(`&\S`), regexp.MustCompile(`\*\S`)

func mayHaveAliases(document []byte) bool { return alias.Match(document) && anchor.Match(document) }

// shape is how much a value holds, with its aliases replaced.
type shape struct {
	depth, size int
	aliases     bool
}

// shapes are those of the nodes that have been seen; nil while a node is being looked at.
type shapes map[*yaml.Node]*shape

var errCyclic = errors.New("an alias stands for what it is in")

func (s shapes) of(node *yaml.Node) (shape, error) {
	if node.Anchor != "" {
		known, seen := s[node]
		switch {
		case known != nil:
			return *known, nil
		case seen:
			return shape{}, errCyclic
		}
		s[node] = nil
	}
	whole := shape{size: len(node.Value) + 1}
	children := node.Content
	if node.Kind == yaml.AliasNode {
		children, whole.aliases = []*yaml.Node{node.Alias}, true
	}
	for _, child := range children {
		c, err := s.of(child)
		if err != nil {
			return c, err
		}
		whole.depth, whole.aliases = max(whole.depth, c.depth), whole.aliases || c.aliases
		whole.size = min(whole.size+c.size, maxFile) // the sum would overflow
	}
	if node.Kind == yaml.MappingNode || node.Kind == yaml.SequenceNode {
		whole.depth++
	}
	if node.Anchor != "" {
		s[node] = &whole
	}
	return whole, nil
}

// checkObject refuses an object, in JSON, that is larger than the API server takes any.
func checkObject(object []byte) error {
	if len(object) > maxObject {
		return fmt.Errorf("the object has %s bytes; the API server takes %s at most", text.Count(int64(len(object))), text.Count(maxObject))
	}
	if values := valuesIn(object); values > maxValues {
		return fmt.Errorf("the object holds %s values; %s are read at most", text.Count(int64(values)), text.Count(maxValues))
	}
	return nil
}

// valuesIn counts the values in JSON: those after a colon, and the items of lists, counting empty
// lists as if they had one.
func valuesIn(object []byte) int {
	values, quoted := 1, false
	var open []byte // the brackets
	for i := 0; i < len(object); i++ {
		c := object[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			open = append(open, c)
			if c == '[' {
				values++
			}
		case c == ']' || c == '}':
			open = open[:max(0, len(open)-1)]
		case c == ':', c == ',' && len(open) > 0 && open[len(open)-1] == '[':
			values++
		}
	}
	return values
}
