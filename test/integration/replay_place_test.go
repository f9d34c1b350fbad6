package integration

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/kubelet"
)

// startKubelet plays a node that runs the pods of the place until the test ends.
func (p *place) startKubelet(t *testing.T, before func(context.Context, *corev1.Pod)) *kubelet.Kubelet {
	t.Helper()
	k, err := kubelet.Start(t.Context(), p, kubelet.Options{
		Node: p.namespace + "-kubelet", Namespace: p.namespace, Dir: t.TempDir(),
		Commands: map[string]string{"kubectl-loadline": plugin}, Before: before,
	})
	must(t, err)
	t.Cleanup(func() { must(t, k.Stop()) })
	return k
}

// gate lets the first few pods through and holds up the others until it is
// opened.
type gate struct {
	mu      sync.Mutex
	through int
	opened  chan struct{}
}

func newGate(through int) *gate { return &gate{through: through, opened: make(chan struct{})} }

func (g *gate) pass(ctx context.Context, _ *corev1.Pod) {
	g.mu.Lock()
	g.through--
	held := g.through < 0
	g.mu.Unlock()
	if !held {
		return
	}
	select {
	case <-g.opened:
	case <-ctx.Done():
	}
}

// generated is a replay of two policies with two seeds on generated jobs, and
// the profile that these follow.
func (p *place) generated() (*v1alpha1.TraceReplay, *v1alpha1.WorkloadProfile) {
	profile := p.profile("job", map[string]string{"cpu": "0.6", "disk": "0.3"})
	profile.Spec.NeutralMillis = new(int64(1000))
	return &v1alpha1.TraceReplay{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "TraceReplay"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "generated"},
		Spec: v1alpha1.TraceReplaySpec{
			Arrivals: &v1alpha1.ReplayArrivals{
				Jobs:         new(int64(100)),
				Interarrival: v1alpha1.Interarrival{MeanMillis: new(int64(400))},
				Types:        []v1alpha1.ReplayJobType{{Profile: "job"}},
			},
			Nodes:    []v1alpha1.ReplayNodes{{Name: "small", Count: new(int32(3))}},
			Policies: []v1alpha1.ReplayPolicy{{Name: "round-robin"}, {Name: "least-dilation"}},
			Seeds:    new(int32(2)),
		},
	}, profile
}

// awaitComplete waits until the condition Complete is as given.
func (p *place) awaitComplete(t *testing.T, replay *v1alpha1.TraceReplay, status metav1.ConditionStatus, reason, text string) {
	t.Helper()
	p.await(t, replay, func() bool {
		return has(replay.Status.Conditions, v1alpha1.ConditionComplete, status, reason, text)
	})
}

// made lists what the manager has made for the replays of the place, but for
// their reports.
func (p *place) made(t *testing.T) []string {
	t.Helper()
	var jobs batchv1.JobList
	var pods corev1.PodList
	var configs corev1.ConfigMapList
	var names []string
	for _, list := range []client.ObjectList{&jobs, &pods, &configs} {
		must(t, p.List(t.Context(), list, client.InNamespace(p.namespace), client.HasLabels{"loadline.dev/trace-replay"}))
	}
	for i := range jobs.Items {
		names = append(names, "Job "+jobs.Items[i].Name)
	}
	for i := range pods.Items {
		names = append(names, "Pod "+pods.Items[i].Name)
	}
	for i := range configs.Items {
		if !strings.HasSuffix(configs.Items[i].Name, "-report") {
			names = append(names, "ConfigMap "+configs.Items[i].Name)
		}
	}
	return names
}

// awaitNothingLeft waits until all that was made is gone but for reports. The
// garbage collector has up to half a minute yet to learn of TraceReplays.
func (p *place) awaitNothingLeft(t *testing.T) {
	t.Helper()
	var left []string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		left = p.made(t)
		return len(left) == 0, nil
	})
	if err != nil {
		t.Fatalf("left behind: %v", left)
	}
}

// decoded is a JSON answer as any program reads it.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var answer any
	must(t, json.Unmarshal(text, &answer))
	return answer
}

// answerOfTheCommandLine replays with kubectl loadline, in no cluster, what the
// manifests of some objects ask.
func (p *place) answerOfTheCommandLine(t *testing.T, args []string, objects ...any) any {
	t.Helper()
	var manifest bytes.Buffer
	for _, o := range objects {
		document, err := yaml.Marshal(o)
		must(t, err)
		manifest.WriteString("---\n")
		manifest.Write(document)
	}
	path := filepath.Join(t.TempDir(), "replay.yaml")
	must(t, os.WriteFile(path, manifest.Bytes(), 0o600))
	command := exec.CommandContext(t.Context(), plugin, append([]string{"replay", "-f", path, "-o", "json"}, args...)...)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl loadline replay: %v\n%s", err, errs.String())
	}
	return decoded(t, out)
}

// reported returns the full results of a replay that has ended, and looks whether
// the page is beside them.
func (p *place) reported(t *testing.T, replay *v1alpha1.TraceReplay) any {
	t.Helper()
	if replay.Status.Report == nil {
		t.Fatalf("there is no report: %+v", replay.Status)
	}
	report := &corev1.ConfigMap{}
	must(t, p.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: replay.Status.Report.Name}, report))
	if !metav1.IsControlledBy(report, replay) {
		t.Errorf("the report does not go with its replay: %+v", report.OwnerReferences)
	}
	if page := report.Data["report.html"]; !strings.Contains(page, "Replay "+replay.Name) || !strings.Contains(page, "<svg") {
		t.Errorf("report.html is no page about the replay: %.200s", page)
	}
	return decoded(t, []byte(report.Data[replay.Status.Report.Key]))
}

// listed returns what kubectl get prints of a replay, by column, without its age.
func (p *place) listed(t *testing.T, replay *v1alpha1.TraceReplay) map[string]any {
	t.Helper()
	config := rest.CopyConfig(p.plane.RESTConfig())
	config.GroupVersion = &v1alpha1.GroupVersion
	config.APIPath = "/apis"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	must(t, err)
	content, err := c.Get().Namespace(p.namespace).Resource("tracereplays").Name(replay.Name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	must(t, err)
	var table metav1.Table
	must(t, json.Unmarshal(content, &table))
	cells := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 && column.Name != "Age" {
			cells[column.Name] = table.Rows[0].Cells[i]
		}
	}
	return cells
}

// writeGzip writes a text, compressed.
func writeGzip(path, text string) error {
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	if _, err := io.WriteString(zipper, text); err != nil {
		return err
	}
	if err := zipper.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o600)
}

// filesOf returns the content of all files of a folder, by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	files := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, filepath.Base(entry.Name())))
		must(t, err)
		files[entry.Name()] = string(content)
	}
	return files
}
