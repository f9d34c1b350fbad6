package runqueue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Threads of groups that are named after them.
const idle, a, b, c = 0, 1, 2, 3

func thread(id uint32) side { return side{Thread: id, Group: Group(id)} }

// switches returns that a processor switches from a thread to another one.
func switches(at int64, cpu uint32, from side, runnable bool, to side) event {
	e := event{At: at, Kind: switched, CPU: cpu, One: from, Next: to}
	if !runnable {
		e.State = 1
	}
	return e
}

func wakes(at int64, cpu, id uint32) event {
	return event{At: at, Kind: woken, CPU: cpu, One: thread(id)}
}

func migrates(at int64, cpu, id uint32) event {
	return event{At: at, Kind: migrated, CPU: cpu, One: thread(id)}
}

// limited returns a thread of which limits hold the group back, and for how long they had until the last time that ended.
func limited(id, limits uint32, throttled int64) side {
	return side{Thread: id, Group: Group(id), Limits: limits, Throttled: throttled}
}

type (
	pairs  = map[Pair]time.Duration
	groups = map[Group]time.Duration
)

func TestWhateverRunsKeepsThoseThatWaitWaiting(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events []event
		until  int64
		want   Account
	}{
		"two take turns": {
			events: []event{switches(10, 0, thread(idle), true, thread(a)), wakes(20, 0, b), switches(50, 0, thread(a), true, thread(b)), switches(60, 0, thread(b), true, thread(a))},
			until:  65,
			want:   Account{Run: groups{a: 45, b: 10}, Waited: pairs{{b, a}: 35, {a, b}: 10}},
		},
		"one that is preempted waits, whatever its state": {
			events: []event{switches(10, 0, thread(idle), true, thread(a)), {At: 20, Kind: switched, One: thread(a), Next: thread(b), Preempted: 1, State: 1}},
			until:  30,
			want:   Account{Run: groups{a: 10, b: 10}, Waited: pairs{{a, b}: 10}},
		},
		"one that sleeps does not": {
			events: []event{switches(10, 0, thread(idle), true, thread(a)), switches(20, 0, thread(a), false, thread(b))},
			until:  30,
			want:   Account{Run: groups{a: 10, b: 10}, Waited: pairs{}},
		},
		"one that sleeps does not, though the switch to it was left out": {
			events: []event{switches(10, 0, thread(a), true, thread(b)), switches(20, 0, thread(a), false, thread(idle))},
			until:  30,
			want:   Account{Run: groups{b: 10}, Waited: pairs{{a, b}: 10}},
		},
		"one that is woken on an idle processor waits for nothing that runs": {
			events: []event{switches(10, 0, thread(a), false, thread(idle)), wakes(20, 0, b), switches(22, 0, thread(idle), true, thread(b))},
			until:  30,
			want:   Account{Run: groups{b: 8}, Waited: pairs{{b, Idle}: 2}},
		},
		"one that is woken while it runs does not wait": {
			events: []event{switches(10, 0, thread(idle), true, thread(a)), wakes(20, 0, a)},
			until:  30,
			want:   Account{Run: groups{a: 20}, Waited: pairs{}},
		},
		"one that is woken twice waits once": {
			events: []event{switches(10, 0, thread(idle), true, thread(a)), wakes(20, 0, b), wakes(25, 0, b)},
			until:  30,
			want:   Account{Run: groups{a: 20}, Waited: pairs{{b, a}: 10}},
		},
		"one that moves waits for what runs there": {
			events: []event{
				switches(10, 0, thread(idle), true, thread(a)), switches(10, 1, thread(idle), true, thread(b)),
				wakes(20, 0, c), migrates(25, 1, c), switches(40, 1, thread(b), false, thread(c)),
			},
			until: 50,
			want:  Account{Run: groups{a: 40, b: 30, c: 10}, Waited: pairs{{c, a}: 5, {c, b}: 15}},
		},
		"one that another processor takes waits no more": {
			events: []event{
				switches(10, 0, thread(idle), true, thread(a)), switches(10, 1, thread(b), false, thread(idle)),
				wakes(20, 0, c), switches(30, 1, thread(idle), true, thread(c)),
			},
			until: 50,
			want:  Account{Run: groups{a: 40, c: 20}, Waited: pairs{{c, a}: 10}},
		},
		"one that moves in its sleep does not wait": {
			events: []event{switches(10, 0, thread(idle), true, thread(a)), migrates(20, 0, b)},
			until:  30,
			want:   Account{Run: groups{a: 20}, Waited: pairs{}},
		},
		"before the first switch it is not known what runs": {
			events: []event{wakes(10, 0, b), switches(20, 0, thread(a), true, thread(b))},
			until:  30,
			want:   Account{Run: groups{b: 10}, Waited: pairs{{a, b}: 10}},
		},
		"events of two processors may overtake each other": {
			events: []event{
				switches(10, 0, thread(idle), true, thread(a)), switches(10, 1, thread(idle), true, thread(b)),
				wakes(20, 0, c), switches(31, 0, thread(a), true, thread(c)), migrates(30, 1, a),
			},
			until: 41,
			want:  Account{Run: groups{a: 21, b: 31, c: 10}, Waited: pairs{{c, a}: 11, {a, b}: 11}},
		},
		"a limit is waited for first, for as long as the kernel counts": {
			events: []event{
				switches(10, 0, thread(idle), true, limited(a, 0, 7)), switches(20, 0, limited(a, 1, 7), true, thread(b)),
				switches(60, 0, thread(b), true, thread(c)), switches(70, 0, thread(c), false, limited(a, 0, 7+45)),
			},
			until: 80,
			want:  Account{Run: groups{a: 20, b: 40, c: 10}, Waited: pairs{{b, c}: 10, {b, a}: 10, {a, c}: 5}, Throttled: groups{a: 45}},
		},
		"one that runs in the kernel while a limit holds its group back goes on being held back": {
			events: []event{
				switches(10, 0, thread(idle), true, limited(a, 0, 0)), switches(20, 0, limited(a, 1, 0), true, thread(b)),
				switches(30, 0, thread(b), false, limited(a, 1, 0)), switches(35, 0, limited(a, 1, 0), true, thread(b)),
				switches(60, 0, thread(b), false, limited(a, 0, 40)),
			},
			until: 60,
			want:  Account{Run: groups{a: 15, b: 35}, Waited: pairs{}, Throttled: groups{a: 35}},
		},
		"while a limit holds a group back it is open for what it waits": {
			events: []event{switches(10, 0, thread(idle), true, limited(a, 0, 0)), switches(20, 0, limited(a, 2, 0), true, thread(b))},
			until:  90,
			want:   Account{Run: groups{a: 10, b: 70}, Waited: pairs{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger()
			for i := range test.events {
				l.add(&test.events[i])
			}
			if test.want.Throttled == nil {
				test.want.Throttled = groups{}
			}
			if diff := cmp.Diff(test.want, l.until(test.until)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A processor switches between threads that sleep, wake up and move: each thread waits from when it could run until it does.
func TestEveryMomentOfWaitingIsAccountedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const cpus, threads = 3, 6
		l := newLedger()
		var (
			now     int64
			runs    [cpus]uint32
			since   = map[uint32]int64{} // of threads that wait
			asleep  = map[uint32]bool{}
			waited  time.Duration
			running time.Duration
		)
		add := func(e event) { l.add(&e) }
		for cpu := range uint32(cpus) {
			add(switches(0, cpu, thread(idle), true, thread(idle)))
		}
		for id := range uint32(threads) {
			asleep[id+1] = true
		}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			passed := rapid.Int64Range(0, 20).Draw(t, "passed")
			now += passed
			for _, id := range runs {
				if id != idle {
					running += time.Duration(passed)
				}
			}
			id := rapid.Uint32Range(1, threads).Draw(t, "thread")
			cpu := rapid.Uint32Range(0, cpus-1).Draw(t, "cpu")
			_, waits := since[id]
			switch {
			case asleep[id]:
				delete(asleep, id)
				since[id] = now
				add(wakes(now, cpu, id))
			case waits && rapid.Bool().Draw(t, "moves"):
				add(migrates(now, cpu, id))
			case waits:
				waited += time.Duration(now - since[id])
				delete(since, id)
				before, sleeps := runs[cpu], rapid.Bool().Draw(t, "sleeps")
				add(switches(now, cpu, thread(before), !sleeps, thread(id)))
				runs[cpu] = id
				if before != idle && sleeps {
					asleep[before] = true
				} else if before != idle {
					since[before] = now
				}
			}
		}
		for _, at := range since {
			waited += time.Duration(now - at)
		}
		got := l.until(now)
		var sum, ran time.Duration
		for _, d := range got.Waited {
			sum += d
		}
		for _, d := range got.Run {
			ran += d
		}
		if sum != waited || ran != running {
			t.Fatalf("threads waited for %d and ran for %d, and the account has %d and %d", waited, running, sum, ran)
		}
	})
}

func TestAnAccountSinceAnEarlierOneHasWhatWasAdded(t *testing.T) {
	t.Parallel()
	earlier := Account{groups{a: 10, b: 5}, pairs{{a, b}: 3}, groups{}}
	now := Account{groups{a: 12, b: 5, c: 1}, pairs{{a, b}: 4, {b, a}: 2}, groups{a: 7}}
	want := Account{groups{a: 2, c: 1}, pairs{{a, b}: 1, {b, a}: 2}, groups{a: 7}}
	if diff := cmp.Diff(want, now.Since(earlier)); diff != "" {
		t.Error(diff)
	}
}
