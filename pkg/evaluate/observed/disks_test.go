package observed

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// user is a pod of one thread that used disks for ten seconds: it was blocked for the given part of them, and ran for 1 %.
func user(name string, blocked float64, disks ...usage.PodDisk) usage.Pod {
	return usage.Pod{
		UID: "uid-" + name, Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1, CPULoading: 0.01, DiskLoading: blocked, Disks: disks,
		Times: usage.Times{Run: 0.1, Blocked: 10 * blocked},
	}
}

// reads is some reads of 4 KiB at a disk.
func reads(disk string, operations int64) usage.PodDisk {
	return usage.PodDisk{Name: disk, ReadOperations: operations, ReadBytes: 4096 * operations}
}

// device is a disk of which a read of 4 KiB takes a millisecond, and that was busy for ten seconds with reads of a mean time, in seconds.
func device(name string, operations int64, each float64, beneath ...string) usage.Disk {
	inFlight := float64(operations) * each
	return usage.Disk{
		Name: name, Number: "254:0", Beneath: beneath, BusySeconds: min(10, inFlight), QueuedSeconds: inFlight,
		Reads:   usage.Transfers{Operations: operations, Bytes: 4096 * operations, Seconds: inFlight},
		Service: []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 1e-3, Spread: 1e-5, Intervals: 9}},
	}
}

// onNode returns the input of a node with version 2 of control groups where the pods of intervals run, but for some, by their names.
func onNode(intervals []usage.Interval, but ...string) *Input {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	in := &Input{
		Nodes:  []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}, Status: corev1.NodeStatus{Capacity: amounts, Allocatable: amounts}}},
		Sights: []Sight{{Node: "worker-1", Intervals: intervals}},
	}
	seen := map[string]bool{}
	for _, name := range but {
		seen["uid-"+name] = true
	}
	for i := range intervals {
		for k := range intervals[i].Pods {
			uid := intervals[i].Pods[k].UID
			if !seen[uid] {
				in.Pods = append(in.Pods, *podNamed(uid[len("uid-"):]))
			}
			seen[uid] = true
		}
	}
	return in
}

// podNamed returns a pod of that node.
func podNamed(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "main"}}},
	}
}

// tenSeconds is an interval with some disks and pods.
func tenSeconds(disks []usage.Disk, pods ...usage.Pod) usage.Interval {
	v := usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 4, CgroupVersion: 2, Disks: disks, Pods: pods}
	for i := range pods {
		v.BusySeconds += pods[i].Run
	}
	return v
}

// fataler is a test, or one of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// explained returns an observed pod and the causes of its dilation.
func explained(t fataler, in *Input, name string) (*Pod, Causes) {
	t.Helper()
	for i := range in.Sights {
		for k := range in.Sights[i].Intervals {
			if err := in.Sights[i].Intervals[k].Validate(); err != nil {
				t.Fatalf("interval %d: %v", k, err)
			}
		}
	}
	c := Observe(in, DefaultAbove)
	c.SolveAll()
	for _, p := range c.Nodes[0].Pods {
		if p.Object.Name == name {
			causes, err := p.Explain()
			if err != nil {
				t.Fatal(err)
			}
			return p, causes
		}
	}
	t.Fatalf("%s is not observed: %s", name, c.Nodes[0].Problem)
	return nil, nil
}

// said are causes in words.
func said(causes Causes) []string {
	list := []string{}
	for _, c := range causes {
		list = append(list, fmt.Sprintf("%s %s %s %s %.2f", c.Kind, c.Resource, c.Device, c.Pod, c.Dilation))
	}
	return list
}

