package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/experiments/weights/account"
	"loadline.dev/loadline/hack/local"
)

const (
	// node is where the mixes run.
	node = "worker-1"
	// label marks our pods.
	label = "experiment.loadline.dev/weights"
	// starting and startingEach are how long after its creation a mix begins, for its containers to be up, and how much
	// later for each of its pods.
	starting     = 4 * time.Second
	startingEach = 500 * time.Millisecond
	// leaving is how long after the window all pods run on.
	leaving = 500 * time.Millisecond
	// attempts is how many times a mix is begun whose pods have come up too late.
	attempts = 3
)

// errLate says that a pod was not up when its window began.
var errLate = errors.New("a pod came up too late")

// nodes runs mixes.
type nodes struct {
	client.WithWatch
	*options
}

// measure runs the mixes and, before them, their jobs alone.
func measure(ctx context.Context, o *options) error {
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return fmt.Errorf("%w: run it by make weights-nodes", err)
	}
	n := &nodes{options: o}
	if n.WithWatch, err = local.NewClient(config); err != nil {
		return err
	}
	if err := n.load(ctx); err != nil {
		return err
	}
	texts, err := o.texts()
	if err != nil {
		return err
	}
	done, err := timesRun(o.out, o.cores)
	if err != nil {
		return err
	}
	begin := time.Now()
	for i, text := range texts {
		m, err := parseMix(text)
		if err != nil {
			return err
		}
		for repetition := done[text]; repetition < o.repeat && time.Since(begin) < o.limit; repetition++ {
			fmt.Fprintf(os.Stderr, "%s  %d of %d: %s\n", time.Now().Format(time.TimeOnly), i+1, len(texts), text)
			pods, err := n.try(ctx, m, repetition)
			if err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			r := record{cores: o.cores, mix: m, pods: pods}
			if err := r.add(o.out); err != nil {
				return err
			}
		}
	}
	return nil
}

// timesRun returns how often each mix is in the file, if there is one.
func timesRun(path string, cores int) (map[string]int, error) {
	times := map[string]int{}
	records, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return times, nil
	}
	for _, r := range records {
		if r.cores == cores {
			times[r.mix.String()]++
		}
	}
	return times, err
}

// texts returns the mixes to run, first alone the jobs that are compared with what they do alone.
func (o *options) texts() ([]string, error) {
	mixes := oneCore()
	switch {
	case o.programs:
		mixes = programMixes()
	case o.cores > 1:
		mixes = twoCores()
	}
	var texts, alone []string
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	for _, text := range mixes {
		m, err := parseMix(text)
		if err != nil {
			return nil, err
		}
		for i := range m {
			if a := m[i].alone(); !slices.Contains(alone, a) {
				alone = append(alone, a)
			}
		}
		texts = append(texts, text)
	}
	return slices.DeleteFunc(append(alone, texts...), func(text string) bool { return !only.MatchString(text) }), nil
}

// load brings the program that pods run onto the node. It stands beside this one.
func (*nodes) load(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	tools := filepath.Dir(self)
	out, err := exec.CommandContext(ctx, filepath.Join(tools, "cluster"), "load", filepath.Join(tools, "steady")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("loading steady onto the node: %w: %s", err, out)
	}
	return nil
}

// try runs a mix, again if its pods came up too late.
func (n *nodes) try(ctx context.Context, m mix, repetition int) (pods []measured, err error) {
	for attempt := range attempts {
		extra := time.Duration(attempt) * starting
		pods, err = n.together(ctx, m, repetition, starting+extra+time.Duration(len(m))*startingEach)
		if !errors.Is(err, errLate) {
			break
		}
	}
	return pods, err
}

