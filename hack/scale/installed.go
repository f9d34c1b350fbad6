package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/processes"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	manager   = "loadline-manager"
	scheduler = "loadline-scheduler"
	kubectl   = "kubectl-loadline"
)

// installed is Loadline on a cluster that is made up.
type installed struct {
	*cluster

	programs map[string]string // the paths of programs, by their names
	dir      string
	kept     string // the folder for profiles of the programs
	watched  *watched
	out      io.Writer
}

// measure shows what the cluster takes without Loadline, and then what each of its parts does but for the page.
func (l *installed) measure(ctx context.Context, o *options) error {
	objects := profiles(l.in.Pods, o.profiles)
	fmt.Fprintf(l.out, "%d nodes, %d pods, %d profiles\n", len(l.in.Nodes), len(l.in.Pods)+len(l.in.Nodes), len(objects)-1)
	l.progress.Step("watching the cluster without Loadline")
	without, err := l.watched.period(ctx, o.period)
	if err != nil {
		return err
	}
	without.write(l.out, "without Loadline")
	if err := l.createAll(ctx, "profiles", objects); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{partManager, func() error { return l.measureManager(ctx, o, partManager) }},
		{partScheduler, func() error { return l.measureScheduler(ctx, o.placed) }},
		{partWho, func() error { return l.measureCommand(ctx, "who") }},
		{partPlan, func() error { return l.measureCommand(ctx, "plan") }},
		{partRemediation, func() error { return l.measureRemediation(ctx, o) }},
	} {
		if !slices.Contains(o.parts, part.name) {
			continue
		}
		if err := part.measure(); err != nil {
			return err
		}
	}
	return nil
}

// measureRemediation is as measureManager, with changes that are proposed of all pods, and none made.
func (l *installed) measureRemediation(ctx context.Context, o *options) error {
	policy := &v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "advise"},
		Spec:       v1alpha1.RemediationPolicySpec{Mode: v1alpha1.RemediationAdvise, MinPodAgeSeconds: new(int32(0))},
	}
	if err := l.Create(ctx, policy); err != nil {
		return fmt.Errorf("creating RemediationPolicy %s: %w", policy.Name, err)
	}
	return l.measureManager(ctx, o, partRemediation, "--remediation")
}

// measureManager starts the manager with some flags besides, and shows what it takes to begin, until it has asked every gauge and seen every
// profile, and then in a period. Its profiles are kept under the name of the part.
func (l *installed) measureManager(ctx context.Context, o *options, part string, flags ...string) (err error) {
	token, err := l.token(ctx)
	if err != nil {
		return err
	}
	ports, err := freePorts(ctx, 3)
	if err != nil {
		return err
	}
	metricsAt, pprofAt := "127.0.0.1:"+ports[0], "127.0.0.1:"+ports[1]
	what := strings.Join(append([]string{"the manager"}, flags...), " ")
	l.progress.Step("starting %s", what)
	before, err := l.watched.sample(ctx)
	if err != nil {
		return err
	}
	p, err := startLimited(ctx, manager, o.memory, func() (*local.Process, error) {
		return local.StartManager(ctx, l.programs[manager], l.plane.Kubeconfig(), append([]string{
			"--gauges", "--gauge-token-file", token, "--gauge-namespace", deployed.InstallNamespace,
			"--metrics-secure=false", "--metrics-bind-address", metricsAt, "--pprof-bind-address", pprofAt, "--usage-bind-address", "127.0.0.1:" + ports[2],
		}, flags...)...)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	l.watched.processes[manager], before.busy[manager] = p.ID(), 0
	defer delete(l.watched.processes, manager)
	profiled, err := newProfiled("http://"+pprofAt, part, l.kept)
	if err != nil {
		return err
	}
	metrics := "http://" + metricsAt + "/metrics"
	if _, err := l.awaitRounds(ctx, p, metrics, 2); err != nil {
		return fmt.Errorf("%w\n%s", err, p.Log())
	}
	after, err := l.watched.sample(ctx)
	if err != nil {
		return err
	}
	after.since(before).write(l.out, what+" begins")
	err = profiled.while(ctx, o.period, func() error {
		during, err := l.watched.period(ctx, o.period)
		if err == nil {
			during.write(l.out, what+" goes on")
		}
		return err
	})
	if err != nil {
		return err
	}
	memory, err := processes.Memory(p.ID())
	if err != nil {
		return err
	}
	round, err := l.awaitRounds(ctx, p, metrics, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "%s: %s; %.1f s for a round to %.0f gauges, of which %.0f failed in all rounds\n",
		what, describe(memory), round.seconds, round.gauges, round.failed)
	if part == partRemediation {
		fmt.Fprintf(l.out, "%s: %.0f plans, %.1f s in all\n", what, round.plans, round.planning)
	}
	return profiled.heap(ctx)
}

// freePorts returns some ports of the loopback that nothing listens at.
func freePorts(ctx context.Context, n int) ([]string, error) {
	ports := make([]string, n)
	for i := range ports {
		var err error
		if ports[i], err = local.FreePort(ctx); err != nil {
			return nil, err
		}
	}
	return ports, nil
}

// token writes a token for gauges into a file.
func (l *installed) token(ctx context.Context) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: deployed.InstallNamespace, Name: reader}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{usage.Audience}}}
	if err := l.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("a token for gauges: %w", err)
	}
	path := filepath.Join(l.dir, "gauge-token")
	return path, os.WriteFile(path, []byte(request.Status.Token), 0o600)
}

