package reading_test

import (
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/reading"
)

// A kubelet that reserves processors has its pods run on the others.
func TestANodeIsTheProcessorsThatItsPodsRunOn(t *testing.T) {
	t.Parallel()
	state := func(since, run, busy0, busy1 time.Duration, processors ...string) *reading.Reading {
		r := at(since, pod(old(1, run, 0)))
		r.Busy, r.Stolen = busy0+busy1, 3*ms
		r.Processors = []reading.Processor{{Number: 0, Busy: busy0, Stolen: ms}, {Number: 1, Busy: busy1, Stolen: ms}}
		r.Pods[0].Groups = append(r.Pods[0].Groups, group("pause", old(2, 0, 0)))
		for i, list := range processors {
			r.Pods[0].Groups[i].Processors = list
		}
		return r
	}
	for name, c := range map[string]struct {
		processors []string
		cpus       int
		busy       float64
	}{
		"all":                                 {[]string{"0-1", "0-1"}, 2, 9},
		"one, and what holds the pod has all": {[]string{"1", "0-1"}, 1, 6},
		"the other":                           {[]string{"0", "0-1"}, 1, 3},
		"not known":                           {nil, 2, 9},
		"none that is online":                 {[]string{"7"}, 2, 9},
	} {
		interval := reading.Between(state(0, 0, second, second, c.processors...), state(10*second, 5*second, 4*second, 7*second, c.processors...), "worker-1", nil)
		if err := interval.Validate(); err != nil {
			t.Fatal(err)
		}
		if interval.CPUs != c.cpus || interval.BusySeconds != c.busy {
			t.Errorf("%s: %d processors that were busy for %v s, want %d and %v", name, interval.CPUs, interval.BusySeconds, c.cpus, c.busy)
		}
	}
}

func TestAContainerWithProcessorsForItselfIsFound(t *testing.T) {
	t.Parallel()
	type container struct {
		pod, processors string
		idle            bool
	}
	for name, c := range map[string]struct {
		containers []container
		want       bool
	}{
		"all share all":                        {[]container{{"a", "0-3", false}, {"b", "0-3", false}}, false},
		"one has two":                          {[]container{{"a", "0-1", false}, {"b", "2-3", false}, {"c", "2-3", false}}, true},
		"each has one":                         {[]container{{"a", "0", false}, {"b", "1", false}}, true},
		"containers of one pod share its own":  {[]container{{"a", "0-1", false}, {"a", "0-1", false}, {"b", "2-3", false}, {"c", "2-3", false}}, true},
		"others may use one of the two":        {[]container{{"a", "0-1", false}, {"b", "1-3", false}, {"c", "1-3", false}}, false},
		"the node is that of one pod":          {[]container{{"a", "0-1", false}}, false},
		"the other one holds its pod together": {[]container{{"a", "0-1", false}, {"b", "0-1", false}, {"c", "2-3", true}}, false},
		"of one it is not known":               {[]container{{"a", "0-1", false}, {"b", "", false}}, false},
		"a list that is none":                  {[]container{{"a", "0-1", false}, {"b", "2-x", false}}, false},
	} {
		state := func(since, run time.Duration) *reading.Reading {
			r := at(since)
			for i, one := range c.containers {
				ran := run
				if one.idle {
					ran = 0
				}
				g := group(string(rune('k'+i)), old(i+1, ran, 0))
				g.Processors = one.processors
				if n := len(r.Pods); n > 0 && r.Pods[n-1].UID == one.pod {
					r.Pods[n-1].Groups = append(r.Pods[n-1].Groups, g)
					continue
				}
				p := pod()
				p.UID, p.Groups = one.pod, []reading.Group{g}
				r.Pods = append(r.Pods, p)
			}
			return r
		}
		if got := reading.Between(state(0, 0), state(10*second, second), "worker-1", nil); got.ExclusiveCPUs != c.want {
			t.Errorf("%s: got %v, want %v", name, got.ExclusiveCPUs, c.want)
		}
	}
}
