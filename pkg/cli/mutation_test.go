package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// oddities are the replacements of values and cells.
var oddities = []any{
	nil, true, false, int64(0), int64(1), int64(-1), int64(1 << 40), int64(-1 << 62), 0.5, -1.5, 1e300,
	"", " ", "x", "NaN", "Inf", "-inf", "1e999", "0x1p-2", "1_000", "0,5", "58%", "12", "-3m", "500m", "1Gi", "1e3", "2026-13-01T00:00:00Z", "90s", "P1D",
	"héllo", "日本語", "a\nb", "\u202egnp", "{}", "[]", "null", "~", "%!s(int=3)", strings.Repeat("9", 400), strings.Repeat("a", 300),
	[]any{},
	[]any{nil},
	[]any{"a", int64(1)},
	[]any{[]any{}},
	map[string]any{},
	map[string]any{"a": nil},
	map[string]any{"": "x"},
	map[string]any{"cpu": "much"},
}

// oddKinds are the replaced kinds of objects.
var oddKinds = [][2]string{
	{"v1", "Pod"},
	{"v1", "Node"},
	{"v1", "List"},
	{"v1", "PodList"},
	{"apps/v1", "Deployment"},
	{"batch/v1", "CronJob"},
	{"apps/v1beta1", "Deployment"},
	{"loadline.dev/v1alpha1", "WorkloadProfile"},
	{"loadline.dev/v1alpha1", "NodeProfile"},
	{"loadline.dev/v1alpha1", "PoolPlan"},
	{"loadline.dev/v1alpha1", "Remediation"},
	{"loadline.dev/v1alpha1", "RemediationPolicy"},
	{"loadline.dev/v1alpha1", "ShareTree"},
	{"loadline.dev/v1alpha1", "TraceReplay"},
	{"loadline.dev/v1alpha1", "TraceReplays"},
	{"loadline.dev/v2", "WorkloadProfile"},
	{"monitoring.coreos.com/v1", "ServiceMonitor"},
	{"", "Pod"},
	{"v1", ""},
	{"a/b/c", "Pod"},
	{"kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"},
	{"config.loadline.dev/v1alpha1", "DilationArgs"},
}

// mutatedObject returns an object with some mistakes.
func mutatedObject(r *rand.Rand, object map[string]any) map[string]any {
	o := runtime.DeepCopyJSON(object)
	for range 1 + r.IntN(3) {
		if r.IntN(12) == 0 {
			kind := oddKinds[r.IntN(len(oddKinds))]
			o["apiVersion"], o["kind"] = kind[0], kind[1]
			continue
		}
		mutateWithin(r, o)
	}
	return o
}

// mutateWithin makes a mistake at a place of a value that is chosen by going down from it.
func mutateWithin(r *rand.Rand, value any) {
	switch v := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			v["extra"] = oddities[r.IntN(len(oddities))]
			return
		}
		key := keys[r.IntN(len(keys))]
		if deeper(v[key]) && r.IntN(5) > 0 {
			mutateWithin(r, v[key])
			return
		}
		switch r.IntN(6) {
		case 0:
			delete(v, key)
		case 1:
			v[key+"s"] = v[key]
			delete(v, key)
		case 2:
			v["extra"] = v[key]
		default:
			v[key] = runtime.DeepCopyJSONValue(oddities[r.IntN(len(oddities))])
		}
	case []any:
		i := r.IntN(len(v))
		switch {
		case deeper(v[i]) && r.IntN(5) > 0:
			mutateWithin(r, v[i])
		case r.IntN(3) == 0:
			v[i] = runtime.DeepCopyJSONValue(v[r.IntN(len(v))]) // one twice
		default:
			v[i] = runtime.DeepCopyJSONValue(oddities[r.IntN(len(oddities))])
		}
	}
}

func deeper(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return true
	case []any:
		return len(v) > 0
	}
	return false
}

// mutatedText returns a text with a mistake that is none of the format's making: cut off, with other line ends, of another
// encoding, with characters that are no text.
func mutatedText(r *rand.Rand, text string) string {
	at := func() int { return r.IntN(len(text) + 1) }
	if text == "" {
		return "\ufeff"
	}
	switch r.IntN(10) {
	case 0:
		return text[:at()]
	case 1:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 2:
		return "\ufeff" + text
	case 3:
		return strings.ReplaceAll(text, "\n", "\n\t")
	case 4:
		i := at()
		return text[:i] + []string{"\x00", "\xff\xfe", "\"", "{", "]", "\t", ": ", "\n---\n", "&a ", "*a", "!!float ", "<<: ", "? ", "\u2028", "🙂", "%"}[r.IntN(16)] + text[i:]
	case 5:
		lines := strings.SplitAfter(text, "\n")
		i := r.IntN(len(lines))
		return strings.Join(slices.Insert(lines, i, lines[r.IntN(len(lines))]), "")
	case 6:
		lines := strings.SplitAfter(text, "\n")
		i := r.IntN(len(lines))
		return strings.Join(slices.Delete(lines, i, i+1), "")
	case 7:
		i := at()
		return text[:i] + text[min(len(text), i+1+r.IntN(20)):]
	case 8:
		return text + "\n---\n" + text
	default:
		var wide bytes.Buffer // UTF-16
		wide.WriteString("\xff\xfe")
		for _, c := range []byte(text) {
			wide.WriteByte(c)
			wide.WriteByte(0)
		}
		return wide.String()
	}
}

// mutatedTable returns rows of a table with some mistakes.
func mutatedTable(r *rand.Rand, text, separator string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for range 1 + r.IntN(3) {
		i := r.IntN(len(lines))
		cells := strings.Split(lines[i], separator)
		k := r.IntN(len(cells))
		switch r.IntN(6) {
		case 0:
			cells = slices.Delete(cells, k, k+1)
		case 1:
			cells = slices.Insert(cells, k, cells[r.IntN(len(cells))])
		case 2:
			cells[k] = `"` + cells[k]
		default:
			if odd := oddities[r.IntN(len(oddities))]; !deeper(odd) {
				cells[k] = fmt.Sprint(odd)
			}
		}
		lines[i] = strings.Join(cells, separator)
	}
	return strings.Join(lines, "\n") + "\n"
}

// written returns objects as documents of YAML, of JSON, or as a list.
func written(r *rand.Rand, objects []map[string]any) string {
	inJSON := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // they are from JSON
		}
		return string(text)
	}
	var texts []string
	for _, o := range objects {
		texts = append(texts, inJSON(o))
	}
	switch r.IntN(4) {
	case 0:
		return `{"apiVersion": "v1", "kind": "List", "items": [` + strings.Join(texts, ",\n") + "]}\n"
	case 1:
		return strings.Join(texts, "\n")
	default:
		return strings.Join(texts, "\n---\n") + "\n"
	}
}
