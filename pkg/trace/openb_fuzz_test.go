package trace

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReadPods feeds anything at all to the reader. It must not panic, and
// what it accepts must read the same when written out again.
func FuzzReadPods(f *testing.F) {
	rows := string(testdata(f, "openb_pod_list_first_2000.csv"))
	f.Add(rows[:2000])
	f.Add(podHeader + "a,1,1,0,0,,LS,Pending,10,,\n\n")
	f.Add("\ufeff" + podHeader + `"a ""quoted"" name",1,1,0,0,"T4|P100",BE,Running,10,20,15` + "\r\n")
	f.Add(string(gzipped(f, []byte(rows[:500]))))
	f.Fuzz(func(t *testing.T, input string) {
		pods, err := readPods(input)
		if err != nil && err.Error() == "" {
			t.Error("the error says nothing")
		}
		if len(pods) == 0 {
			return
		}
		again, err := readPods(writePods(t, pods))
		if err != nil {
			t.Fatalf("pods that were accepted are refused: %v", err)
		}
		if diff := cmp.Diff(pods, again); diff != "" {
			t.Errorf("pods change when written and read (-before +after):\n%s", diff)
		}
	})
}

func writePods(t *testing.T, pods []openbPod) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.Write(openbPodColumns); err != nil {
		t.Fatal(err)
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	moment := func(m Moment) string {
		if !m.Happened {
			return ""
		}
		return number(m.At)
	}
	for _, p := range pods {
		err := w.Write([]string{
			podName: p.Name, podCPU: whole(p.CPUMilli), podMemory: whole(p.MemoryMiB), podGPUs: strconv.Itoa(p.GPUs),
			podGPUMilli: strconv.Itoa(p.GPUMilli), podGPUSpec: p.GPUSpec, podQoS: p.QoS, podPhase: p.Phase,
			podCreated: number(p.Created), podDeleted: moment(p.Deleted), podScheduled: moment(p.Scheduled),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
