package perf

import (
	"bytes"
	"math"
	"os"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"loadline.dev/loadline/hack/processes"
)

// stack returns samples with a stack of functions, the innermost one first.
func stack(samples int64, functions ...string) *profile.Sample {
	s := &profile.Sample{Value: []int64{samples, samples * 4e6}}
	for _, name := range functions {
		s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
	}
	return s
}

func TestASampleIsOfTheInnermostPartOfTheSystemOnItsStack(t *testing.T) {
	t.Parallel()
	const (
		schedule = "k8s.io/kubernetes/pkg/scheduler.(*Scheduler).ScheduleOne"
		filter   = "k8s.io/kubernetes/pkg/scheduler/framework/runtime.(*frameworkImpl).RunFilterPlugins"
		loadline = "loadline.dev/loadline/pkg/plugins/dilation.(*Dilation).Filter"
	)
	for name, c := range map[string]struct {
		sample *profile.Sample
		want   Split
	}{
		"a plugin of upstream":              {stack(2, "runtime.mapaccess2", filter, schedule), Split{Scheduler: 1, Samples: 2}},
		"Loadline, called by the scheduler": {stack(2, "runtime.mallocgc", "loadline.dev/loadline/pkg/node.New", loadline, filter, schedule), Split{Loadline: 1, Samples: 2}},
		"Loadline's informer":               {stack(1, "loadline.dev/loadline/pkg/profile.(*Index).set", "k8s.io/client-go/tools/cache.processDeltas"), Split{Loadline: 1, Samples: 1}},
		"what Loadline calls":               {stack(1, "fmt.Sprintf", loadline), Split{Loadline: 1, Samples: 1}},
		"an assist of the collector": {
			stack(1, "runtime.gcDrainN", "runtime.gcAssistAlloc1", "runtime.gcAssistAlloc.func2", "runtime.mallocgc", loadline, schedule),
			Split{Collection: 1, Samples: 1},
		},
		"a worker of the collector": {
			stack(1, "runtime.scanobject", "runtime.gcBgMarkWorker.func2", "runtime.systemstack", "runtime.gcBgMarkWorker"),
			Split{Collection: 1, Samples: 1},
		},
		"the API server":             {stack(1, "k8s.io/apiserver/pkg/endpoints/handlers.createHandler.func1", "net/http.serve"), Split{Rest: 1, Samples: 1}},
		"the benchmark":              {stack(1, "k8s.io/kubernetes/test/integration/scheduler_perf.(*throughputCollector).run"), Split{Rest: 1, Samples: 1}},
		"a package of another name":  {stack(1, "k8s.io/kubernetes/pkg/schedulerless.Run"), Split{Rest: 1, Samples: 1}},
		"a function of another name": {stack(1, "runtime.GCsomething"), Split{Rest: 1, Samples: 1}},
	} {
		got, err := SplitSamples(&profile.Profile{Sample: []*profile.Sample{c.sample}})
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

func TestSharesAreOfAllSamples(t *testing.T) {
	t.Parallel()
	got, err := SplitSamples(&profile.Profile{Sample: []*profile.Sample{
		stack(1, "loadline.dev/loadline/pkg/node.New"), stack(2, "k8s.io/kubernetes/pkg/scheduler.New"), stack(1, "runtime.GC"), stack(4, "net/http.serve"),
	}})
	if want := (Split{Loadline: 0.125, Scheduler: 0.25, Collection: 0.125, Rest: 0.5, Samples: 8}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestAProfileWithoutSamplesIsRefused(t *testing.T) {
	t.Parallel()
	if got, err := SplitSamples(&profile.Profile{}); err == nil {
		t.Errorf("got %+v", got)
	}
}

// processorUsed returns how much processor time this process has used.
func processorUsed(t *testing.T) time.Duration {
	t.Helper()
	used, err := processes.Processor(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// The functions of a real profile have the names that the split goes by.
func TestTheProfileOfAGoProgramCanBeSplit(t *testing.T) { //nolint:paralleltest // there is one profile of a process
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Skip(err) // go test -cpuprofile takes one, and a process has one
	}
	busy, end := processorUsed(t), time.Now().Add(time.Minute)
	for i := 0; processorUsed(t)-busy < time.Second && time.Now().Before(end); i++ { // a hundred samples, however busy the machine is
		_ = significant(float64(i))
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := SplitSamples(p); err != nil || math.Abs(got.Loadline+got.Scheduler+got.Collection+got.Rest-1) > 1e-9 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheErrorOfAShareIsThatOfABinomialDistribution(t *testing.T) {
	t.Parallel()
	// 100 of 400 samples: the number has a variance of 400 × 1/4 × 3/4 = 75.
	if got, want := RelativeError(0.25, 400), math.Sqrt(75)/100; math.Abs(got-want) > 1e-15 {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := RelativeError(0, 400); got != 1 {
		t.Errorf("of none: got %v, want 1", got)
	}
}
