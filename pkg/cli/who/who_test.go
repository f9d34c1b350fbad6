package who_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// observedPod returns a pod of a Deployment.
func observedPod(namespace, name, node, request, limit string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"pod-template-hash": "5d4f"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-5d4f", Controller: new(true)}},
		},
		Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
	if limit != "" {
		p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	return p
}

func observedNode(name, cpu string) *corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("110")}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: amounts}}
}

// observed is a pod of one thread in an interval of ten seconds, with the given parts of waiting and throttling.
func observed(name string, loading, wait, throttled float64) usage.Pod {
	neutral := 1 - wait - throttled
	return usage.Pod{
		UID: "uid-" + name, Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1 / neutral, CPULoading: loading,
		Times: usage.Times{Run: 10 * loading * neutral, Wait: 10 * wait, Throttled: 10 * throttled},
	}
}

func reportOf(node string, cpus int, stolen float64, pods ...usage.Pod) usage.Report {
	r := usage.Report{AgeSeconds: 2}
	busy := 0.0
	for _, p := range pods {
		busy += p.Run
	}
	for range 12 {
		r.Intervals = append(r.Intervals, usage.Interval{Node: node, Seconds: 10, CPUs: cpus, CgroupVersion: 2, BusySeconds: busy, StolenSeconds: stolen, Pods: pods})
	}
	return r
}

// slowCluster is a cluster in which one pod has too small a request, one too small a limit, and one a busy hypervisor.
func slowCluster() (objects []client.Object, reports []usage.Report) {
	objects = []client.Object{
		observedNode("worker-1", "1"), observedNode("worker-2", "2"), observedNode("worker-3", "1"),
		observedPod("shop", "cart", "worker-1", "50m", ""), observedPod("etl", "sort", "worker-1", "500m", ""),
		observedPod("web", "api", "worker-2", "100m", "300m"), observedPod("batch", "report", "worker-3", "600m", ""),
	}
	return objects, []usage.Report{
		reportOf("worker-1", 1, 0, observed("cart", 0.6, 1-1/6.6, 0), observed("sort", 1, 0.08, 0)),
		reportOf("worker-2", 2, 0, observed("api", 0.5, 0, 0.4)),
		reportOf("worker-3", 1, 2.5, observed("report", 0.75, 0, 0)),
	}
}

// slowFiles returns the flags for files of the cluster.
func slowFiles(t *testing.T) []string {
	t.Helper()
	objects, reports := slowCluster()
	return clusterFiles(t, objects, reports)
}

// clusterFiles returns the flags for files with a cluster and the observations of its gauges.
func clusterFiles(t *testing.T, objects []client.Object, reports []usage.Report) []string {
	t.Helper()
	var items []any
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Pod:
			o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		case *corev1.Node:
			o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		}
		items = append(items, o)
	}
	return []string{
		"-f", clitest.WriteFile(t, "cluster.json", clitest.JSON(t, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})),
		"--usage", clitest.WriteFile(t, "usage.json", clitest.JSON(t, reports)),
	}
}

const slowed = `DILATION       VICTIM         SINCE   BECAUSE OF                     AT    REMEDY                        THEN
6.60 ± 0.00×   shop/cart      > 2m    etl/sort +5.60                 cpu   step 1: move it to worker-2   1.00× (at most 3.74×), slows no other pod, relieves others by 0.09
1.67 ± 0.00×   web/api        > 2m    its own limit of 300m +0.67    cpu   step 2: limit 1 (now 300m)    1.00× (at most 1.33×), slows no other pod
1.33 ± 0.00×   batch/report   > 2m    the hypervisor (steal) +0.33   cpu   leave it                      -
Slowed down 1.20× or more: 3 of 4 observed pods.
The remedies are the steps of one plan: kubectl loadline plan shows it. Together they take the excess above 1.20× from 6.00 to 0.13.
`

func TestWhoSaysWhichPodsAreSlowedDownAndWhatHelps(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", append([]string{"who"}, slowFiles(t)...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if diff := cmp.Diff(clitest.Squeezed(slowed), clitest.Squeezed(stdout)); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, stdout)
	}
}

