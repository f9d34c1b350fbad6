package slaorder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/heap"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/pkg/model/sizing"
)

// newHeap returns the heap in which kube-scheduler keeps the pods that it may schedule.
func newHeap(less heap.LessFunc[*framework.QueuedPodInfo]) *heap.Heap[*framework.QueuedPodInfo] {
	return heap.New(func(info *framework.QueuedPodInfo) string { return string(info.Pod.UID) }, less)
}

func (o *tested) heapLess(a, b *framework.QueuedPodInfo) bool { return o.Less(a, b) }

// A heap whose order changes while pods are in it loses none of them, and takes none out
// of its round. Pods come, leave, come back after an attempt, and end, in time and late.
func TestAHeapKeepsTheBoundsWhileTheOrderOfClassesChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := newTested(config.PDP, 60, 3600, promising("a", 3, 0.9), promising("b", 3, 0.9), promising("c", 5, 0.8))
		queue, in, now, made := newHeap(o.heapLess), map[string]*framework.QueuedPodInfo{}, 0.0, 0
		add := func(info *framework.QueuedPodInfo) {
			queue.AddOrUpdate(info)
			in[info.Pod.Name] = info
		}
		take := func(t *rapid.T) *framework.QueuedPodInfo {
			taken, err := queue.Pop()
			if err != nil {
				t.Fatal(err)
			}
			if in[taken.Pod.Name] != taken {
				t.Fatalf("%s is taken, which is not in the queue", taken.Pod.Name)
			}
			delete(in, taken.Pod.Name)
			turn := o.rounds.turnOf(taken)
			for _, left := range in {
				other := o.rounds.turnOf(left)
				switch wait := taken.InitialAttemptTimestamp.Sub(*left.InitialAttemptTimestamp).Seconds(); {
				case other.round < turn.round, other.round == turn.round && other.overdue && !turn.overdue:
					t.Fatalf("a pod of turn %+v is taken before one of %+v", turn, other)
				case wait >= 120, other.overdue && wait >= 60:
					t.Fatalf("a pod is taken before one that waits %v s longer", wait)
				}
			}
			return taken
		}
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				now += rapid.Float64Range(0, 30).Draw(t, "seconds")
				o.clock.SetTime(at(now))
			},
			"come": func(t *rapid.T) {
				made++
				info := queued(pod(fmt.Sprintf("pod-%d", made), rapid.SampledFrom([]string{"a", "b", "c", "none"}).Draw(t, "app"), 0), now, now)
				if rapid.Bool().Draw(t, "seen") {
					o.seen(info)
				}
				add(info)
			},
			"end": func(t *rapid.T) {
				o.ends(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "app"), rapid.IntRange(0, 2).Draw(t, "in time"), rapid.IntRange(0, 2).Draw(t, "late"))
			},
			"leave": func(t *rapid.T) {
				if len(in) > 0 {
					take(t)
				}
			},
			"come back": func(t *rapid.T) {
				if len(in) > 0 {
					info := take(t)
					info.Timestamp = at(now)
					add(info)
				}
			},
			"be deleted": func(t *rapid.T) {
				for _, info := range in {
					if queue.Delete(info) != info {
						t.Fatalf("%s was not in the queue", info.Pod.Name)
					}
					delete(in, info.Pod.Name)
					break
				}
			},
			"": func(t *rapid.T) {
				if queue.Len() != len(in) {
					t.Fatalf("%d pods are in the heap, want %d", queue.Len(), len(in))
				}
			},
		})
		for len(in) > 0 {
			take(t)
		}
	})
}

// simulated is a run of two classes on servers, with exponential times between arrivals
// and of service: the paper's model.
type simulated struct {
	classes []sizing.Class
	servers int
	queue   *heap.Heap[*framework.QueuedPodInfo]
	plugin  *tested

	random   *rand.Rand
	serving  *heap.Heap[*job]
	idle     int
	met, all [2]int
}

// job is a job in service.
type job struct {
	class         int
	arrived, done float64 // seconds after noon
	info          *framework.QueuedPodInfo
}

func (j *job) Size() int               { return j.info.Size() }
func (j *job) Type() fwk.EntityKeyType { return j.info.Type() }

