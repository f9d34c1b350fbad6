package reading_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/reading"
)

// A kubelet that reserves processors has its pods run on the others.
func TestANodeIsTheProcessorsThatItsPodsRunOn(t *testing.T) {
	t.Parallel()
	state := func(since, run, busy0, busy1 time.Duration, processors ...string) *reading.Reading {
		r := at(since, pod(old(1, run, 0)))
		r.Busy, r.Stolen = busy0+busy1, 3*ms
		r.Processors = []reading.Processor{{Number: 0, Busy: busy0, Stolen: ms}, {Number: 1, Busy: busy1, Stolen: ms}}
		r.Pods[0].Groups = append(r.Pods[0].Groups, group("sandbox", pause(old(2, run/10, 0)))) // it reaps processes now and then
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
		"of what holds the pod alone":         {[]string{"", "0"}, 2, 9},
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

// pause returns the task as that of a sandbox.
func pause(task reading.Task) reading.Task {
	task.Pause = true
	return task
}

// A container may run on processors 0 and 1, another has 2 for itself, and sandboxes may run on all four. Whatever ran in an interval,
// and while a container is being made or vanishes, pods have the first three.
func TestTheProcessorsOfPodsDoNotDependOnWhatRan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ran := func() time.Duration { return rapid.SampledFrom([]time.Duration{0, ms / 20, ms, second}).Draw(t, "ran") }
		var before, after reading.Pod
		for i, list := range []string{"0-3", "0-1", "0-3", "2"} {
			was := old(i+1, second, 0)
			is := old(i+1, second+ran(), 0)
			if list == "0-3" {
				was, is = pause(was), pause(is)
			}
			for to, task := range map[*reading.Pod]reading.Task{&before: was, &after: is} {
				g := group(string(rune('k'+i)), task)
				g.Processors = list
				to.Groups = append(to.Groups, g)
			}
		}
		if rapid.Bool().Draw(t, "one is being made") {
			g := group("new", old(9, 0, 0))
			g.Processors = "0-3"
			after.Groups = append(after.Groups, g)
		}
		if rapid.Bool().Draw(t, "one vanishes") {
			g := group("old", old(8, 0, 0))
			g.Processors = "0-1"
			before.Groups = append(before.Groups, g)
			g.Processors = ""
			after.Groups = append(after.Groups, g)
		}
		state := func(since time.Duration, p reading.Pod) *reading.Reading {
			p.UID, p.Usage, p.Throttled, p.Pressure = "a", unknown, unknown, unknown
			r := at(since, p)
			r.CPUs, r.Processors = 4, []reading.Processor{{Number: 0}, {Number: 1}, {Number: 2}, {Number: 3}}
			return r
		}
		if got := reading.Between(state(0, before), state(10*second, after), "worker-1", nil); got.CPUs != 3 {
			t.Fatalf("got %d processors, want 3", got.CPUs)
		}
	})
}

func TestProcessorsThatTheKubeletChangesCountFromTheNextInterval(t *testing.T) {
	t.Parallel()
	state := func(since time.Duration, lists ...string) *reading.Reading {
		r := at(since)
		r.CPUs, r.Processors = 4, []reading.Processor{{Number: 0}, {Number: 1}, {Number: 2}, {Number: 3}}
		for i, list := range lists {
			p := pod(old(i+1, 0, 0))
			p.UID = string(rune('a' + i))
			p.Groups[0].ID, p.Groups[0].Processors = p.UID, list
			r.Pods = append(r.Pods, p)
		}
		return r
	}
	readings := []*reading.Reading{
		state(0, "0-3"), state(10*second, "0-3"), state(20*second, "0-1"), // fewer for all
		state(30*second, "0-1", "3"), state(40*second, "0-1", "3"), // another one for a new container
	}
	type seen struct {
		cpus      int
		exclusive bool
	}
	for i, want := range []seen{{4, false}, {2, false}, {2, false}, {3, true}} {
		v := reading.Between(readings[i], readings[i+1], "worker-1", nil)
		if got := (seen{v.CPUs, v.ExclusiveCPUs}); got != want {
			t.Errorf("interval %d: got %+v, want %+v", i, got, want)
		}
	}
}

func TestAContainerWithProcessorsForItselfIsFound(t *testing.T) {
	t.Parallel()
	type container struct {
		pod, processors string
		sandbox         bool
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
		"it is idle":                           {[]container{{"a", "0", false}, {"idle", "1", false}}, true},
		"the other one holds its pod together": {[]container{{"a", "0-1", false}, {"b", "0-1", false}, {"c", "2-3", true}}, false},
		"of one it is not known":               {[]container{{"a", "0-1", false}, {"b", "", false}}, false},
		"a list that is none":                  {[]container{{"a", "0-1", false}, {"b", "2-x", false}}, false},
	} {
		state := func(since, run time.Duration) *reading.Reading {
			r := at(since)
			for i, one := range c.containers {
				task := old(i+1, run, 0)
				if one.pod == "idle" {
					task.Run = 0
				}
				task.Pause = one.sandbox
				g := group(string(rune('k'+i)), task)
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