// together runs a mix once.
func (n *nodes) together(ctx context.Context, m mix, repetition int, until time.Duration) (all []measured, err error) {
	if err := n.clear(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.clear(context.WithoutCancel(ctx))) }()
	if slices.ContainsFunc(m, func(j job) bool { return j.program != "" }) {
		until += preparing
	}
	from := time.Now().Add(until)
	to := from.Add(n.window)
	times := []string{
		"--from", from.Format(time.RFC3339Nano), "--to", to.Format(time.RFC3339Nano), "--end", to.Add(leaving).Format(time.RFC3339Nano),
	}
	for i := range m {
		pod := m[i].pod(fmt.Sprintf("pod-%d", i+1))
		for k := range pod.Spec.Containers {
			seed := repetition*10000 + i*100 + k
			pod.Spec.Containers[k].Command = slices.Concat([]string{"/usr/local/bin/steady"}, times, m[i].arguments(seed))
		}
		if m[i].program != "" {
			mount(pod)
		}
		if err := n.Create(ctx, pod); err != nil {
			return nil, err
		}
		if m[i].guaranteed { // it takes its cores before the others get what is left
			if err := n.awaitRunning(ctx, pod.Name); err != nil {
				return nil, err
			}
		}
	}
	if n.pause {
		if err := paused(ctx, from, to); err != nil {
			return nil, err
		}
	}
	return n.accounts(ctx, m)
}

// paused pauses the cluster from a little before the window until after it.
func paused(ctx context.Context, from, to time.Time) error {
	const before = 300 * time.Millisecond
	if err := waitUntil(ctx, from.Add(-before)); err != nil {
		return err
	}
	resume, err := pause()
	if err != nil {
		return err
	}
	return errors.Join(waitUntil(ctx, to), resume())
}

func waitUntil(ctx context.Context, t time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(t)):
		return nil
	}
}

// arguments are those of steady.
func (j *job) arguments(seed int) []string {
	if j.program != "" {
		return programs()[j.program].arguments()
	}
	arguments := []string{"--burst", j.burst.String(), "--idle", j.idle.String(), "--threads", strconv.Itoa(j.threads), "--seed", strconv.Itoa(seed)}
	if j.exponential {
		arguments = append(arguments, "--exponential")
	}
	return arguments
}

func (n *nodes) awaitRunning(ctx context.Context, name string) error {
	_, err := local.AwaitPods(ctx, n, metav1.NamespaceDefault, func(pods map[string]*corev1.Pod) bool {
		return pods[name] != nil && pods[name].Status.Phase != corev1.PodPending
	})
	return err
}

// accounts waits until all pods have ended and returns what they say.
func (n *nodes) accounts(ctx context.Context, m mix) ([]measured, error) {
	pods, err := local.AwaitPods(ctx, n, metav1.NamespaceDefault, func(pods map[string]*corev1.Pod) bool {
		ended := 0
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodFailed {
				return true
			}
			if pod.Status.Phase == corev1.PodSucceeded {
				ended++
			}
		}
		return ended == len(m)
	})
	if err != nil {
		return nil, err
	}
	all := make([]measured, len(m))
	for i := range m {
		var merged account.Account
		pod := pods[fmt.Sprintf("pod-%d", i+1)]
		if pod == nil {
			return nil, fmt.Errorf("pod %d is gone", i+1)
		}
		for k := range pod.Status.ContainerStatuses {
			terminated := pod.Status.ContainerStatuses[k].State.Terminated
			if terminated == nil || terminated.ExitCode != 0 {
				return nil, fmt.Errorf("pod %d: %s %+v", i+1, pod.Status.Message, pod.Status.ContainerStatuses[k].State)
			}
			var a account.Account
			if err := json.Unmarshal([]byte(terminated.Message), &a); err != nil {
				return nil, fmt.Errorf("pod %d: %q: %w", i+1, terminated.Message, err)
			}
			if a.Late > 0 {
				return nil, fmt.Errorf("%w: pod %d by %v", errLate, i+1, a.Late)
			}
			merged.Parts = append(merged.Parts, a.Parts...)
		}
		if len(merged.Parts) == 0 {
			return nil, fmt.Errorf("pod %d: %s %s", i+1, pod.Status.Reason, pod.Status.Message)
		}
		all[i] = of(merged, m[i].program != "")
	}
	return all, nil
}

// clear removes our pods and waits until they are gone.
func (n *nodes) clear(ctx context.Context) error {
	err := n.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(metav1.NamespaceDefault), client.HasLabels{label}, client.GracePeriodSeconds(0))
	if err != nil {
		return err
	}
	_, err = local.AwaitPods(ctx, n, metav1.NamespaceDefault, func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
	return err
}
