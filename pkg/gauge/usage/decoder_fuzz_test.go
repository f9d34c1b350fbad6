package usage_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// FuzzDecoder has anything at all read as a report. What is read must be within the limits, valid, and what package json makes of it.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte(inJSON(f, usage.Report{AgeSeconds: 3, Intervals: []usage.Interval{interval()}})))
	f.Add([]byte(`{"intervals":[{"node":"n","start":null,"seconds":1,"cpus":1,"pods":null},{"pods":[],"cpus":2,"seconds":1e0,"node":"\u006e"}]}`))
	f.Add([]byte(`{"intervals":[{"node":"n","seconds":1,"cpus":1,"pods":[{"uid":"a","threads":1,"dilation":1,"containers":[{"id":"c"}]},{"UID":"b","threads":1,"dilation":1}]}]}`))
	f.Add([]byte(`{"intervals":[{"node":"n","seconds":1,"cpus":1}]`))
	f.Add([]byte(`{"x":[[[[{}]]]],"intervals":[{}]}`))
	f.Add([]byte(`{"ageSeconds":1e999}`))
	f.Add([]byte(`{"intervals":[{"node":"n","seconds":1,"cpus":1,"disksLeftOut":2,"disks":[{"name":"vda","number":"254:0","scheduler":"none","beneath":["sda"],` +
		`"reads":{"operations":1,"bytes":4096,"seconds":0.1},"flushes":{},"busySeconds":1,"service":[{"direction":"read","bytes":4096,"seconds":1,"intervals":1}]}],` +
		`"pods":[{"uid":"a","threads":1,"dilation":1,"blockedBy":"pressure","diskPressure":{"someSeconds":1},"memoryPressureSeconds":0,"disks":[{"name":"vda","limit":{"readBytes":1}}]}]}]}`))
	limits := usage.Limits{Bytes: 1 << 16, Intervals: 4, Objects: 8, Known: true}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := usage.NewDecoder(bytes.NewReader(text), limits).Report()
		if err != nil {
			if why := err.Error(); len(why) > 4*usage.MaxExcerpt || bytes.ContainsAny([]byte(why), "\x00\x1b\n\r") {
				t.Errorf("an error is not for a log: %q", why)
			}
			return
		}
		if err := got.Validate(); err != nil {
			t.Errorf("what is read breaks the rules: %v", err)
		}
		objects := 0
		for i := range got.Intervals {
			for k := range got.Intervals[i].Pods {
				objects += 1 + len(got.Intervals[i].Pods[k].Containers) + len(got.Intervals[i].Pods[k].Disks)
			}
			for _, d := range got.Intervals[i].Disks {
				objects += 1 + len(d.Beneath) + len(d.Service)
			}
		}
		if len(got.Intervals) > limits.Intervals || objects > limits.Objects {
			t.Errorf("%d intervals and %d objects are read", len(got.Intervals), objects)
		}
		var want usage.Report
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&want); err != nil {
			t.Fatalf("package json refuses it: %v", err)
		}
		if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("package json reads something else (-json +decoder):\n%s", diff)
		}
	})
}
