package integration

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/validate"
	"loadline.dev/loadline/test/manifests"
)

var everyMutation = flag.Int("every-mutation", 13, "compare the verdicts on every Nth of the mistakes in manifests; 1 compares all, which takes minutes")

// verdicts asks the API server about manifests as they are written.
type verdicts struct {
	client *rest.RESTClient
	rules  *validate.Rules
}

func newVerdicts(t *testing.T) *verdicts {
	t.Helper()
	config := rest.CopyConfig(shared.plane.RESTConfig())
	config.QPS = -1
	config.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	must(t, err)
	rules, err := validate.Load()
	must(t, err)
	return &verdicts{client, rules}
}

// server returns what the API server says against creating an object, in its own kind
// of text.
func (v *verdicts) server(ctx context.Context, kind, contentType string, text []byte) (refusal, err error) {
	path := []string{"/apis/loadline.dev/v1alpha1"}
	if slices.Contains([]string{"WorkloadProfile", "TraceReplay", "Remediation"}, kind) {
		path = append(path, "namespaces", "default")
	}
	path = append(path, strings.Replace(strings.ToLower(kind)+"s", "policys", "policies", 1))
	err = retry.OnError(connecting, unanswered, func() error {
		return v.client.Post().AbsPath(path...).Param("dryRun", "All").Param("fieldValidation", "Strict").
			SetHeader("Content-Type", contentType).Body(text).Do(ctx).Error()
	})
	if err == nil || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) {
		return err, nil
	}
	return nil, err
}

// connecting is how often a request is repeated that was not answered: a machine that is
// busy loses connections. Nothing is kept of a request.
var connecting = wait.Backoff{Steps: 5, Duration: 200 * time.Millisecond, Factor: 3}

// unanswered reports whether an error is not the API server's.
func unanswered(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status)
}

// check returns our answer to the same.
func (v *verdicts) check(ctx context.Context, text []byte) (*validate.Answer, error) {
	return v.rules.Check(ctx, validate.Input{Documents: []validate.Document{{Place: validate.Place{File: "a", Document: 1, Line: 1}, Text: text}}})
}

// compare returns our answer if it is that of the API server.
func (v *verdicts) compare(ctx context.Context, kind, contentType string, text []byte) (*validate.Answer, error) {
	refusal, err := v.server(ctx, kind, contentType, text)
	if err != nil {
		return nil, err
	}
	answer, err := v.check(ctx, text)
	if err != nil {
		return nil, err
	}
	refused := answer.Refused > 0 || answer.Objects == 0 && answer.Errors() > 0
	if refused != (refusal != nil) {
		return nil, fmt.Errorf("%s\nthe API server says: %v\nwe say: %+v", text, fmt.Sprint(refusal), answer.Findings)
	}
	return answer, nil
}

// Mistakes in any field of any kind are judged as the API server judges them, and what it
// refuses it takes once the advice is followed.
func TestVerdictsOnMistakesAreThoseOfTheAPIServer(t *testing.T) {
	t.Parallel()
	v := newVerdicts(t)
	objects, err := manifests.Objects()
	must(t, err)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	var asked, refused, mended atomic.Int32
	number := 0
	for _, object := range objects {
		kind := fmt.Sprint(object["kind"])
		for what, mutated := range manifests.Mutations(object) {
			if number++; number%*everyMutation != 0 {
				continue
			}
			group.Go(func() error {
				asked.Add(1)
				text, err := json.Marshal(mutated)
				if err != nil {
					return err
				}
				answer, err := v.compare(ctx, kind, runtime.ContentTypeJSON, text)
				if err != nil {
					t.Errorf("%s: %v", what, err)
					return ctx.Err()
				}
				if answer.Refused == 0 {
					return nil
				}
				refused.Add(1)
				if !follow(mutated, answer) {
					return nil
				}
				mended.Add(1)
				if text, err = json.Marshal(mutated); err != nil {
					return err
				}
				if refusal, err := v.server(ctx, kind, runtime.ContentTypeJSON, text); err != nil || refusal != nil {
					t.Errorf("%s: advice that is refused: %+v\n%v %v", what, answer.Findings, refusal, err)
				}
				return ctx.Err()
			})
		}
	}
	must(t, group.Wait())
	t.Logf("%d mistakes, %d refused, %d mended as advised", asked.Load(), refused.Load(), mended.Load())
	if refused.Load() == 0 || mended.Load() == 0 {
		t.Error("nothing was compared")
	}
}

// follow does as advised, and reports whether there is advice for everything.
func follow(object map[string]any, answer *validate.Answer) bool {
	for _, f := range answer.Findings {
		if f.By != validate.ByAPIServer {
			continue
		}
		if f.WriteInstead == "" && !f.Remove || manifests.Follow(object, f.Field, f.WriteInstead) != nil {
			return false
		}
	}
	return true
}

