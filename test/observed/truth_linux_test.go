package observed

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

var (
	mixes      = flag.Int("mixes", 0, "mixes of pods to run and compare with what they say of themselves; needs root")
	mixSeconds = flag.Float64("mix-seconds", 10, "seconds between the two readings of a mix")
	mixSeed    = flag.Uint64("mix-seed", 1, "seed of all experiments")
)

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(jobVariable); ok {
		if err := runJob(text, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// madePod is a pod of a mix, and what the kernel lets it have.
type madePod struct {
	job
	shares int           // of the processor, 1024 for one
	limit  float64       // processors, 0: none
	around bool          // the limit is that of the pod as well
	saved  time.Duration // what earlier periods left over of the limit, that it may use
}

// shortLived is the kind of pods whose work is done by children that come and go.
const shortLived = "short-lived children"

func (p *madePod) kind() string {
	switch {
	case p.Loops > 0:
		return shortLived
	case p.limit > 0 && p.Threads > 1:
		return "threads under a limit"
	case p.limit > 0:
		return "a limit"
	case p.Threads > 1:
		return "threads"
	}
	return "one thread"
}

// anyPod draws a pod.
func anyPod(rng *rand.Rand, cpus int) madePod {
	p := madePod{shares: []int{51, 102, 256, 512, 1024}[rng.IntN(5)]}
	p.Threads = 1
	for cpu := range cpus {
		p.CPUs = append(p.CPUs, cpu)
	}
	if rng.IntN(3) == 0 {
		p.CPUs = []int{rng.IntN(cpus)}
	}
	alone := 0.05 * math.Pow(20, rng.Float64()) // the fraction of its time that it runs alone, up to all of it
	p.Burst = time.Duration((0.001 + 0.019*rng.Float64()) * float64(time.Second))
	if rng.IntN(4) == 0 {
		p.Loops = 2000 + rng.IntN(30000)
		p.Burst = time.Duration(p.Loops) * time.Microsecond / 2 // about, and only for the sleep
	} else if rng.IntN(3) == 0 {
		p.Threads = 2 + rng.IntN(3)
	}
	p.Sleep = time.Duration(float64(p.Burst) * (1/alone - 1))
	if rng.IntN(4) == 0 {
		p.limit = (0.3 + 0.6*rng.Float64()) * min(1, alone*float64(p.Threads))
		p.limit = max(p.limit, 0.02)
		p.around = rng.IntN(2) == 0
	}
	return p
}

// TestPodsSayTheSameOfThemselves runs pods that time themselves, and compares. What short-lived children wait is estimated, so
// that for pods that have them a bound is asserted on average only. On a machine that does other work at the same time it may
// fail.
func TestPodsSayTheSameOfThemselves(t *testing.T) {
	if *mixes == 0 {
		t.Skip("run it as root on a machine with nothing to do: go test ./test/observed -run SayTheSame -v -args -mixes 10 -mix-seconds 10")
	}
	rng := rand.New(rand.NewPCG(*mixSeed, 0))
	errs := map[string][]deviation{}
	for mix := range *mixes {
		pods := make([]madePod, 2+rng.IntN(7))
		for i := range pods {
			pods[i] = anyPod(rng, 2)
		}
		t.Run(strconv.Itoa(mix), func(t *testing.T) { observe(t, pods, errs) })
	}
	var all, bounded []deviation
	kinds := make([]string, 0, len(errs))
	for kind := range errs {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		t.Logf("%-22s %s", kind, summary(errs[kind]))
		all = append(all, errs[kind]...)
		if kind != shortLived {
			bounded = append(bounded, errs[kind]...)
		}
	}
	t.Logf("%-22s %s", "all", summary(all))
	t.Logf("%-22s %s", "but for "+shortLived, summary(bounded))
	if err := checkDeviations(bounded); err != nil {
		t.Error(err)
	}
	if err := checkMean(errs[shortLived]); err != nil {
		t.Errorf("%s: %v", shortLived, err)
	}
}

// deviation is by how much an observation differs from what a pod says of itself: relatively, and in units of loading.
type deviation struct{ dilation, loading float64 }

func summary(all []deviation) string {
	of := func(value func(deviation) float64) string {
		var signed, mean, worst float64
		for _, d := range all {
			v := value(d)
			signed += v / float64(len(all))
			mean += math.Abs(v) / float64(len(all))
			worst = max(worst, math.Abs(v))
		}
		return fmt.Sprintf("bias %+.3f mean %.3f worst %.3f", signed, mean, worst)
	}
	return fmt.Sprintf("%3d pods; dilation, relative: %s; CPU loading: %s", len(all),
		of(func(d deviation) float64 { return d.dilation }), of(func(d deviation) float64 { return d.loading }))
}

// observe runs a mix.
func observe(t *testing.T, pods []madePod, errs map[string][]deviation) {
	groups := newGroups(t)
	running := make([]*running, len(pods))
	for i := range pods {
		running[i] = groups.start(t, i, &pods[i])
	}
	for _, r := range running {
		r.await(t)
	}
	reader := reading.Reader{Stalls: polling(t)}
	read := func() *reading.Reading {
		got, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := read()
	<-time.After(time.Second) // what starts, runs unlike what goes on
	before := read()
	reader.Follow(before, reading.Between(first, before, "this", nil))
	before = read()
	<-time.After(time.Duration(*mixSeconds * float64(time.Second)))
	after := read()
	interval := reading.Between(before, after, "this", nil)
	if err := interval.Validate(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d processors busy for %.2f of %.2f s, stolen for %.2f",
		interval.CPUs, interval.BusySeconds, interval.Seconds, interval.StolenSeconds)
	for i, r := range running {
		cycles := r.stop(t)
		at := slices.IndexFunc(interval.Pods, func(p usage.Pod) bool { return p.UID == groups.uid(i) })
		if at < 0 {
			t.Fatalf("pod %d is not in the interval", i)
		}
		got := &interval.Pods[at]
		want, ok := truth(cycles, before.At.UnixNano(), after.At.UnixNano())
		if !ok {
			t.Logf("pod %d made too few cycles to compare", i)
			continue
		}
		d := deviation{dilation: got.Dilation/want.dilation - 1, loading: got.CPULoading - want.loading}
		kind := pods[i].kind()
		errs[kind] = append(errs[kind], d)
		pressure := math.NaN()
		if got.PressureSeconds != nil {
			pressure = *got.PressureSeconds
		}
		t.Logf("%-22s threads %d on %v shares %4d limit %.2f %5v: dilation %6.3f of %6.3f, loading %.3f of %.3f, "+
			"threads %.2f run %.2f unseen %.2f wait %.2f throttled %.2f pressure %.2f",
			kind, pods[i].Threads, pods[i].CPUs, pods[i].shares, pods[i].limit, pods[i].around,
			got.Dilation, want.dilation, got.CPULoading, want.loading,
			got.Threads, got.Run, got.Unseen, got.Wait, got.Throttled, pressure)
	}
}

// polling returns stalls that are polled until the test ends.
func polling(t *testing.T) *reading.Stalls {
	ctx, stop := context.WithCancel(t.Context())
	stalls := reading.NewStalls()
	var ended sync.WaitGroup
	ended.Go(func() { stalls.Run(ctx) })
	t.Cleanup(func() {
		stop()
		ended.Wait()
	})
	return stalls
}

type rates struct{ dilation, loading float64 }

// truth returns the dilation and the CPU loading of the cycles between two moments: the means over the threads.
func truth(threads [][]cycle, from, to int64) (rates, bool) {
	var sum rates
	n := 0.0
	for _, cycles := range threads {
		first, _ := slices.BinarySearchFunc(cycles, from, func(c cycle, at int64) int { return cmp.Compare(c.End, at) })
		last, _ := slices.BinarySearchFunc(cycles, to, func(c cycle, at int64) int { return cmp.Compare(c.End, at) })
		if last--; last-first < 5 {
			continue
		}
		a, b := cycles[first], cycles[last]
		run, alone := float64(b.Run-a.Run), float64(b.Run-a.Run+b.Slept-a.Slept)
		sum.dilation += float64(b.End-a.End) / alone
		sum.loading += run / alone
		n++
	}
	return rates{max(1, sum.dilation/n), sum.loading / n}, n > 0
}

// groups are the control groups of a mix.
type groups struct {
	root string // of pods, relative to a hierarchy
	// Those that have the weights and the limits, and all in which a task needs a group.
	limits string
	all    []string
	v2     bool
}

func newGroups(t *testing.T) *groups {
	t.Helper()
	const mount = "/sys/fs/cgroup"
	g := &groups{root: fmt.Sprintf("loadline-reading-%d/kubepods", os.Getpid()), limits: mount + "/cpu"}
	if _, err := os.Stat(mount + "/cgroup.controllers"); err == nil {
		g.v2, g.limits = true, mount
		g.all = []string{mount}
	} else {
		for _, name := range []string{"cpu", "cpuacct", "unified"} {
			if _, err := os.Stat(filepath.Join(mount, name)); err == nil {
				g.all = append(g.all, filepath.Join(mount, name))
			}
		}
	}
	t.Cleanup(func() {
		for _, hierarchy := range g.all {
			removeGroups(t, filepath.Join(hierarchy, filepath.Dir(g.root)))
		}
	})
	return g
}

func removeGroups(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() {
			removeGroups(t, filepath.Join(path, entry.Name()))
		}
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

func (g *groups) uid(pod int) string { return fmt.Sprintf("%d-%d", os.Getpid(), pod) }

// start makes the groups of a pod, and starts it in them.
func (g *groups) start(t *testing.T, pod int, made *madePod) *running {
	t.Helper()
	path := filepath.Join(g.root, "pod"+g.uid(pod))
	made.Groups = nil
	for _, hierarchy := range g.all {
		in := filepath.Join(hierarchy, path, "container")
		if err := os.MkdirAll(in, 0o755); err != nil {
			t.Fatal(err)
		}
		made.Groups = append(made.Groups, in)
	}
	if g.v2 {
		for _, above := range []string{"", filepath.Dir(g.root), g.root, path} {
			set(t, filepath.Join(g.limits, above, "cgroup.subtree_control"), "+cpu")
		}
	}
	g.limit(t, filepath.Dir(g.root), 16*1024, 0, false) // what else runs on the machine shall leave them what they want
	g.limit(t, path, made.shares, made.limit, made.around)
	g.limit(t, filepath.Join(path, "container"), 1024, made.limit, true)
	g.save(t, filepath.Join(path, "container"), made.saved)
	text, err := json.Marshal(made.job)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{command: exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])} // it ends with its input
	r.command.Env = append(os.Environ(), jobVariable+"="+string(text), "GOGC=off", "GOMAXPROCS=16", "GODEBUG=asyncpreemptoff=1")
	r.command.Stderr = os.Stderr
	if r.stdin, err = r.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := r.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdout = bufio.NewReader(stdout)
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.end)
	return r
}

func (g *groups) limit(t *testing.T, path string, shares int, limit float64, limited bool) {
	t.Helper()
	const period = 100_000 // microseconds, as the kubelet has it
	in := filepath.Join(g.limits, path)
	if g.v2 {
		set(t, filepath.Join(in, "cpu.weight"), strconv.Itoa(max(1, shares*100/1024)))
		if limited && limit > 0 {
			set(t, filepath.Join(in, "cpu.max"), fmt.Sprintf("%d %d", int(limit*period), period))
		}
		return
	}
	set(t, filepath.Join(in, "cpu.shares"), strconv.Itoa(shares))
	if limited && limit > 0 {
		set(t, filepath.Join(in, "cpu.cfs_quota_us"), strconv.Itoa(int(limit*period)))
	}
}

// save lets a group use what earlier periods left over of its limit.
func (g *groups) save(t *testing.T, path string, saved time.Duration) {
	t.Helper()
	if saved == 0 {
		return
	}
	file := "cpu.cfs_burst_us"
	if g.v2 {
		file = "cpu.max.burst"
	}
	set(t, filepath.Join(g.limits, path, file), strconv.FormatInt(saved.Microseconds(), 10))
}

func set(t *testing.T, path, value string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		t.Fatal(err)
	}
}

// running is a job in its process.
type running struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
}

// await returns when all threads of a job have done a cycle.
func (r *running) await(t *testing.T) {
	t.Helper()
	if line, err := r.stdout.ReadString('\n'); err != nil || strings.TrimSpace(line) != "running" {
		t.Fatalf("the job said %q, %v", line, err)
	}
}

// end ends a job, if it has not ended: of a test that fails, before its groups are removed.
func (r *running) end() {
	_ = r.stdin.Close()
	_, _ = io.Copy(io.Discard, r.stdout)
	_ = r.command.Wait()
}

// stop ends a job and returns the cycles of its threads.
func (r *running) stop(t *testing.T) (cycles [][]cycle) {
	t.Helper()
	if err := r.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(r.stdout).Decode(&cycles); err != nil {
		t.Fatal(err)
	}
	if err := r.command.Wait(); err != nil {
		t.Fatal(err)
	}
	return cycles
}
