package validate

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// candidates returns changes that may mend a field, the likeliest first. Which of them
// does, the rules say.
func (o *object) candidates(g *group) []*change {
	v, there := g.path.in(o.mended)
	if !there || len(g.path) == 0 {
		return nil
	}
	if g.refusals[0].unknown {
		return o.otherNames(g.path, v)
	}
	var all []*change
	for _, value := range o.otherValues(g.path, v, g.path.schemaIn(o.definition.schema)) {
		all = append(all, &change{path: g.path, value: value})
	}
	return all
}

// otherNames returns an unknown field under the name that was meant, and its removal.
func (o *object) otherNames(p path, v any) []*change {
	var all []*change
	if parent := p.parent().schemaIn(o.definition.schema); parent != nil {
		if near := closest(p.name(), slices.Sorted(maps.Keys(parent.Properties))); near != "" {
			schema := parent.Properties[near]
			all = append(all, &change{path: p, rename: near, value: v, written: quoted(o.text(p), v)})
			for _, value := range o.otherValues(p, v, &schema) {
				all = append(all, &change{path: p, rename: near, value: value})
			}
		}
	}
	return append(all, &change{path: p})
}

// otherValues returns what may be meant by a value of a field with a schema, which is
// nil in metadata.
func (o *object) otherValues(p path, v any, schema *structuralschema.Structural) (all []any) {
	switch {
	case wantsString(p, v), schema != nil && (schema.XIntOrString || schema.Type == "string"):
		for _, text := range o.strings(p, v, schema) {
			all = append(all, text)
		}
	case schema == nil:
	case schema.Type == "integer":
		for _, n := range wholeNumbers(p.name(), v) {
			all = append(all, n)
		}
	case schema.Type == "array":
		if _, is := v.([]any); !is {
			all = append(all, []any{v})
		}
	case schema.Type == "object":
		if list, is := v.([]any); is && len(list) == 1 {
			all = append(all, list[0])
		}
	}
	return all
}

// quoted returns the text of a scalar.
func quoted(text string, v any) string {
	if _, isString := v.(string); isString {
		return ""
	}
	return text
}

// strings returns strings that may be meant by a value.
func (o *object) strings(p path, v any, schema *structuralschema.Structural) []string {
	switch v.(type) {
	case string, int64, float64, bool:
	default:
		return nil
	}
	text, isString := v.(string)
	if !isString {
		if text = o.text(p); text == "" {
			text = strings.Trim(o.shown(p, v), `"`)
		}
	}
	all := []string{text}
	if schema != nil && schema.XIntOrString {
		all = append(all, numbers(text)...)
	} else {
		all = append(all, closest(text, enum(schema)), nameLike(text))
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" || isString && s == text })
}

// numbers returns what may be meant by a text that should be a number: without spaces
// and the signs of percent and times, with a point for a comma, without an exponent.
func numbers(text string) []string {
	plain := strings.ReplaceAll(strings.TrimSpace(text), "_", "")
	scale := 0 // decimal places to the left
	if percent, is := strings.CutSuffix(plain, "%"); is {
		plain, scale = strings.TrimSpace(percent), 2
	}
	plain = strings.TrimRight(plain, "x×")
	if strings.Count(plain, ",") == 1 && !strings.Contains(plain, ".") {
		plain = strings.Replace(plain, ",", ".", 1)
	}
	number, err := strconv.ParseFloat(plain, 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		return []string{plain}
	}
	if scale == 0 && !strings.ContainsAny(plain, "eEpPxX") {
		return []string{plain}
	}
	return []string{strconv.FormatFloat(number/math.Pow10(scale), 'f', -1, 64)}
}

// nameLike makes a text a name as Kubernetes has them.
func nameLike(text string) string {
	return strings.Trim(strings.NewReplacer("_", "-", " ", "-", ".", "-").Replace(strings.ToLower(strings.TrimSpace(text))), "-")
}

// wholeNumbers returns the whole numbers that may be meant by the value of a field, whose
// name has the unit of a time.
func wholeNumbers(name string, v any) []int64 {
	switch value := v.(type) {
	case float64:
		if math.Abs(value) < 1<<53 {
			return []int64{int64(math.Round(value))}
		}
	case string:
		text := strings.ReplaceAll(strings.TrimSpace(value), "_", "")
		if number, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(number) < 1<<53 {
			return []int64{int64(math.Round(number))}
		}
		duration, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		switch {
		case err != nil:
		case strings.HasSuffix(name, "Millis"):
			return []int64{duration.Round(time.Millisecond).Milliseconds()}
		case strings.HasSuffix(name, "Seconds"):
			return []int64{int64(duration.Round(time.Second) / time.Second)}
		}
	}
	return nil
}

// closest returns the name that a misspelt one is likely to be, "" for none: that which
// differs in case only, or else by the fewest letters, a third of them at most.
func closest(text string, names []string) string {
	best, fewest := "", len([]rune(text))/3+1
	for _, name := range names {
		if strings.EqualFold(name, text) {
			return name
		}
		if len(text) > 2*len(name)+2 { // they differ by more than a third of the letters, and long ones take long to compare
			continue
		}
		if d := distance(strings.ToLower(text), strings.ToLower(name)); d < fewest {
			best, fewest = name, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with the next one to
// turn one text into another: the optimal string alignment distance.
func distance(from, to string) int {
	a, b := []rune(from), []rune(to)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
