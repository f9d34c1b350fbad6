package observed

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/test/oracle/runqueue"
)

var (
	causes     = flag.Int("causes", 0, "mixes of pods whose causes are compared with what ran while they waited; needs root and eBPF")
	causesCPUs = flag.Int("causes-cpus", 1, "processors of the mixes of -causes")
)

// blame is how much of what slows a pod down each other pod is to blame for, and itself.
type blame map[string]float64

// itself is the name of a pod in its own blame.
const itself = "itself"

// told is the blame in the causes of a pod, for what is not its limit, the hypervisor, the system or unclear.
func told(p *findings.Pod) blame {
	b := blame{}
	for _, c := range p.Causes {
		switch c.Kind {
		case observed.ByNeighbour:
			b[c.Pod] += c.Dilation
		case observed.ByItself:
			b[itself] += c.Dilation
		default:
		}
	}
	return b
}

// neighbours returns the shares of other pods, which add up to 1, if there are any.
func (b blame) neighbours() blame {
	n, sum := maps.Clone(b), 0.0
	delete(n, itself)
	for _, v := range n {
		sum += v
	}
	for pod := range n {
		n[pod] /= sum
	}
	return n
}

// own returns the share of the pod itself.
func (b blame) own() float64 {
	sum := 0.0
	for _, v := range b {
		sum += v
	}
	return b[itself] / sum
}

// sorted returns the pods, those first that are to blame for most.
func (b blame) sorted() []string {
	return slices.SortedFunc(maps.Keys(b), func(x, y string) int { return cmp.Or(cmp.Compare(b[y], b[x]), cmp.Compare(x, y)) })
}

// misplaced returns how much of all blame falls on others than in the truth, by shares.
func (b blame) misplaced(truth blame) float64 {
	sum := 0.0
	for pod, share := range b {
		sum += max(0, share-truth[pod])
	}
	return sum
}

func (b blame) String() string {
	var s strings.Builder
	for _, pod := range b.sorted() {
		fmt.Fprintf(&s, " %s %.2f", strings.TrimPrefix(pod, "shop/"), b[pod])
	}
	return s.String()
}

// ran returns the blame of each pod by what ran while it waited, given the pods of control groups, and the fraction of its waiting in
// which something ran that is no pod.
func ran(a runqueue.Account, pods map[runqueue.Group]string) (of map[string]blame, system map[string]float64) {
	of, system = map[string]blame{}, map[string]float64{}
	all := map[string]float64{}
	for pair, d := range a.Waited {
		pod, by := pods[pair.Waiting], pods[pair.Running]
		if of[pod] == nil {
			of[pod] = blame{}
		}
		all[pod] += d.Seconds()
		switch by {
		case "":
			system[pod] += d.Seconds()
		case pod:
			of[pod][itself] += d.Seconds()
		default:
			of[pod][by] += d.Seconds()
		}
	}
	for pod := range system {
		system[pod] /= all[pod]
	}
	return of, system
}

// pods returns the pods by their control groups.
func (s *scene) pods(t *testing.T) map[runqueue.Group]string {
	t.Helper()
	pods := map[runqueue.Group]string{}
	for i := range s.in.Pods {
		groups, err := runqueue.GroupsOfPod(s.groups.uid(i))
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range groups {
			pods[group] = "shop/" + s.in.Pods[i].Name
		}
	}
	return pods
}

// verdict is how the causes of a pod compare with what ran while it waited.
type verdict struct {
	misplaced float64 // among neighbours
	behind    float64 // of the share of the first one, that of the one that comes first in the causes
	own       float64 // share of its own threads in the causes, less that in truth
}

// verdicts is a list of them.
type verdicts []verdict

func (all verdicts) mean(of func(verdict) float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += of(v) / float64(len(all))
	}
	return sum
}

func (all verdicts) misplaced() float64 {
	return all.mean(func(v verdict) float64 { return v.misplaced })
}

// firsts returns in how many the neighbour that comes first is the first one, or as good as that.
func (all verdicts) firsts() (n int) {
	const asGood = 0.05
	for _, v := range all {
		if v.behind <= asGood {
			n++
		}
	}
	return n
}

func (all verdicts) String() string {
	worst, behind := 0.0, 0.0
	for _, v := range all {
		worst, behind = max(worst, v.misplaced), max(behind, v.behind)
	}
	return fmt.Sprintf("%3d pods: misplaced among neighbours %.3f on average, %.3f at worst; the right one comes first in %d, another by %.2f at worst; own threads off by %.3f on average",
		len(all), all.misplaced(), worst, all.firsts(), behind, all.mean(func(v verdict) float64 { return math.Abs(v.own) }))
}