// Two pods that do nothing but read, one operation at a time, take turns: each is blocked all the time, for half of it by the other.
func TestPodsWaitForEachOtherAtADisk(t *testing.T) {
	t.Parallel()
	turns := []usage.Pod{user("cart", 0.99, reads("vda", 4950)), user("backup", 0.99, reads("vda", 4950))}
	for name, test := range map[string]struct {
		disks    []usage.Disk
		pods     []usage.Pod
		but      []string
		change   func(v *usage.Interval)
		dilation float64
		want     []string
	}{
		"two that take turns": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)}, pods: turns,
			dilation: 1 / (1 - 0.495), want: []string{"Neighbour disk vda shop/backup 0.98"},
		},
		"each once in a stack of devices": {
			disks: []usage.Disk{device("dm-0", 9900, 2e-3, "vda"), device("vda", 9900, 2e-3)},
			pods: []usage.Pod{
				user("cart", 0.99, reads("dm-0", 4950), reads("vda", 4950)), user("backup", 0.99, reads("dm-0", 4950), reads("vda", 4950)),
			},
			dilation: 1 / (1 - 0.495), want: []string{"Neighbour disk vda shop/backup 0.98"},
		},
		"at a loop device, beneath which the kernel counts them for no pod": {
			disks: []usage.Disk{device("loop0", 9900, 2e-3, "vda"), device("vda", 9900, 1e-3)},
			pods:  []usage.Pod{user("cart", 0.99, reads("loop0", 4950)), user("backup", 0.99, reads("loop0", 4950))},

			dilation: 1 / (1 - 0.495), want: []string{"Neighbour disk loop0 shop/backup 0.98"},
		},
		"what no pod did is the node's": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)}, pods: turns[:1],
			dilation: 1 / (1 - 0.495), want: []string{"System disk vda  0.98"},
		},
		"with version 1, which counts no writing back, it is not clear": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)}, pods: turns[:1], change: func(v *usage.Interval) { v.CgroupVersion = 1 },
			dilation: 1 / (1 - 0.495), want: []string{"Unclear disk vda  0.98"},
		},
		"of a node with more pods than are reported, too": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)}, pods: turns[:1], change: func(v *usage.Interval) { v.LeftOut = 1 },
			dilation: 1 / (1 - 0.495), want: []string{"Unclear disk vda  0.98"},
		},
		"a pod that may not be known": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)}, pods: turns, but: []string{"backup"},
			dilation: 1 / (1 - 0.495), want: []string{"System disk vda  0.98"},
		},
		"alone with a queue of its own": {
			disks: []usage.Disk{device("vda", 9900, 32e-3)}, pods: []usage.Pod{user("cart", 0.99, reads("vda", 9900))}, dilation: 1, want: []string{},
		},
		"a quiet disk": {
			disks: []usage.Disk{device("vda", 400, 1.02e-3)}, pods: []usage.Pod{user("cart", 0.02, reads("vda", 200)), user("backup", 0.02, reads("vda", 200))},
			dilation: 1, want: []string{},
		},
		"a disk of which no quiet moment was seen": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)}, pods: turns, change: func(v *usage.Interval) { v.Disks[0].Service = nil },
			dilation: 1, want: []string{},
		},
		"blocked for longer than the disk explains": {
			disks: []usage.Disk{device("vda", 4950, 2e-3)}, pods: []usage.Pod{user("cart", 0.99, reads("vda", 2475)), user("backup", 0.99, reads("vda", 2475))},
			dilation: 1 / (1 - 0.2475), want: []string{"Neighbour disk vda shop/backup 0.33"},
		},
		"blocked time by pressure": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)}, pods: turns, change: func(v *usage.Interval) { v.Pods[0].BlockedBy = usage.ByPressure },
			dilation: 1 / (1 - 0.495), want: []string{"Neighbour disk vda shop/backup 0.98"},
		},
		"its own limit": {
			disks: []usage.Disk{device("vda", 1000, 1e-3)},
			pods: []usage.Pod{
				user("cart", 0.99, usage.PodDisk{Name: "vda", ReadOperations: 980, ReadBytes: 980 * 4096, Limit: &usage.DiskLimit{ReadOperations: 100}}),
			},
			dilation: 1 / (1 - 0.99*(1-0.98/9.9)), want: []string{"Limit disk vda  8.26"},
		},
		"a limit that is not reached": {
			disks: []usage.Disk{device("vda", 9900, 2e-3)},
			pods: []usage.Pod{
				user("cart", 0.99, usage.PodDisk{Name: "vda", ReadOperations: 4950, ReadBytes: 4950 * 4096, Limit: &usage.DiskLimit{ReadOperations: 600, WriteBytes: 1}}),
				turns[1],
			},
			dilation: 1 / (1 - 0.495), want: []string{"Neighbour disk vda shop/backup 0.98"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := tenSeconds(test.disks, test.pods...)
			v.Pods = append([]usage.Pod{}, v.Pods...)
			if test.change != nil {
				test.change(&v)
			}
			p, causes := explained(t, onNode([]usage.Interval{v, v}, test.but...), "cart")
			const rounding = 1e-9
			if math.Abs(p.Dilation-test.dilation) > rounding*test.dilation {
				t.Errorf("the dilation is %v, want %v", p.Dilation, test.dilation)
			}
			if diff := cmp.Diff(test.want, said(causes)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsThatHaveEndedAreACauseAtADisk(t *testing.T) {
	t.Parallel()
	both := tenSeconds([]usage.Disk{device("vda", 9900, 2e-3)}, user("cart", 0.99, reads("vda", 4950)), user("backup", 0.99, reads("vda", 4950)))
	one := tenSeconds([]usage.Disk{device("vda", 4950, 1e-3)}, user("cart", 0.495, reads("vda", 4950)))
	_, causes := explained(t, onNode([]usage.Interval{both, one}, "backup"), "cart")
	if diff := cmp.Diff([]string{"Ended disk vda  0.33"}, said(causes)); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// The time alone has the service of the disk in it, so that the parts of the vector are of that.
func TestTheVectorOfTheTimeAloneHasNoWaitingAtDisks(t *testing.T) {
	t.Parallel()
	v := tenSeconds([]usage.Disk{device("vda", 9900, 2e-3)}, user("cart", 0.9, reads("vda", 4950)), user("backup", 0.99, reads("vda", 4950)))
	v.Pods[0].CPULoading, v.Pods[0].Run = 0.1, 1
	p, _ := explained(t, onNode([]usage.Interval{v, v}), "cart")
	cpu, disk := p.Alone()
	const rounding = 1e-9
	// Of 10 s it runs for 1 s and is blocked for 9 s, of which its reads take 4.95 s.
	if math.Abs(cpu-1/5.95) > rounding || math.Abs(disk-4.95/5.95) > rounding {
		t.Errorf("alone it is at the CPU for %v of its time and at disks for %v, want %v and %v", cpu, disk, 1/5.95, 4.95/5.95)
	}
	if d := p.Node.Model.Pods[p.Index].Vector[0].Loading; math.Abs(d-0.1) > rounding {
		t.Errorf("the model of the processors has a loading of %v, want that of the time with its waiting at disks, 0.1", d)
	}
}

func TestWithoutDisksBlockedTimeIsTimeAlone(t *testing.T) {
	t.Parallel()
	v := tenSeconds([]usage.Disk{device("vda", 9900, 2e-3)}, user("cart", 0.99, reads("vda", 4950)), user("backup", 0.99, reads("vda", 4950)))
	in := onNode([]usage.Interval{v, v})
	in.WithoutDisks = true
	if p, causes := explained(t, in, "cart"); p.Dilation != 1 || len(causes) > 0 {
		t.Errorf("a dilation of %v because of %v", p.Dilation, said(causes))
	}
}

func TestDisksOfWhichNoQuietMomentWasSeenAreNamed(t *testing.T) {
	t.Parallel()
	unlearned := device("vdb", 100, 1e-3)
	unlearned.Service = nil
	busy := device("vdc", 9900, 2e-3)
	busy.Service[0].InFlight = 1.5
	v := tenSeconds([]usage.Disk{device("vda", 9900, 2e-3), unlearned, busy},
		user("cart", 0.99, reads("vda", 4950), reads("vdb", 1)), user("idle", 0.01, reads("vdb", 99)), user("backup", 0.99, reads("vdc", 4950)))
	p, _ := explained(t, onNode([]usage.Interval{v, v}), "cart")
	if diff := cmp.Diff([]string{"vdb"}, p.Node.UnlearnedDisks()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"vdc"}, p.Node.BusyDisks()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDisksAtWhichNoOperationOfPodsIsCountedAreNamed(t *testing.T) {
	t.Parallel()
	busy, quiet := device("vda", 4950, 2e-3), device("vdb", 10, 1e-3)
	blocked := user("cart", 0.99)
	for name, c := range map[string]struct {
		pods    []usage.Pod
		leftOut int
		want    []string
	}{
		"a pod is blocked, for what is not counted":      {pods: []usage.Pod{blocked}, want: []string{"vda"}},
		"one whose operations are counted is, too":       {pods: []usage.Pod{blocked, user("backup", 0.99, reads("vdb", 10))}, want: []string{"vda"}},
		"operations of another are counted there":        {pods: []usage.Pod{blocked, user("backup", 0.99, reads("vda", 4950))}},
		"all that are blocked have operations elsewhere": {pods: []usage.Pod{user("cart", 0.99, reads("vdb", 10))}},
		"no pod is blocked":                              {pods: []usage.Pod{user("cart", 0.01)}},
		"there are pods that the gauge does not report":  {pods: []usage.Pod{blocked}, leftOut: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := tenSeconds([]usage.Disk{busy, quiet}, c.pods...)
			v.LeftOut = c.leftOut
			p, _ := explained(t, onNode([]usage.Interval{v, v}), "cart")
			if diff := cmp.Diff(c.want, p.Node.UncountedDisks()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Whatever a gauge says within the rules of its report, the causes add up to the dilation, at processors and at disks.
func TestCausesAtProcessorsAndDisksAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := onNode([]usage.Interval{drawn(t, "first"), drawn(t, "second")}, "p-3")
		in.Weights.StaticCPUs = false
		for i := range in.Pods {
			p, causes := explained(t, in, in.Pods[i].Name)
			sum := 0.0
			for _, c := range causes {
				if !(c.Dilation >= 0) || math.IsInf(c.Dilation, 0) {
					t.Fatalf("%s: %+v", p.Name(), c)
				}
				sum += c.Dilation
			}
			if !(p.Dilation >= 1) || math.IsInf(p.Dilation, 0) || p.AtDisks < 0 {
				t.Fatalf("%s: a dilation of %v, at disks %v", p.Name(), p.Dilation, p.AtDisks)
			}
			if cpu, disk := p.Alone(); !(cpu >= 0 && disk >= 0 && cpu+disk <= 1+1e-6) {
				t.Fatalf("%s: alone %v at the CPU and %v at disks", p.Name(), cpu, disk)
			}
			// Causes of less than a rounding error are left out, and what waits for nothing that is known of has no cause.
			waited := p.Times.Wait+p.Times.Throttled+p.stolen > 0
			if want := p.Dilation - 1; waited && math.Abs(sum-want) > 1e-6*p.Dilation {
				t.Fatalf("%s: causes %v add up to %v, want %v", p.Name(), said(causes), sum, want)
			}
			if atDisks := causes.At(Disk); math.Abs(sumOf(atDisks)-p.AtDisks) > 1e-6*p.Dilation {
				t.Fatalf("%s: causes %v at disks add up to %v, want %v", p.Name(), said(atDisks), sumOf(atDisks), p.AtDisks)
			}
		}
	})
}

func sumOf(causes Causes) (sum float64) {
	for _, c := range causes {
		sum += c.Dilation
	}
	return sum
}

// drawn is an interval of four pods at three devices that lie on each other somehow.
func drawn(t *rapid.T, label string) usage.Interval {
	names := []string{"dm-0", "loop0", "vda"}
	count := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1e4), rapid.Int64Range(0, 1e15))
	amount := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 100), rapid.Float64Range(0, 1e15))
	some := func(what string) usage.Transfers {
		return usage.Transfers{Operations: count.Draw(t, label+what), Bytes: count.Draw(t, label+what), Seconds: amount.Draw(t, label+what)}
	}
	v := usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 2, CgroupVersion: rapid.IntRange(0, 2).Draw(t, label), StolenSeconds: rapid.SampledFrom([]float64{0, 3}).Draw(t, label)}
	for _, name := range names {
		d := usage.Disk{
			Name: name, Number: "1:1", Beneath: rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID).Draw(t, label+"beneath"),
			Reads: some("reads"), Writes: some("writes"), BusySeconds: rapid.Float64Range(0, 10).Draw(t, label+"busy"),
		}
		for _, direction := range []string{usage.Read, usage.Write} {
			for bytes := int64(usage.MinServiceBytes); bytes <= usage.MaxServiceBytes && rapid.Bool().Draw(t, label+"known"); bytes *= 2 {
				d.Service = append(d.Service, usage.DiskService{Direction: direction, Bytes: bytes, Seconds: amount.Draw(t, label+"service"), Intervals: 1})
			}
		}
		v.Disks = append(v.Disks, d)
	}
	for i := range 4 {
		alone := rapid.Float64Range(0.01, 1).Draw(t, label+"alone")
		cpu := rapid.Float64Range(0, 1).Draw(t, label+"cpu")
		p := usage.Pod{
			UID: fmt.Sprintf("uid-p-%d", i), Seconds: 10, Tasks: 1, Threads: rapid.SampledFrom([]float64{1, 3.5, 64}).Draw(t, label+"threads"),
			Dilation: 1 / alone, CPULoading: cpu, DiskLoading: (1 - cpu) * rapid.Float64Range(0, 1).Draw(t, label+"disk"),
			BlockedBy: rapid.SampledFrom([]string{usage.ByTasks, usage.ByPressure}).Draw(t, label+"by"),
		}
		p.Times = usage.Times{Run: 10 * cpu * alone, Wait: 10 * (1 - alone), Blocked: 10 * alone * p.DiskLoading}
		for _, name := range names {
			if rapid.Bool().Draw(t, label+"uses") {
				d := usage.PodDisk{
					Name: name, ReadOperations: count.Draw(t, label), ReadBytes: count.Draw(t, label), WriteOperations: count.Draw(t, label), WriteBytes: count.Draw(t, label),
				}
				if rapid.Bool().Draw(t, label+"limited") {
					d.Limit = &usage.DiskLimit{ReadOperations: count.Draw(t, label), WriteBytes: count.Draw(t, label)}
				}
				p.Disks = append(p.Disks, d)
			}
		}
		v.BusySeconds += p.Run
		v.Pods = append(v.Pods, p)
	}
	return v
}