// run plays jobs, and returns the fraction of each class that ended in time.
func (s *simulated) run(jobs int) [2]float64 {
	s.idle = s.servers
	s.serving = heap.New(func(j *job) string { return string(j.info.Pod.UID) }, func(a, b *job) bool { return a.done < b.done })
	gaps := s.classes[0].Arrival + s.classes[1].Arrival
	for n, arrival := 0, s.random.ExpFloat64()/gaps; n < jobs; {
		if next, busy := s.serving.Peek(); busy && next.done <= arrival {
			s.end(next)
			continue
		}
		class := 0
		if s.random.Float64()*gaps > s.classes[0].Arrival {
			class = 1
		}
		info := queued(pod(fmt.Sprint(n), s.classes[class].Name, 0), arrival, arrival)
		s.plugin.clock.SetTime(at(arrival))
		s.plugin.seen(info)
		s.queue.AddOrUpdate(info)
		s.serve(arrival)
		arrival += s.random.ExpFloat64() / gaps
		n++
	}
	return [2]float64{float64(s.met[0]) / float64(s.all[0]), float64(s.met[1]) / float64(s.all[1])}
}

// serve begins with the pods whose turn it is, while servers are idle.
func (s *simulated) serve(now float64) {
	for ; s.idle > 0 && s.queue.Len() > 0; s.idle-- {
		info, err := s.queue.Pop()
		if err != nil {
			panic(err) // it has pods
		}
		s.plugin.waiting.OnDelete(info.Pod)
		class := 0
		if info.Pod.Labels["app"] == s.classes[1].Name {
			class = 1
		}
		s.serving.AddOrUpdate(&job{
			class: class, arrived: info.InitialAttemptTimestamp.Sub(noon).Seconds(), info: info,
			done: now + s.random.ExpFloat64()/s.classes[class].Service,
		})
	}
}

// end ends the job that is done next.
func (s *simulated) end(j *job) {
	if _, err := s.serving.Pop(); err != nil {
		panic(err) // it was there
	}
	s.idle++
	took := j.done - j.arrived
	s.all[j.class]++
	if took <= s.classes[j.class].SLA.Within {
		s.met[j.class]++
	}
	s.plugin.clock.SetTime(at(j.done))
	s.plugin.classes.done(j.info.Pod, time.Duration(took*float64(time.Second)), at(j.done))
	s.serve(j.done)
}

// Two classes for which Tables 8 and 9 of the paper hold: on 8 servers FCFS and HOL each
// miss the SLA of a class, and PDP meets both. What the classes attain is what sizing
// says: exact for FCFS and HOL, and by a simulation of its own for PDP.
func TestClassesAttainWhatThePaperSays(t *testing.T) {
	t.Parallel()
	const (
		servers = 8
		jobs    = 100_000
		// Two standard deviations of what 100,000 jobs attain at a utilization of 0.91, of
		// which twenty seeds had up to 0.022. The disciplines differ by up to 0.2.
		tolerance = 0.044
	)
	classes := []sizing.Class{
		{Name: "soon", Arrival: 3.6, Service: 1, SLA: sizing.SLA{Within: 2.7, Probability: 0.806}},
		{Name: "surely", Arrival: 3.7, Service: 1, SLA: sizing.SLA{Within: 4.7, Probability: 0.859}},
	}
	fifo := func(a, b *framework.QueuedPodInfo) bool { return a.Timestamp.Before(b.Timestamp) }
	for _, test := range []struct {
		name   string
		of     sizing.Discipline
		plugin config.Discipline // none: in order of arrival
		order  []int
		meets  [2]bool
	}{
		{"FCFS", sizing.FCFS, "", nil, [2]bool{false, true}},
		{"HOL", sizing.HOL, config.HOL, []int{0, 1}, [2]bool{true, false}},
		{"PDP", sizing.PDP, config.PDP, nil, [2]bool{true, true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want, err := sizing.Attain(t.Context(), classes, servers, test.order, sizing.Options{Discipline: test.of})
			if err != nil {
				t.Fatal(err)
			}
			var profiles []string
			o := newTested(test.plugin, 10_000_000, 2_000_000_000)
			for _, c := range classes {
				o.index.OnAdd(promising(c.Name, c.SLA.Within, c.SLA.Probability), false)
				profiles = append(profiles, c.Name)
			}
			o.update()
			s := &simulated{classes: classes, servers: servers, plugin: o, queue: newHeap(o.heapLess), random: rand.New(rand.NewPCG(1, 3))}
			if test.plugin == "" {
				s.queue = newHeap(fifo)
			}
			got := s.run(jobs)
			t.Logf("%.4f attained, %.4f by sizing", got, want)
			for k, name := range profiles {
				if math.Abs(got[k]-want[k]) > tolerance {
					t.Errorf("%s attains %.4f, want %.4f", name, got[k], want[k])
				}
				if meets := got[k] >= classes[k].SLA.Probability; meets != test.meets[k] {
					t.Errorf("%s attains %.4f of %v: meets is %v, want %v", name, got[k], classes[k].SLA.Probability, meets, test.meets[k])
				}
			}
		})
	}
}