// Texts are judged as the API server judges them: YAML has numbers, names and marks of its
// own.
func TestVerdictsOnTextsAreThoseOfTheAPIServer(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}\nspec:\n  selector: {}\n"
	const loading = header + "  resources: [{name: cpu, loading: %s}]\n"
	texts := map[string]string{
		"a field twice":        header + "  resources: [{name: cpu, loading: '0.5'}]\n  neutralMillis: 1\n  neutralMillis: 2\n",
		"metadata twice":       header + "  resources: [{name: cpu, loading: '0.5'}]\nmetadata: {name: other, namespace: default}\n",
		"a tab":                header + "\tresources: []\n",
		"truncated":            header + "  resources: [{name: cpu, loading",
		"truncated in a word":  header + "  resou",
		"nothing but a header": header,
		"an anchor":            header + "  resources: [{name: cpu, loading: &l '0.5'}, {name: disk, loading: *l}]\n",
		"a label that is a number": strings.Replace(header, "name: job", "labels: {version: 1.0}, name: job", 1) +
			"  resources: [{name: cpu, loading: '0.5'}]\n",
		"a name that is a number": strings.Replace(header, "name: job", "name: 5", 1) + "  resources: [{name: cpu, loading: '0.5'}]\n",
		"no metadata":             "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nspec: {selector: {}, resources: [{name: cpu, loading: '0.5'}]}\n",
		"a generated name":        strings.Replace(header, "name: job", "generateName: job-", 1) + "  resources: [{name: cpu, loading: '0.5'}]\n",
		"a long generated name":   strings.Replace(header, "name: job", "generateName: "+strings.Repeat("a", 80), 1) + "  resources: [{name: cpu, loading: '0.5'}]\n",
		"a status":                header + "  resources: [{name: cpu, loading: '0.5'}]\nstatus: {pods: many}\n",
		"a status with a typo":    header + "  resources: [{name: cpu, loading: '0.5'}]\nstatus: {pod: 1}\n",
		"a comment and a mark":    "# comment\n---\n" + header + "  resources: [{name: cpu, loading: '0.5'}]\n...\n",
		"JSON with a field twice": `{"apiVersion":"loadline.dev/v1alpha1","kind":"WorkloadProfile","metadata":{"name":"a"},"spec":{"selector":{},"selector":{},"resources":[{"name":"cpu","loading":"0.5"}]}}`,
		"JSON cut off":            `{"apiVersion":"loadline.dev/v1alpha1","kind":"WorkloadProfile","metadata":{"name":"a"},`,
		"too long":                header + "  resources: [{name: cpu, loading: '0.5'}]\n# " + strings.Repeat("x", 4<<20),
		"labels too long":         strings.Replace(header, "name: job", "annotations: {a: "+strings.Repeat("x", 1<<18)+"}, name: job", 1) + "  resources: [{name: cpu, loading: '0.5'}]\n",
	}
	for _, number := range []string{
		"0.58", "'0.58'", "580m", ".5", "5.", "+.5", "5e-1", "1e0", "0x1", "0o1", "01", "1_0", "1:30", "yes", "on", "~", "", ".inf", ".nan", "NaN", "!!str 0.5", "!!float 1", "1.0", "2001-01-01", "'٠.٥'", "0,5", "58%",
	} {
		texts["loading: "+number] = fmt.Sprintf(loading, number)
	}
	v := newVerdicts(t)
	for name, text := range texts {
		contentType := runtime.ContentTypeYAML
		if strings.HasPrefix(text, "{") {
			contentType = runtime.ContentTypeJSON
		}
		if _, err := v.compare(t.Context(), "WorkloadProfile", contentType, []byte(text)); err != nil {
			t.Errorf("%s: %.2000s", name, err.Error())
		}
	}
}

// With a cluster, check tells who would follow the profiles of the files, which profile
// wins, and what the API server says to what is there already.
func TestCheckAsksTheCluster(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 2)
	must(t, p.Create(t.Context(), p.profile("web", map[string]string{"cpu": "0.5"})))
	for _, name := range []string{"web-0", "web-1"} {
		must(t, p.Create(t.Context(), p.pod(name, "web")))
	}
	replay := &v1alpha1.TraceReplay{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "fixed"}}
	replay.Spec.Trace = &v1alpha1.ReplayTrace{ConfigMap: &v1alpha1.ConfigMapKey{Name: "a", Key: "b"}}
	replay.Spec.Nodes = []v1alpha1.ReplayNodes{{Name: "worker"}}
	must(t, p.Create(t.Context(), replay))

	file := filepath.Join(t.TempDir(), "some.yaml")
	must(t, os.WriteFile(file, []byte(fmt.Sprintf(`apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: zeb, namespace: %[1]s}
spec: {selector: {matchLabels: {app: web}}, resources: [{name: cpu, loading: "0.5"}]}
---
apiVersion: loadline.dev/v1alpha1
kind: TraceReplay
metadata: {name: fixed, namespace: %[1]s}
spec: {trace: {configMap: {name: a, key: c}}, nodes: [{name: worker}]}
---
apiVersion: loadline.dev/v1alpha1
kind: NodeProfile
metadata: {name: %[1]s}
spec: {selector: {matchLabels: {place: %[1]s}}, resources: [{name: cpu, servers: 4}]}
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: lost, namespace: no-such-namespace}
spec: {selector: {}, resources: [{name: cpu, loading: "0.5"}]}
`, p.namespace)), 0o600))
	command := exec.CommandContext(t.Context(), plugin, "check", "-f", file, "--with-cluster", "-o", "json", "--kubeconfig", p.plane.Kubeconfig())
	out, err := command.Output()
	if command.ProcessState.ExitCode() != 1 {
		t.Fatalf("exit code %d, %v", command.ProcessState.ExitCode(), err)
	}
	var answer validate.Answer
	must(t, json.Unmarshal(out, &answer))
	var followers []string
	for _, f := range answer.Followers {
		followers = append(followers, fmt.Sprintf("%s %d %t", f.ObjectName, f.Count, f.Conflict != ""))
	}
	want := []string{"NodeProfile " + p.namespace + " 2 false", "WorkloadProfile " + p.namespace + "/zeb 0 true", "WorkloadProfile no-such-namespace/lost 0 false"}
	if diff := cmp.Diff(want, followers); diff != "" {
		t.Errorf("unexpected followers (-want +got):\n%s", diff)
	}
	for _, want := range []string{"loses 2 pods to web", "the spec of a TraceReplay cannot be changed", `namespaces "no-such-namespace" not found`} {
		if !strings.Contains(string(out), strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%q is not said in\n%s", want, out)
		}
	}
}