// On a node of two processors 40 pods use a hundredth of one each, beside one that always runs: their parts are summed up, and the
// worst have rows.
func TestWhoAddsUpACrowd(t *testing.T) {
	t.Parallel()
	program := observed("program", 1, 0.25, 0)
	program.Threads, program.Run, program.Wait = 2, 15, 5
	objects := []client.Object{observedNode("worker-1", "2"), observedNode("worker-2", "2"), observedPod("shop", "program", "worker-1", "100m", "")}
	seen := []usage.Pod{program}
	for i := range 40 {
		name := fmt.Sprintf("small-%02d", i)
		objects = append(objects, observedPod("shop", name, "worker-1", "1m", ""))
		seen = append(seen, observed(name, 0.016, 0.25, 0))
	}
	files := clusterFiles(t, objects, []usage.Report{reportOf("worker-1", 2, 0, seen...), reportOf("worker-2", 2, 0)})
	code, stdout, stderr := clitest.Run(t, "", append([]string{"who"}, files...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := strings.Split(clitest.Squeezed(stdout), "\n")
	if len(lines) != 16 {
		t.Fatalf("%d lines:\n%s", len(lines), stdout)
	}
	for line, want := range map[int]string{
		1:  "1.33 ± 0.00× shop/program > 2m 40 pods together +0.33 (shop/small-00, shop/small-01, shop/small-02 and 37 more) cpu ",
		10: "1.33 ± 0.00× shop/small-08 > 2m ",
		11: "1.33× each 31 more pods of worker-1 (+10.33 together) > 2m ",
		12: "Slowed down 1.20× or more: 41 of 41 observed pods.",
		14: "Of each node the 10 pods that are slowed down most have a row; with -o wide all have.",
	} {
		if !strings.HasPrefix(lines[line], want) {
			t.Errorf("line %d: %s, want %s…", line, lines[line], want)
		}
	}
	if code, stdout, _ := clitest.Run(t, "", append([]string{"who", "-o", "wide"}, files...)...); code != 0 || strings.Count(clitest.Squeezed(stdout), "\n1.33 ± 0.00× shop/") != 41 {
		t.Errorf("wide: exit code %d:\n%s", code, stdout)
	}
}

// Of 40 copies of a workload no more move to the node that is free than help there, each with the others in place.
func TestRemediesHoldTogether(t *testing.T) {
	t.Parallel()
	var objects []client.Object
	var reports []usage.Report
	for i := range 40 {
		node, cart, sort := fmt.Sprintf("worker-%02d", i), fmt.Sprintf("cart-%02d", i), fmt.Sprintf("sort-%02d", i)
		objects = append(objects, observedNode(node, "1"), observedPod("shop", cart, node, "50m", ""), observedPod("etl", sort, node, "500m", ""))
		reports = append(reports, reportOf(node, 1, 0, observed(cart, 0.6, 1-1/6.6, 0), observed(sort, 1, 0.08, 0)))
	}
	objects = append(objects, observedNode("worker-99", "2"))
	reports = append(reports, reportOf("worker-99", 2, 0))
	var answer findings.Answer
	code, stdout, stderr := clitest.Run(t, "", append([]string{"who", "-o", "json"}, clusterFiles(t, objects, reports)...)...)
	if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	moved, requested := 0, 0
	for _, s := range answer.Plan.Steps {
		switch {
		case s.To == "worker-99":
			moved++
		case s.Action == plan.RaiseRequest:
			requested++
		default:
			t.Errorf("step %+v", s)
		}
	}
	if moved < 2 || moved > 4 || moved+requested != 40 { // pods of 0.6 cores each, on two
		t.Errorf("%d pods move to one node of 2 cores, and %d request more", moved, requested)
	}
	steps := map[int]bool{}
	for _, f := range answer.Findings {
		steps[f.Remedy.Step] = true
		if f.Remedy.Dilation >= f.Dilation || f.Remedy.Step == 0 {
			t.Errorf("of %s the remedy is %+v", f.Pod.Pod, f.Remedy)
		}
	}
	if len(steps) != 40 {
		t.Errorf("%d findings have %d different steps", len(answer.Findings), len(steps))
	}
}

func TestWhoAnswersAboutWhatItIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want []string
		not  []string
	}{
		"a namespace":     {[]string{"who", "-n", "web"}, []string{"web/api", "1 of 1 observed pod."}, []string{"shop/cart"}},
		"a node":          {[]string{"who", "--node", "worker-3"}, []string{"batch/report"}, []string{"shop/cart", "web/api"}},
		"a move away":     {[]string{"who", "--node", "worker-1"}, []string{"move it to worker-2"}, nil},
		"workloads":       {[]string{"who", "--workload"}, []string{"Deployment shop/cart", "1 of 1", "Deployment etl/sort +5.60"}, nil},
		"more":            {[]string{"who", "-o", "wide"}, []string{"PREDICTED", "cpu 0.60", "Deployment shop/cart"}, nil},
		"a higher bound":  {[]string{"who", "--above", "2"}, []string{"Slowed down 2.00× or more: 1 of 4 observed pods."}, []string{"web/api"}},
		"none":            {[]string{"who", "--above", "9"}, []string{"None of 4 observed pods is slowed down 9.00× or more."}, []string{"VICTIM"}},
		"YAML":            {[]string{"who", "-o", "yaml"}, []string{"action: RaiseLimit", "limit: \"1\"", "kind: Hypervisor"}, nil},
		"a part":          {[]string{"who", "-o", "jsonpath={.findings[0].pod} {.findings[0].remedy.node}"}, []string{"shop/cart worker-2"}, nil},
		"pods":            {[]string{"top", "pods"}, []string{"WAITING", "etl/sort 0.920 0.080"}, nil},
		"pods in order":   {[]string{"top", "pods", "--sort-by", "name", "-o", "jsonpath={[*].pod}"}, []string{"batch/report etl/sort shop/cart web/api"}, nil},
		"nodes":           {[]string{"top", "nodes"}, []string{"worker-3 1 75.0% 75.0% 25.0% 1 1 2s"}, nil},
		"nodes of a node": {[]string{"top", "nodes", "--node", "worker-1"}, []string{"worker-1"}, []string{"worker-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", append(test.args, slowFiles(t)...)...)
			stdout = clitest.Squeezed(stdout)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			for _, want := range test.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("%q is not in:\n%s", want, stdout)
				}
			}
			for _, not := range test.not {
				if strings.Contains(stdout, not) {
					t.Errorf("%q is in:\n%s", not, stdout)
				}
			}
		})
	}
}

func TestWhoWritesAPageThatStandsAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "who.html")
	code, _, stderr := clitest.Run(t, "", append([]string{"who", "--report", path}, slowFiles(t)...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Who slows whom on worker-1", "Does the model agree with what was observed?", "shop/cart", "<svg", "Made by kubectl loadline v1.2.3 who."} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	for _, not := range []string{"<script", "src=", "http:"} {
		if strings.Contains(strings.ReplaceAll(string(page), "http://www.w3.org/", ""), not) {
			t.Errorf("the page has %q", not)
		}
	}
}

func TestWhoWritesAPageByWorkload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "who.html")
	if code, _, stderr := clitest.Run(t, "", append([]string{"who", "--workload", "--report", path}, slowFiles(t)...)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<th scope="row">Deployment shop/cart</th>`, "Deployment etl/sort &#43;5.60", "> web</label>"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

func TestWhoRefusesWhatIsNoObservation(t *testing.T) {
	t.Parallel()
	files := slowFiles(t)
	cluster := files[1]
	const noList = "--usage usage.json: is no list of reports of gauges, as --save-usage writes it: "
	good := clitest.JSON(t, []usage.Report{reportOf("worker-1", 1, 0, observed("cart", 0.6, 0.5, 0))})
	for want, args := range map[string][]string{
		"--filename: say what the gauges observed, too":              {"-f", cluster},
		"--usage: give the pods and nodes that it is of, too":        {"--usage", files[3]},
		"--report: who.pdf: a report's file name must end in .html":  append([]string{"--report", "who.pdf"}, files...),
		"--watch: files do not change":                               append([]string{"--watch"}, files...),
		"--above: 1 is not above 1":                                  append([]string{"--above", "1"}, files...),
		"--all-namespaces and --namespace shop say different things": append([]string{"-A", "-n", "shop"}, files...),
		`--node: there is no node "worker-9"`:                        append([]string{"--node", "worker-1,worker-9"}, files...),
		`--namespace: there is no pod in namespace "nosuch"`:         append([]string{"-n", "nosuch"}, files...),
		"--usage: open ": {"-f", cluster, "--usage", "none.json"},
		noList + "[0].intervals[11].pods[0]: ends too early":                 {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", good[:len(good)-9])},
		noList + "ends too early":                                            {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", "")},
		noList + "[0].âgeSeconds: is not a known field":                      {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", strings.Replace(good, "ageSeconds", "âgeSeconds", 1))},
		noList + "goes on after the list\n":                                  {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", good+"\n"+good)},
		noList + "goes on after the list":                                    {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", good+"]")},
		noList + "[0].intervals[0].seconds: -10 is not above":                {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", strings.Replace(good, `"seconds":10`, `"seconds":-10`, 1))},
		"--usage usage.json: [0].intervals: there is none":                   {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", `[{"ageSeconds":1}]`)},
		`--usage usage.json: [1].intervals[0].node: "worker-1" is there twi`: {"-f", cluster, "--usage", clitest.WriteFile(t, "usage.json", "["+good[1:len(good)-1]+",\r\n"+good[1:])},
	} {
		code, stdout, stderr := clitest.Run(t, "", append([]string{"who"}, args...)...)
		if code == 0 || stdout != "" || !strings.HasPrefix(stderr, "Error: "+want) {
			t.Errorf("exit code %d, %q, want %s…", code, stderr, want)
		}
	}
	for _, verb := range [][]string{{"top", "pods"}, {"top", "nodes"}, {"profiles", "suggest"}} {
		code, stdout, stderr := clitest.Run(t, "", slices.Concat(verb, []string{"-n", "nosuch"}, files)...)
		if code == 0 || stdout != "" || stderr != "Error: --namespace: there is no pod in namespace \"nosuch\"\n" {
			t.Errorf("%v: exit code %d, %q, %q", verb, code, stdout, stderr)
		}
	}
	if code, _, stderr := clitest.Run(t, "", append([]string{"top", "pods", "--sort-by", "size"}, files...)...); code != 2 || !strings.Contains(stderr, `"size" is not one of dilation,`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// gaugePod is the gauge of a node, as its DaemonSet makes it.
func gaugePod(namespace, name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels:          map[string]string{"app.kubernetes.io/part-of": "loadline", "app.kubernetes.io/component": "gauge"},
			Annotations:     map[string]string{"loadline.dev/reader": "loadline-reader"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "loadline-gauge", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName: node, HostPID: true,
			Containers: []corev1.Container{{Name: "gauge", Ports: []corev1.ContainerPort{{Name: "https", ContainerPort: 8443}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// answersOf is how a server's special paths end at which it answers as a gauge, and tokensOf where it makes tokens.
func answersOf(namespace, pod string) string {
	return "namespaces/" + namespace + "/pods/https:" + pod + ":8443/proxy/v1/usage"
}

func tokensOf(namespace, account string) string {
	return "namespaces/" + namespace + "/serviceaccounts/" + account + "/token"
}

// tokenRequest is an answer with a token that has just expired.
func tokenRequest(token string) *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{
		TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenRequest"},
		Status:   authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.Now()},
	}
}

// gaugedServer is an API server of the slow cluster with a gauge on each node.
func gaugedServer(t *testing.T) *clitest.Server {
	t.Helper()
	objects, reports := slowCluster()
	s := clitest.NewServer(t)
	s.Special = map[string]func(*http.Request) (any, error){
		tokensOf("loadline-gauge", "loadline-reader"): func(*http.Request) (any, error) { return tokenRequest("for-readers"), nil },
	}
	for i := range reports {
		node := reports[i].Intervals[0].Node
		objects = append(objects, gaugePod("loadline-gauge", "gauge-"+node, node))
		s.Special[answersOf("loadline-gauge", "gauge-"+node)] = func(r *http.Request) (any, error) {
			if got := r.Header.Get("Loadline-Token"); got != "for-readers" {
				return nil, apierrors.NewUnauthorized(fmt.Sprintf("token %q", got))
			}
			if got := r.URL.Query().Get("last"); got != "30" {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("last %q", got))
			}
			return &reports[i], nil
		}
	}
	s.Objects = objects
	return s
}

func TestWhoAsksTheGaugesOfACluster(t *testing.T) {
	t.Parallel()
	saved := filepath.Join(t.TempDir(), "usage.json")
	code, stdout, stderr := gaugedServer(t).Ask(t, "who", "--save-usage", saved)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if diff := cmp.Diff(clitest.Squeezed(slowed), clitest.Squeezed(stdout)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	var got []usage.Report
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	_, reports := slowCluster()
	if diff := cmp.Diff(reports, got); diff != "" {
		t.Errorf("what was saved (-want +got):\n%s", diff)
	}
}

func TestOfOneNodeOnlyItsGaugeIsAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string // of shop/cart
	}{
		"so no pod moves":                   {[]string{"--node", "worker-1"}, "request 500m (now 50m)"},
		"but of two, from one to the other": {[]string{"--node", "worker-1,worker-2"}, "move it to worker-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gaugedServer(t)
			s.Refuse("/api/v1/" + answersOf("loadline-gauge", "gauge-worker-3"))
			code, stdout, stderr := s.Ask(t, append([]string{"who"}, test.args...)...)
			if code != 0 || !strings.Contains(stdout, test.want) || strings.Contains(stdout, "Not observed") {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
		})
	}
	code, stdout, stderr := gaugedServer(t).Ask(t, "who", "--node", "worker-9")
	if code == 0 || stdout != "" || !strings.HasPrefix(stderr, `Error: --node: there is no node "worker-9"`) {
		t.Errorf("of a node that there is not: exit code %d: %s%s", code, stdout, stderr)
	}
}

// What --save-usage writes --usage reads, though a gauge has just started.
func TestAGaugeThatHasObservedNothingIsNotSaved(t *testing.T) {
	t.Parallel()
	s := gaugedServer(t)
	s.Special[answersOf("loadline-gauge", "gauge-worker-2")] = func(*http.Request) (any, error) { return &usage.Report{}, nil }
	saved := filepath.Join(t.TempDir(), "usage.json")
	if code, _, stderr := s.Ask(t, "who", "--save-usage", saved); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	cluster := slowFiles(t)[:2]
	code, stdout, stderr := clitest.Run(t, "", append([]string{"who", "--usage", saved}, cluster...)...)
	if code != 0 || !strings.Contains(stdout, "shop/cart") || !strings.Contains(stdout, "worker-2: there is no gauge") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// A gauge that fails, lies or is away keeps no other from answering.
func TestOneGaugeThatFailsIsSaidAndNoMore(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(s *clitest.Server, answer string){
		"proxy/v1/usage is forbidden: not for you": func(s *clitest.Server, answer string) {
			s.Refuse("/api/v1/" + answer)
		},
		"worker-2: the answer of its gauge is refused: intervals[0].cpus: 0 is less than 1": func(s *clitest.Server, answer string) {
			r := reportOf("worker-2", 0, 0)
			s.Special[answer] = func(*http.Request) (any, error) { return &r, nil }
		},
		`worker-2: the answer of its gauge is refused: intervals[0].node: "worker-9" is not the node that it runs on`: func(s *clitest.Server, answer string) {
			r := reportOf("worker-9", 1, 0)
			s.Special[answer] = func(*http.Request) (any, error) { return &r, nil }
		},
		`worker-2: the answer of its gauge is refused: begins with "down", not with "{"`: func(s *clitest.Server, answer string) {
			s.Special[answer] = func(*http.Request) (any, error) { return "down", nil }
		},
		"worker-2: its gauge has stopped observing": func(s *clitest.Server, answer string) {
			r := reportOf("worker-2", 2, 0)
			r.AgeSeconds = 100
			s.Special[answer] = func(*http.Request) (any, error) { return &r, nil }
		},
		"worker-2: its gauge has not observed anything yet": func(s *clitest.Server, answer string) {
			s.Special[answer] = func(*http.Request) (any, error) { return &usage.Report{}, nil }
		},
		"worker-2: its gauge, pod loadline-gauge/gauge-worker-2, is Pending": func(s *clitest.Server, _ string) {
			s.Pod("gauge-worker-2").Status.Phase = corev1.PodPending
		},
		"worker-2: pod loadline-gauge/gauge-worker-2 has no annotation loadline.dev/reader, which names the service account": func(s *clitest.Server, _ string) {
			s.Pod("gauge-worker-2").Annotations = nil
		},
		"worker-2: asking for a token of service account loadline-gauge/other, which may read gauges": func(s *clitest.Server, _ string) {
			s.Pod("gauge-worker-2").Annotations["loadline.dev/reader"] = "other"
			s.Special[tokensOf("loadline-gauge", "other")] = func(*http.Request) (any, error) {
				return nil, apierrors.NewNotFound(corev1.Resource("serviceaccounts"), "other")
			}
		},
		`worker-2: asking for a token of service account loadline-gauge/../x, which may read gauges: invalid resource name "../x"`: func(s *clitest.Server, _ string) {
			s.Pod("gauge-worker-2").Annotations["loadline.dev/reader"] = "../x"
		},
	} {
		s := gaugedServer(t)
		spoil(s, answersOf("loadline-gauge", "gauge-worker-2"))
		code, stdout, stderr := s.Ask(t, "who")
		if code != 0 || !strings.Contains(stdout, "shop/cart") || strings.Contains(stdout, "web/api") || !strings.Contains(stdout, "Not observed: 1 of 3 nodes") || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, %s\nwant %s in\n%s", code, stderr, want, stdout)
		}
	}
}

func TestWithoutGaugesWhoSaysHowToGetThem(t *testing.T) {
	t.Parallel()
	objects, _ := slowCluster()
	code, _, stderr := clitest.NewServer(t, objects...).Ask(t, "who")
	if code == 0 || !strings.Contains(stderr, "there is no gauge in the cluster: install Loadline with gauge.enabled=true") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	s := gaugedServer(t).Refuse("/api/v1/namespaces/loadline-gauge/serviceaccounts/*")
	code, _, stderr = s.Ask(t, "who")
	if code == 0 || !strings.Contains(stderr, "asking for a token of service account loadline-gauge/loadline-reader, which may read gauges") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	s = gaugedServer(t)
	for _, node := range []string{"worker-1", "worker-2", "worker-3"} {
		s.Pod("gauge-" + node).Annotations = nil
	}
	code, _, stderr = s.Ask(t, "who")
	if code == 0 || !strings.Contains(stderr, "pod loadline-gauge/gauge-worker-1 has no annotation loadline.dev/reader") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// What is suggested are manifests that the check takes.
func TestSuggestedProfilesPassTheCheck(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", "profiles", "suggest", "-f", "../../../docs/examples/who/cluster.yaml", "--usage", "../../../docs/examples/who/usage.json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"# StatefulSet etl/sort: 2 pods on 1 node, observed for 120s in all; cpu from 1.00 to 1.00, disk not known.", "name: sort", "loading: 600m"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in:\n%s", want, stdout)
		}
	}
	path := clitest.WriteFile(t, "profiles.yaml", stdout)
	if code, stdout, stderr := clitest.Run(t, "", "check", "-f", path); code != 0 {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, _ := clitest.Run(t, "", "profiles", "suggest", "-f", "../../../docs/examples/who/cluster.yaml,"+path, "--usage", "../../../docs/examples/who/usage.json"); code != 0 || stdout != "# Every workload that was observed has a profile.\n" {
		t.Errorf("with the profiles: exit code %d: %s", code, stdout)
	}
}

func TestUIRefusesWrongUse(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--port: -1 is not from 0 to 65535":                   {"--port", "-1"},
		"--port: 70000 is not from 0 to 65535":                {"--port", "70000"},
		"--above: 1 is not above 1":                           {"--above", "1"},
		"--filename: say what the gauges observed, too":       {"-f", "cluster.yaml"},
		"--usage: give the pods and nodes that it is of, too": {"--usage", "usage.json"},
		"unknown command \"now\"":                             {"now"},
	} {
		code, stdout, stderr := clitest.Run(t, "", append([]string{"ui"}, args...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, %s%s, want %s", args, code, stdout, stderr, want)
		}
	}
}

// The page of a cluster is that of its gauges, at first and whenever it is looked at again.
func TestUIShowsACluster(t *testing.T) {
	t.Parallel()
	s := gaugedServer(t)
	address, _ := clitest.Serve(t, "--kubeconfig", s.Kubeconfig(t))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(address string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	site, _, _ := strings.Cut(address, "?")
	status, page := get(address)
	for status == http.StatusServiceUnavailable || !strings.Contains(page, "mend") { // it is being looked at
		status, page = get(site)
	}
	code, stdout, _ := s.Ask(t, "who", "-o", "json")
	status, same := get(site + "api/v1/findings")
	if code != 0 || status != http.StatusOK || same != stdout {
		t.Errorf("%d, of who %s", status, cmp.Diff(stdout, same))
	}
	for _, path := range []string{"pod?namespace=shop&name=cart", "node?name=worker-1", "objects", "before"} {
		if status, page := get(site + path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, page)
		}
	}
}

func TestUIOpensTheNamespaceThatIsAskedFor(t *testing.T) {
	t.Parallel()
	address, _ := clitest.Serve(t, append([]string{"-n", "shop"}, slowFiles(t)...)...)
	if !strings.HasSuffix(address, "&namespace=shop") {
		t.Errorf("it opens %s", address)
	}
}
