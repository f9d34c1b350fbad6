package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

// said is what the guest says of a mix that a gauge observed.
const said = `kernel,6.12.117,700000,500.08
alone/1,1,495,4.95,4.95,4.98,0.01,30,0,0,0
a,1,490,5,4,5.0,5.0,900,0,0,0
gauge,a,{
gauge,a,  "node": "lab", "seconds": 9,
gauge,a,  "pods": [{"uid": "00000000-0000-4000-8000-000000000001", "dilation": 1.9, "cpuLoading": 0.75, "threads": 1, "burstSeconds": 0.009}]
gauge,a,}
`

func TestAGaugeIsComparedWithThePodsThatItSaw(t *testing.T) {
	t.Parallel()
	half := pod("a", 1, 1000)
	half.Loading = 0.5
	e := newExperiment([]mixes.Row{half}, 250, settings{cgroup: 2, processors: 1}, func(string) {})
	e.text()
	if _, err := listen(strings.NewReader(said), e.hear); err != nil {
		t.Fatal(err)
	}
	sights, err := e.sights()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	writeSights(&table, sights)
	const want = `| mix, pod | dilation | by the gauge | loading | by the gauge | threads | by the gauge | throttled | by the gauge | burst | by the gauge |
|---|---|---|---|---|---|---|---|---|---|---|
| a, 1 | 2.000 | 1.900 | 0.800 | 0.750 | 1 | 1.00 | 0.00 s | 0.00 s | 8.16 ms | 9.00 ms |

The gauge's dilations are off by 5.0 % on average, 5.0 % at worst.
Its bursts are off by a factor of 1.10 on average, 1.10 at worst.
`
	if diff := cmp.Diff(want, table.String()); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
}

func TestAGaugeThatFailsIsTheError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after, want string }{
		"it prints an error": {"gauge,a,{", "gauge,a,Error: no groups", "mix a: the gauge says \"Error: no groups"},
		"it misses a pod":    {"000001\"", "000002\"", "mix a: the gauge did not see pod 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newExperiment([]mixes.Row{pod("a", 1, 1000)}, 250, settings{cgroup: 2, processors: 1}, func(string) {})
			e.text()
			if _, err := listen(strings.NewReader(strings.ReplaceAll(said, test.before, test.after)), e.hear); err != nil {
				t.Fatal(err)
			}
			if _, err := e.sights(); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s…", err, test.want)
			}
		})
	}
}
