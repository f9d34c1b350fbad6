package cgroup_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Pods that were measured on real nodes with cgroup v1, alone and together. testdata/mixes.csv has pods that compute and
// sleep in turns, testdata/programs.csv real programs. A line is a pod of a run: the cores of the node, the pods that ran
// together, which of them it is, its pace (progress per time, of a program its runs per second), the fraction of the time
// that it ran per thread, and what a processor did in a second. The pods are written like
//
//	500m cpu              requests 500m and computes all the time; 0 is BestEffort
//	500m 60%              computes for 30 ms and sleeps for 20 ms, in turns
//	500m 60% exp          does so in times that are exponentially distributed
//	500m cpu x2           in two threads
//	100m+50m cpu          in two containers
//	100m limit=300m cpu   has a limit
//	=300m cpu             is Guaranteed
//	500m nginx            runs a real program

// measuredPod is a pod of a mix.
type measuredPod struct {
	text      string
	pod       corev1.Pod
	threads   int
	limited   bool
	synthetic bool
	loading   float64 // of a thread of a synthetic one
	burst     float64 // seconds, of a synthetic one
}

// podOf reads how a pod is written.
func podOf(t *testing.T, text string) measuredPod {
	t.Helper()
	fields := strings.Fields(text)
	m := measuredPod{text: text, threads: 1}
	limit := ""
	for _, field := range fields[1:] {
		load, percent := strings.CutSuffix(field, "%")
		threads, several := strings.CutPrefix(field, "x")
		most, limited := strings.CutPrefix(field, "limit=")
		const cycle = 0.05 // seconds
		switch count, err := strconv.Atoi(threads); {
		case field == "cpu":
			m.synthetic, m.loading, m.burst = true, 1, cycle
		case percent:
			m.synthetic, m.loading = true, number(t, load)/100
			m.burst = m.loading * cycle
		case limited:
			limit = most
		case several && err == nil:
			m.threads = count
		}
	}
	requests, guaranteed := strings.CutPrefix(fields[0], "=")
	if guaranteed {
		limit = requests
	}
	var containers []corev1.Container
	for i, request := range strings.Split(requests, "+") {
		c := container(fmt.Sprintf("container-%d", i+1), request, limit)
		if request == "0" {
			c.Resources.Requests = nil
		}
		if guaranteed {
			c.Resources.Requests[corev1.ResourceMemory] = resource.MustParse("1Gi")
		}
		containers = append(containers, c)
	}
	m.pod, m.limited = pod("measured", containers...), limit != ""
	m.threads *= len(containers)
	return m
}

// alone is how the pod is written where it was measured alone: as it is if its own limit holds it back, else with
// requests that do not matter then.
func (m *measuredPod) alone() string {
	if m.limited {
		return m.text
	}
	_, load, _ := strings.Cut(m.text, " ")
	return strings.Repeat("+100m", len(m.pod.Spec.Containers))[1:] + " " + load
}

// activity is what a pod did in a run, or several on average.
type activity struct{ runs, pace, cpu, speed float64 }

func (a activity) and(b activity) activity {
	mean := func(x, y float64) float64 { return x + (y-x)/(a.runs+1) }
	return activity{a.runs + 1, mean(a.pace, b.pace), mean(a.cpu, b.cpu), mean(a.speed, b.speed)}
}

// dilation returns how much longer the pod took than alone, by processor time, so that it does not matter how fast the
// processors were: runs of a program take as much longer as the processors need for them, which is no waiting.
func (m *measuredPod) dilation(together, alone activity) float64 {
	if m.synthetic {
		return alone.pace / together.pace
	}
	return 1 / together.pace / (1/alone.pace + 1/together.speed - 1/alone.speed)
}

// measuredMix is pods that ran together.
type measuredMix struct {
	cores    int
	pods     []measuredPod
	measured []float64 // their dilations, on average over the runs
	loadings []float64 // of their threads
}

// equal reports whether all pods of the mix have one request and as many threads, and none a limit or several containers.
func (m *measuredMix) equal() bool {
	first, _, _ := strings.Cut(m.pods[0].text, " ")
	for i := range m.pods {
		p := &m.pods[i]
		request, _, _ := strings.Cut(p.text, " ")
		if p.limited || request != first || p.threads != m.pods[0].threads || len(p.pod.Spec.Containers) > 1 {
			return false
		}
	}
	return true
}

