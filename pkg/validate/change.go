package validate

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
)

// change is a change of a field that may mend it: another value, another name, or
// none.
type change struct {
	path    path
	rename  string // the new name, if the field is renamed
	value   any    // nil: remove the field
	written string // the value in YAML, if it is written otherwise than in JSON
}

// at returns the path that the field has after the change.
func (c *change) at() path {
	if c.rename == "" {
		return c.path
	}
	return c.path.parent().child(c.rename)
}

// apply makes the change, and reports whether it could.
func (c *change) apply(object map[string]any) bool {
	if len(c.path) == 0 {
		return false
	}
	parent, ok := c.path.parent().in(object)
	if !ok {
		return false
	}
	switch at := parent.(type) {
	case map[string]any:
		name := c.path.name()
		if _, taken := at[c.rename]; taken {
			return false
		}
		delete(at, name)
		if c.value != nil {
			at[c.at().name()] = runtime.DeepCopyJSONValue(c.value)
		}
		return true
	case []any:
		i, isIndex := c.path[len(c.path)-1].(int)
		if !isIndex || c.value == nil {
			return false
		}
		at[i] = runtime.DeepCopyJSONValue(c.value)
		return true
	default:
		return false
	}
}

// maxText bounds advice, in bytes: more is not copied from a terminal.
const maxText = 200

// text returns what to write, "" where the field is removed or the text is long.
func (c *change) text() string {
	if c.value == nil {
		return ""
	}
	written := c.written
	if written == "" {
		text, err := json.Marshal(c.value)
		if err != nil || len(text) > maxText {
			return ""
		}
		written = string(text)
	}
	if name := c.at().name(); name != "" {
		return name + ": " + written
	}
	return "- " + written
}
