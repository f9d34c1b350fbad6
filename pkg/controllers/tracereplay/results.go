package tracereplay

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
)

// A result is up to 4 KiB and a ConfigMap up to 1 MiB, so the results of a
// replay's runs, 1000 at most, are spread over several: run r is in number
// r / perShard.
const (
	perShard = 200
	shards   = 1000 / perShard
)

func resultKey(run int) string { return fmt.Sprintf("run-%d", run) }

// readResults decodes the results in the ConfigMaps, of total runs. Undecodable ones count as lost.
func readResults(stored []*corev1.ConfigMap, total int) map[int]*replays.Result {
	results := map[int]*replays.Result{}
	for _, shard := range stored {
		for key, text := range shard.Data {
			var run int
			if _, err := fmt.Sscanf(key, "run-%d", &run); err != nil || resultKey(run) != key || run < 0 || run >= total {
				continue
			}
			if result, err := replays.DecodeResult(text); err == nil {
				results[run] = result
			}
		}
	}
	return results
}

// write is a ConfigMap to be created, where before is nil, or changed.
type write struct{ before, after *corev1.ConfigMap }

// storeResults returns what must be written for the stored ConfigMaps to hold
// further results too.
func storeResults(replay *v1alpha1.TraceReplay, stored []*corev1.ConfigMap, further map[int]string) []write {
	changed := map[string]write{}
	for _, run := range slices.Sorted(maps.Keys(further)) {
		name := resultsName(replay.Name, run/perShard)
		w, begun := changed[name]
		if !begun {
			w = write{after: &corev1.ConfigMap{ObjectMeta: metadata(replay, name)}}
			if i := slices.IndexFunc(stored, func(c *corev1.ConfigMap) bool { return c.Name == name }); i >= 0 {
				w = write{before: stored[i], after: stored[i].DeepCopy()}
			}
			if w.after.Data == nil {
				w.after.Data = map[string]string{}
			}
		}
		w.after.Data[resultKey(run)] = further[run]
		changed[name] = w
	}
	var writes []write
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		writes = append(writes, changed[name])
	}
	return writes
}