// compare compares the causes of all pods of a scene with what ran while they waited, and adds the verdicts by whether a pod is slowed
// down enough for a finding.
func compare(t *testing.T, answer *findings.Answer, truth map[string]blame, system map[string]float64, found, others *verdicts) {
	for i := range answer.Pods {
		p := &answer.Pods[i]
		said, is := told(p), truth[p.Pod]
		if p.Short || len(said.neighbours()) == 0 || len(is.neighbours()) == 0 {
			continue
		}
		a, b := said.neighbours(), is.neighbours()
		v := verdict{a.misplaced(b), b[b.sorted()[0]] - b[a.sorted()[0]], said.own() - is.own()}
		t.Logf("%s: %.2f ± %.2f, %2.0f %% of the waiting for no pod; threads %.1f; misplaced %.3f, own %+.2f\n  causes%v\n  truth %v",
			p.Pod, p.Dilation, p.DilationError, 100*system[p.Pod], p.Threads, v.misplaced, v.own, a, b)
		if p.Dilation >= observed.DefaultAbove {
			*found = append(*found, v)
		} else {
			*others = append(*others, v)
		}
	}
}

// The kernel does not account for whom a pod waits, so that findings take it from the model. Here the kernel is observed.
func TestTheCausesAreWhatRanMeanwhile(t *testing.T) {
	if *causes == 0 {
		t.Skip("run it as root: go test ./test/observed -run Meanwhile -v -args -causes 20 -causes-cpus 2")
	}
	rng := rand.New(rand.NewPCG(*mixSeed, 5))
	var found, others verdicts
	for mix := range *causes {
		members := make([]member, 3+rng.IntN(4))
		for i := range members {
			members[i] = member{fmt.Sprintf("pod-%d", i), free(rng, *causesCPUs)}
		}
		t.Run(strconv.Itoa(mix), func(t *testing.T) {
			observer := observeKernel(t)
			s := settled(t, members, *causesCPUs)
			before := account(t, observer)
			s.watch(t, 2)
			during := account(t, observer).Since(before)
			pods := s.pods(t)
			s.stop(t)
			truth, system := ran(during, pods)
			for i := range members {
				m := &members[i]
				t.Logf("shop/%s: %s, %d of %v every %v, shares %d", m.name, m.kind(), m.Threads, m.Burst, m.Burst+m.Sleep, m.shares)
			}
			compare(t, judge(t, s.in), truth, system, &found, &others)
		})
	}
	t.Logf("findings        %v", found)
	t.Logf("slowed down less %v", others)
	if err := checkCauses(found, *causesCPUs); err != nil {
		t.Error(err)
	}
}

// observeKernel starts to observe the kernel until the test ends, and skips the test where it cannot be observed.
func observeKernel(t *testing.T) *runqueue.Observer {
	t.Helper()
	observer, err := runqueue.Start()
	if errors.Is(err, runqueue.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := observer.Close(); err != nil {
			t.Error(err)
		}
	})
	return observer
}

// account returns the account of an observer, and skips the test where the machine is too busy for one.
func account(t *testing.T, observer *runqueue.Observer) runqueue.Account {
	t.Helper()
	a, err := observer.Account()
	if errors.Is(err, runqueue.ErrLost) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// free draws a pod that may run on all processors, and has no limit: while it waits for others it uses nothing of its quota, so that
// findings give part of that waiting to the limit, which would hold it back otherwise.
func free(rng *rand.Rand, cpus int) madePod {
	p := anyPod(rng, cpus)
	for len(p.CPUs) < cpus || p.limit > 0 {
		p = anyPod(rng, cpus)
	}
	return p
}

func TestBlameIsWhatRanOnTheProcessorOfWhatWaited(t *testing.T) {
	t.Parallel()
	const kernel, cart, cartToo, sort, index = 1, 2, 3, 4, 5
	a := runqueue.Account{Waited: map[runqueue.Pair]time.Duration{
		{Waiting: cart, Running: sort}: 3 * time.Second, {Waiting: cartToo, Running: sort}: 3 * time.Second,
		{Waiting: cart, Running: index}: 2 * time.Second, {Waiting: cart, Running: cartToo}: time.Second,
		{Waiting: cart, Running: kernel}: time.Second, {Waiting: kernel, Running: cart}: time.Second,
	}}
	of, system := ran(a, map[runqueue.Group]string{cart: "shop/cart", cartToo: "shop/cart", sort: "shop/sort", index: "shop/index"})
	truth := of["shop/cart"]
	if diff := gocmp.Diff(blame{"shop/sort": 6, "shop/index": 2, itself: 1}, truth); diff != "" {
		t.Error(diff)
	}
	if system["shop/cart"] != 0.1 {
		t.Errorf("something that is no pod ran in %v of the waiting, want a tenth", system["shop/cart"])
	}
	said := told(&findings.Pod{Causes: []observed.Cause{
		{Kind: observed.ByNeighbour, Pod: "shop/index", Dilation: 0.5},
		{Kind: observed.ByNeighbour, Pod: "shop/sort", Dilation: 0.5},
		{Kind: observed.ByLimit, Dilation: 3},
		{Kind: observed.ByItself, Dilation: 1},
	}})
	if got := said.neighbours().misplaced(truth.neighbours()); got != 0.25 {
		t.Errorf("%v of the blame is misplaced, want a quarter, which is given to index in place of sort", got)
	}
	if got := said.own(); got != 0.5 {
		t.Errorf("the pod itself is to blame for %v, want a half", got)
	}
}
