// Package manifests holds manifests that have every field of the API, and the mistakes
// that can be made in them: what says whether a manifest is valid is tested by it.
package manifests

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

var (
	//go:embed every.yaml
	every []byte
	//go:embed shown.yaml
	shown []byte
)

// Objects returns valid objects that together have every field of the specs.
func Objects() ([]map[string]any, error) { return Read(every) }

// Shown returns every object of the API that a page, an example or a sample has ever had.
func Shown() ([]map[string]any, error) { return Read(shown) }

// Read returns the objects in documents of YAML.
func Read(text []byte) ([]map[string]any, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var objects []map[string]any
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := utilyaml.Unmarshal(text, &object); err != nil {
			return nil, err
		}
		if object != nil { // more than comments
			objects = append(objects, object)
		}
	}
}

// values are what is put in the place of a field.
var values = []any{
	nil, true, 0.58, 1.5, -0.5, 3.0, int64(0), int64(1), int64(-1), int64(7), int64(99_999_999_999_999), int64(math.MaxInt64),
	"", "x", "UPPER", "with_underscore", "NaN", "Inf", "1e999999999999", "5e-1", "58%", "0,58", " 0.5 ", "1_000", "1.5", "0.58", "580m", "1Gi", "-1", "78s", "4",
	"héllo", "日本", "a/b/c", "../..", "line\nbreak", strings.Repeat("a", 64), strings.Repeat("9", 300),
	[]any{},
	[]any{int64(1)},
	[]any{"cpu"},
	map[string]any{},
	map[string]any{"a": "b"},
}

// Mutations returns copies of an object with one mistake each, or with what may be
// one, and says which: any field with another value, without it, under a misspelt name,
// beside an unknown one, any list with its first item twice. The kind, its API and
// the namespace, which lead to where the object is sent, stay as they are.
func Mutations(object map[string]any) iter.Seq2[string, map[string]any] {
	return func(yield func(string, map[string]any) bool) {
		for _, at := range places(object, nil) {
			for what, change := range changes(at) {
				mutated := runtime.DeepCopyJSON(object)
				change(mutated)
				if !yield(fmt.Sprintf("%v: %s", at, what), mutated) {
					return
				}
			}
		}
	}
}

// places returns the paths of all fields and items.
func places(value any, at []any) [][]any {
	var all [][]any
	below := func(step, value any) {
		next := append(slices.Clone(at), step)
		if fixed := fmt.Sprint(next); fixed == "[kind]" || fixed == "[apiVersion]" || fixed == "[metadata namespace]" || fixed == "[metadata]" {
			if fixed == "[metadata]" {
				all = append(all, places(value, next)...)
			}
			return
		}
		all = append(all, next)
		all = append(all, places(value, next)...)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below(name, v[name])
		}
	case []any:
		for i, item := range v {
			below(i, item)
		}
	}
	return all
}

// changes returns what may be done to a field.
func changes(at []any) iter.Seq2[string, func(map[string]any)] {
	return func(yield func(string, func(map[string]any)) bool) {
		for _, value := range values {
			if !yield(fmt.Sprintf("%.40v", value), func(o map[string]any) { set(o, at, runtime.DeepCopyJSONValue(value)) }) {
				return
			}
		}
		name, isName := at[len(at)-1].(string)
		if !isName {
			yield("twice", func(o map[string]any) { twice(o, at) })
			return
		}
		_ = yield("left out", func(o map[string]any) { rename(o, at, "") }) &&
			yield("misspelt", func(o map[string]any) { rename(o, at, misspelt(name)) }) &&
			yield("in capitals", func(o map[string]any) { rename(o, at, strings.ToUpper(name)) }) &&
			yield("beside another", func(o map[string]any) { set(o, append(slices.Clone(at[:len(at)-1]), "unheardOf"), "x") })
	}
}

// misspelt swaps the last two letters.
func misspelt(name string) string {
	if len(name) < 3 {
		return name + "x"
	}
	n := len(name)
	return name[:n-2] + name[n-1:] + name[n-2:n-1]
}

// holder returns what holds the value of a path.
func holder(object map[string]any, at []any) any {
	var value any = object
	for _, step := range at[:len(at)-1] {
		switch v := value.(type) {
		case map[string]any:
			value = v[step.(string)] //nolint:errcheck // the path is of the object
		case []any:
			value = v[step.(int)] //nolint:errcheck // as above
		}
	}
	return value
}

func set(object map[string]any, at []any, value any) {
	switch v := holder(object, at).(type) {
	case map[string]any:
		v[at[len(at)-1].(string)] = value //nolint:errcheck // as above
	case []any:
		v[at[len(at)-1].(int)] = value //nolint:errcheck // as above
	}
}

// rename gives a field another name, or none.
func rename(object map[string]any, at []any, name string) {
	fields := holder(object, at).(map[string]any) //nolint:errcheck // as above
	was := at[len(at)-1].(string)                 //nolint:errcheck // as above
	value := fields[was]
	delete(fields, was)
	if name != "" {
		fields[name] = value
	}
}

// twice repeats an item at the end of its list.
func twice(object map[string]any, at []any) {
	list := holder(object, at).([]any) //nolint:errcheck // as above
	set(object, at[:len(at)-1], append(slices.Clone(list), runtime.DeepCopyJSONValue(list[at[len(at)-1].(int)])))
}

// Follow does what advice says: it puts the fields of text, which is YAML, in the place
// of the one that a path leads to, or removes it where there is no text.
func Follow(object map[string]any, field, text string) error {
	at := steps(field)
	if len(at) == 0 {
		return errors.New("advice without a field")
	}
	var instead any
	if err := utilyaml.Unmarshal([]byte(text), &instead); err != nil {
		return err
	}
	if item, is := instead.([]any); is {
		set(object, at, item[0])
		return nil
	}
	rename(object, at, "")
	fields, _ := instead.(map[string]any)
	for name, value := range fields {
		set(object, append(slices.Clone(at[:len(at)-1]), name), value)
	}
	return nil
}

// steps reads a path such as spec.resources[0].name or metadata.labels[example.com/a].
func steps(field string) []any {
	var at []any
	for field != "" {
		var step string
		if field[0] == '[' {
			step, field, _ = strings.Cut(field[1:], "]")
		} else if end := strings.IndexAny(field, ".["); end >= 0 {
			step, field = field[:end], field[end:]
		} else {
			step, field = field, ""
		}
		field = strings.TrimPrefix(field, ".")
		var index int
		if _, err := fmt.Sscanf(step, "%d", &index); err == nil && fmt.Sprint(index) == step {
			at = append(at, index)
		} else {
			at = append(at, step)
		}
	}
	return at
}