// predict returns the dilations of the pods where requests are weights and limits quotas, and where all share alike what
// limits let through.
func (m *measuredMix) predict(t *testing.T) (weighted, alike []float64) {
	t.Helper()
	pods := make([]corev1.Pod, len(m.pods))
	for i := range pods {
		pods[i] = m.pods[i].pod
		pods[i].Name = fmt.Sprint(i)
	}
	// With one core the policy is the same, but no pod can have the only one.
	pool, err := cgroup.NewPool(pointers(pods), m.cores, cgroup.Options{Pods: cgroup.None, Containers: cgroup.None, StaticCPUs: m.cores > 1})
	if err != nil {
		t.Fatal(err)
	}
	sharing := pool.Sharing(0)
	sharing.Shares = append([]loading.Share(nil), sharing.Shares...)
	var declared, limited []loading.Vector
	for i, p := range m.loadings {
		threads, share := m.pods[i].threads, &sharing.Shares[i]
		share.Burst = m.pods[i].burst
		least := p
		if share.Limit > 0 {
			least = math.Min(least, share.Limit/float64(threads))
		}
		vector := func(p float64) loading.Vector {
			return loading.Vector{{Loading: p, Pressure: p, Threads: threads}}
		}
		declared = append(declared, pool.InPool(i, vector(p), 0))
		limited = append(limited, pool.InPool(i, vector(least), 0))
	}
	byWeights, err := contention.PredictSharing(declared, []int{pool.Cores}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equally, err := contention.Predict(limited, []int{pool.Cores}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return byWeights.Dilations, equally.Dilations
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// measuredMixes reads a file.
func measuredMixes(t *testing.T, path string) []measuredMix {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	runs := map[[3]string]activity{} // of each pod, by cores, mix and place
	var order [][2]string
	for _, line := range lines[1:] {
		k := [3]string{line[0], line[1], line[2]}
		if line[2] == "1" && runs[k].runs == 0 {
			order = append(order, [2]string{line[0], line[1]})
		}
		runs[k] = runs[k].and(activity{pace: number(t, line[3]), cpu: number(t, line[4]), speed: number(t, line[5])})
	}
	var mixes []measuredMix
	for _, mix := range order {
		texts := strings.Split(mix[1], ", ")
		if len(texts) == 1 {
			continue
		}
		m := measuredMix{cores: int(number(t, mix[0]))}
		exclusive := 0
		for _, text := range texts {
			m.pods = append(m.pods, podOf(t, text))
			if m.cores > 1 {
				exclusive += cgroup.Exclusive(&m.pods[len(m.pods)-1].pod)
			}
		}
		for i := range m.pods {
			p, cores := &m.pods[i], m.cores-exclusive
			if cgroup.Exclusive(&p.pod) > 0 {
				cores = m.cores
			}
			alone, found := runs[[3]string{strconv.Itoa(cores), p.alone(), "1"}]
			if !found {
				t.Fatalf("%q did not run alone on %d cores", p.alone(), cores)
			}
			loading := p.loading
			if !p.synthetic {
				loading = min(1, alone.cpu)
			}
			m.measured = append(m.measured, p.dilation(runs[[3]string{mix[0], mix[1], strconv.Itoa(i + 1)}], alone))
			m.loadings = append(m.loadings, loading)
		}
		mixes = append(mixes, m)
	}
	return mixes
}

// What docs/evidence/accuracy.md says of the mixes that were measured, so that a change of the model which makes it untrue is
// noticed. What is required is 4 % on average and none above 12 %; two cores do not meet it.
func TestPredictionsAreAsNearToWhatWasMeasuredAsIsSaid(t *testing.T) {
	t.Parallel()
	const far = 0.12
	for name, test := range map[string]struct {
		path  string
		cores int
		equal bool
		mixes int
		mean  float64
		far   int // how many pods are off by more than that
	}{
		"one core, unequal":  {"testdata/mixes.csv", 1, false, 24, 0.031, 2},
		"one core, equal":    {"testdata/mixes.csv", 1, true, 4, 0.017, 0},
		"two cores, unequal": {"testdata/mixes.csv", 2, false, 19, 0.068, 5},
		"two cores, equal":   {"testdata/mixes.csv", 2, true, 4, 0.046, 0},
		"real programs":      {"testdata/programs.csv", 1, false, 9, 0.017, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mixes, pods, off, alikeOff, beyond := 0, 0.0, 0.0, 0.0, 0
			for _, m := range measuredMixes(t, test.path) {
				if m.cores != test.cores || m.equal() != test.equal {
					continue
				}
				mixes++
				weighted, alike := m.predict(t)
				for i, measured := range m.measured {
					by := math.Abs(weighted[i]/measured - 1)
					if by > far {
						beyond++
					}
					pods, off, alikeOff = pods+1, off+by, alikeOff+math.Abs(alike[i]/measured-1)
				}
			}
			t.Logf("%d mixes, %v pods: %.4f, sharing alike %.4f, far off %d", mixes, pods, off/pods, alikeOff/pods, beyond)
			if mixes != test.mixes || off/pods > test.mean || beyond > test.far {
				t.Errorf("%d mixes are off by %.3f on average, and %d pods by more than %v", mixes, off/pods, beyond, far)
			}
			if !test.equal && alikeOff < 4*off {
				t.Errorf("sharing alike is nearly as good: %.3f on average", alikeOff/pods)
			}
		})
	}
}
