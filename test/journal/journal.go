// Package journal notes what a controller does, in its order, so that tests compare whole processes with files: each write
// and each event, and when the controller is to look again.
//
// A status or a Job is there by a digest of what was written, so that no byte of it changes unnoticed, with the conditions;
// the first Job of each step and role is there as a whole.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

var update = flag.Bool("update", false, "write the files that journals are compared with anew")

// Journal is what a controller does. It is not safe for concurrent use.
type Journal struct {
	t     *testing.T
	since clock.PassiveClock
	begin int64 // of the journal, in milliseconds
	lines []string
	shown map[string]bool // steps and roles whose Job is in it
}

// New returns an empty journal, which begins now.
func New(t *testing.T, c clock.PassiveClock) *Journal {
	t.Helper()
	return &Journal{t: t, since: c, begin: c.Now().UnixMilli(), shown: map[string]bool{}}
}

// String returns the journal as a file has it.
func (j *Journal) String() string { return strings.Join(j.lines, "\n") + "\n" }

// Compare compares the journal with a file, which -update writes.
func (j *Journal) Compare(path string) {
	j.t.Helper()
	if *update {
		j.must(os.MkdirAll(filepath.Dir(path), 0o750))
		j.must(os.WriteFile(path, []byte(j.String()), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	j.must(err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(j.String(), "\n")); diff != "" {
		j.t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Writes returns what notes the writes of a controller.
func (j *Journal) Writes() interceptor.Funcs {
	return interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			j.applied(o)
			return c.Apply(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if options := (&client.DeleteOptions{}).ApplyOptions(opts); options.PropagationPolicy != nil { // else it is the test that deletes
				j.note("delete %s %s %s", o.GetName(), *options.PropagationPolicy, *options.Preconditions.UID)
			}
			return c.Delete(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			j.note("patch %s %s", o.GetName(), j.dataOf(o, p))
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			j.note("%s %s %s", sub, o.GetName(), digest(j.dataOf(o, p)))
			switch o.(type) {
			case *v1alpha1.NodeProfile, *v1alpha1.WorkloadProfile:
				for _, condition := range statuses.Conditions(o) {
					j.note("%s %s %s: %s", condition.Type, condition.Status, condition.Reason, condition.Message)
				}
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

func (j *Journal) applied(o runtime.ApplyConfiguration) {
	data, err := json.Marshal(o)
	j.must(err)
	var job struct{ Metadata struct{ Name string } }
	j.must(json.Unmarshal(data, &job))
	j.note("apply %s %s", job.Metadata.Name, digest(data))
	_, role, _ := strings.Cut(job.Metadata.Name, "-1-") // of the first round
	if role, _, _ = strings.Cut(role, "-0-"); role != "" && !j.shown[role] {
		j.shown[role] = true
		text, err := yaml.JSONToYAML(data)
		j.must(err)
		j.lines = append(j.lines, "    "+strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    "))
	}
}

func (j *Journal) dataOf(o client.Object, p client.Patch) []byte {
	data, err := p.Data(o)
	j.must(err)
	return data
}

// Looked notes the result of a reconciliation.
func (j *Journal) Looked(result reconcile.Result) {
	if result.Priority != nil && *result.Priority != 0 {
		j.note("again after %v, priority %d", result.RequeueAfter, *result.Priority)
		return
	}
	j.note("again after %v", result.RequeueAfter)
}

// Ended notes the metrics that are not 0, and an object as it is.
func (j *Journal) Ended(registry prometheus.Gatherer, o client.Object) {
	families, err := registry.Gather()
	j.must(err)
	for _, family := range families {
		var text strings.Builder
		_, err := expfmt.MetricFamilyToText(&text, family)
		j.must(err)
		for line := range strings.Lines(text.String()) {
			if !strings.HasPrefix(line, "#") && !strings.HasSuffix(line, " 0\n") {
				j.lines = append(j.lines, strings.TrimSpace(line))
			}
		}
	}
	text, err := yaml.Marshal(o)
	j.must(err)
	j.lines = append(j.lines, strings.TrimSpace(string(text)))
}

// Recorder returns a recorder that notes events, which it passes on.
func (j *Journal) Recorder(to events.EventRecorder) events.EventRecorder { return &recorder{to, j} }

type recorder struct {
	events.EventRecorder
	journal *Journal
}

func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	about, err := meta.Accessor(regarding)
	r.journal.must(err)
	r.journal.note("event about %s: %s %s %s: %s", about.GetName(), kind, reason, action, fmt.Sprintf(note, args...))
	r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

func (j *Journal) note(format string, args ...any) {
	elapsed := float64(j.since.Now().UnixMilli()-j.begin) / 1000
	j.lines = append(j.lines, fmt.Sprintf("%7.1f s  ", elapsed)+fmt.Sprintf(format, args...))
}

func (j *Journal) must(err error) {
	j.t.Helper()
	if err != nil {
		j.t.Fatal(err)
	}
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:12] }