// collection is what a manager's metrics say of collecting from gauges, and of plans that it made of that.
type collection struct {
	gauges, seconds, answered, failed float64
	plans, planning                   float64 // how many plans were made, and the seconds that it took
}

// awaitRounds returns once a manager has asked all gauges a number of times more. A manager that begins does not serve its metrics yet.
func (l *installed) awaitRounds(ctx context.Context, manager *local.Process, metrics string, times float64) (*collection, error) {
	var first, now *collection
	err := wait.PollUntilContextTimeout(ctx, 5*time.Second, 15*time.Minute, true, func(ctx context.Context) (bool, error) {
		text, err := fetch(ctx, metrics)
		if err != nil {
			select {
			case <-manager.Exited():
				return false, err
			default:
				return false, nil
			}
		}
		if now, err = collectionOf(text); err != nil {
			return false, err
		}
		if first == nil {
			first = now
		}
		nodes := float64(len(l.in.Nodes))
		l.progress.Count("answers of gauges", int(now.answered-first.answered), int(times*nodes))
		return now.gauges == nodes && now.answered-first.answered >= times*nodes, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for %.0f rounds: %+v: %w", times, now, err)
	}
	return now, nil
}

// fetch returns what is at a URL.
func fetch(ctx context.Context, url string) (content []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

// collectionOf reads a manager's metrics.
func collectionOf(metrics []byte) (*collection, error) {
	families, err := parse(metrics)
	if err != nil {
		return nil, fmt.Errorf("the metrics of the manager: %w", err)
	}
	c := &collection{}
	for _, metric := range families["loadline_collection_targets"].GetMetric() {
		c.gauges = metric.GetGauge().GetValue()
	}
	for _, metric := range families["loadline_collection_duration_seconds"].GetMetric() {
		c.seconds = metric.GetGauge().GetValue()
	}
	for _, metric := range families["loadline_plan_duration_seconds"].GetMetric() {
		c.plans, c.planning = float64(metric.GetHistogram().GetSampleCount()), metric.GetHistogram().GetSampleSum()
	}
	for _, metric := range families["loadline_collection_requests_total"].GetMetric() {
		for _, label := range metric.GetLabel() {
			switch label.GetValue() {
			case "answered":
				c.answered = metric.GetCounter().GetValue()
			case "failed":
				c.failed = metric.GetCounter().GetValue()
			}
		}
	}
	return c, nil
}

// measureScheduler starts the scheduler as it is shipped, has it place pods of a profile, and shows what that takes.
func (l *installed) measureScheduler(ctx context.Context, pods int) (err error) {
	root, err := local.Root(ctx)
	if err != nil {
		return err
	}
	shipped, err := local.ShippedProfiles(root)
	if err != nil {
		return err
	}
	config, err := local.SchedulerConfig(l.dir, l.plane.Kubeconfig(), shipped)
	if err != nil {
		return err
	}
	l.progress.Step("starting the scheduler")
	p, err := startLimited(ctx, scheduler, "", func() (*local.Process, error) {
		return local.StartScheduler(ctx, l.programs[scheduler], config, "--authorization-always-allow-paths", "/healthz,/livez,/readyz,/metrics,"+pprofPath+"*")
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	l.watched.processes[scheduler] = p.ID()
	defer delete(l.watched.processes, scheduler)
	if err := l.place(ctx, "first", 1); err != nil { // it has the whole cluster then
		return err
	}
	profiled, err := newProfiled(p.Address(), partScheduler, l.kept)
	if err != nil {
		return err
	}
	before, err := l.watched.sample(ctx)
	if err != nil {
		return err
	}
	var after *sample
	err = profiled.while(ctx, 10*time.Second, func() (err error) {
		if err := l.place(ctx, "placed", pods); err != nil {
			return err
		}
		after, err = l.watched.sample(ctx)
		return err
	})
	if err != nil {
		return err
	}
	took := after.since(before)
	took.write(l.out, fmt.Sprintf("the scheduler places %d pods", pods))
	memory, err := processes.Memory(p.ID())
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "the scheduler: %s; %.0f pods/s, %.2f ms of its processor time each\n",
		describe(memory), float64(pods)/took.took.Seconds(), 1000*took.cores[scheduler]*took.took.Seconds()/float64(pods))
	return profiled.heap(ctx)
}

// place creates pods for Loadline's scheduler, like those of the first workload, and returns when all have a node.
func (l *installed) place(ctx context.Context, name string, number int) error {
	pods := make([]client.Object, number)
	for i := range pods {
		pod := dressed(&l.in.Pods[0])
		pod.Namespace, pod.Name, pod.Spec.NodeName = name, fmt.Sprintf("%s-%05d", name, i), ""
		pods[i] = pod
	}
	if err := l.prepare(ctx, []string{name}); err != nil {
		return err
	}
	if err := l.createAll(ctx, "pods for the scheduler", pods); err != nil {
		return err
	}
	_, err := local.AwaitPods(ctx, l, name, local.AllBound(number))
	return err
}

// measureCommand runs a command of kubectl loadline, and shows what it takes.
func (l *installed) measureCommand(ctx context.Context, args ...string) error {
	l.progress.Step("running kubectl loadline %v", args)
	command := exec.CommandContext(ctx, l.programs[kubectl], append(args, "--kubeconfig", l.plane.Kubeconfig())...)
	var problems bytes.Buffer
	command.Stderr = &problems
	began := time.Now()
	if err := command.Start(); err != nil {
		return fmt.Errorf("kubectl loadline %v: %w", args, err)
	}
	peak, err := processes.AwaitPeak(command)
	if err != nil {
		return fmt.Errorf("kubectl loadline %v: %w\n%s", args, err, problems.String())
	}
	fmt.Fprintf(l.out, "kubectl loadline %v: %s, %s at most, %s of processor time\n", args, time.Since(began).Round(100*time.Millisecond),
		mebibytes(peak), (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Round(100*time.Millisecond))
	return nil
}

// describe says how much memory a process has.
func describe(m processes.Resident) string {
	return fmt.Sprintf("%s resident, %s without its own file, %s at most", mebibytes(m.All), mebibytes(m.Own), mebibytes(m.Peak))
}

func mebibytes(kibibytes int) string { return fmt.Sprintf("%d MiB", kibibytes>>10) }
