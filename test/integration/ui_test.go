package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/test/install/audit"
)

// tenant makes a namespace with a pod on each of some nodes, which has a container of its own name, and a profile for it.
func (p *place) tenant(t *testing.T, namespace string, nodes map[string]string) map[string]*corev1.Pod {
	t.Helper()
	must(t, p.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	must(t, client.IgnoreAlreadyExists(p.Create(t.Context(), account)))
	made := map[string]*corev1.Pod{}
	for name, node := range nodes {
		pod := p.pod(name, name)
		pod.Namespace, pod.Spec.NodeName, pod.Spec.NodeSelector, pod.Spec.Containers[0].Name = namespace, node, nil, name+"-main"
		must(t, p.Create(t.Context(), pod))
		p.await(t, pod, func() bool { return pod.Status.Phase == corev1.PodRunning })
		w := p.profile(name, map[string]string{"cpu": "0.9"})
		w.Namespace, w.Name = namespace, name+"-vector"
		must(t, p.Create(t.Context(), w))
		made[name] = pod
	}
	return made
}

// startFakeGauge serves what a gauge with one processor would observe of pods that each wait for half of the time, on all addresses of
// this machine, and returns the port.
func startFakeGauge(t *testing.T, node string, pods ...*corev1.Pod) string {
	t.Helper()
	v := usage.Interval{Node: node, Seconds: 10, CPUs: 1}
	for _, pod := range pods {
		v.BusySeconds += 4.5
		v.Pods = append(v.Pods, usage.Pod{UID: string(pod.UID), Seconds: 10, Times: usage.Times{Run: 4.5, Wait: 5}, Tasks: 1, Threads: 1, Dilation: 2, CPULoading: 0.9})
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(usage.TokenHeader) == "" {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		report := usage.Report{}
		for i := range 6 {
			v.Start = time.Now().Add(time.Duration(i-6) * 10 * time.Second)
			v.End = v.Start.Add(10 * time.Second)
			report.Intervals = append(report.Intervals, v)
		}
		_ = json.NewEncoder(w).Encode(report)
	}))
	server.Listener = listener
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	return port
}

// applyUI gives the account loadline-ui the rights of config/ui, in the place, and makes the Deployment and the configuration of a scheduler.
func (p *place) applyUI(t *testing.T) *corev1.ServiceAccount {
	t.Helper()
	p.applyRoles(t, "gauge/gauge.yaml", "gauge/gauge-user.yaml", "ui/ui.yaml")
	account := p.account(t, "loadline-ui", "loadline-ui")
	content, err := os.ReadFile(filepath.Join(root, "config", "ui", "rbac.yaml"))
	must(t, err)
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var object client.Object
		switch {
		case strings.Contains(document, "\nkind: Role\n"):
			object = &rbacv1.Role{}
		case strings.Contains(document, "\nkind: RoleBinding\n"):
			object = &rbacv1.RoleBinding{}
		default:
			continue
		}
		must(t, yaml.UnmarshalStrict([]byte(document), object))
		if of, is := object.(*rbacv1.RoleBinding); is {
			of.Subjects[0].Namespace = p.namespace
			of.Name += "-" + of.RoleRef.Name
		}
		object.SetNamespace(p.namespace)
		must(t, p.Create(t.Context(), object))
	}
	scheduling, err := os.ReadFile(filepath.Join(root, "config", "scheduler", "scheduler.yaml"))
	must(t, err)
	must(t, p.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "loadline-scheduler-config"}, Data: map[string]string{"scheduler.yaml": string(scheduling)},
	}))
	deployment := &appsv1.Deployment{}
	content, err = os.ReadFile(filepath.Join(root, "config", "scheduler", "deployment.yaml"))
	must(t, err)
	must(t, yaml.UnmarshalStrict(content, deployment))
	deployment.Namespace, deployment.Spec.Replicas = p.namespace, new(int32(0))
	must(t, p.Create(t.Context(), deployment))
	return account
}

// startUI runs the page for the accounts of the cluster, with the rights of one, until the test ends, and returns the port.
func (p *place) startUI(t *testing.T, self *corev1.ServiceAccount) string {
	t.Helper()
	kubeconfig := p.kubeconfigOf(t, self)
	config, err := clientcmd.LoadFromFile(kubeconfig)
	must(t, err)
	for _, c := range config.Contexts {
		c.Namespace = p.namespace // as of a pod
	}
	must(t, clientcmd.WriteToFile(*config, kubeconfig))
	port := ""
	process, err := local.OnFreePort(t.Context(), func(free string) (*local.Process, error) {
		port = free
		return local.Start(t.Context(), "https://127.0.0.1:"+port, "/healthz", plugin, "ui", "--kubeconfig", kubeconfig, "--bind-address", ":"+port)
	})
	must(t, err)
	t.Cleanup(func() {
		must(t, process.Stop())
		if t.Failed() {
			t.Logf("the page's log:\n%s", process.Log())
		}
	})
	return port
}

// uiPages are the pages and the answers that show something.
func uiPages(nodes []string) []string {
	return []string{
		"/", "/?namespace=vault", "/pod?namespace=shop&name=cart", "/pod?namespace=vault&name=wages", "/pod?namespace=vault&name=bonus", "/node?name=" + nodes[0], "/node?name=" + nodes[1],
		"/before", "/objects", "/api/v1/findings", "/api/v1/findings?namespace=vault", "/sign-in",
	}
}

// quoted removes what a request asked for from the words that say that there is none.
func quoted(body, target string) string {
	at, err := url.Parse(target)
	if err != nil {
		return body
	}
	for _, values := range at.Query() {
		for _, v := range values {
			body = strings.ReplaceAll(body, "&#34;"+v+"&#34;", "")
		}
	}
	return body
}

// One who may list all sees all, also by way of the API server's proxy. One who may list the pods of a namespace sees no other name. The page
// needs every right that it has, and no other: it asks the API server, and by way of it a gauge, as its account.
func TestEachAccountSeesTheNamesThatItMayList(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	p := startEnvironment(t, controlplane.Options{AuditLog: log}).newPlace(t, 2)
	self := p.applyUI(t)
	p.account(t, "loadline-reader", "loadline-gauge-reader")
	p.account(t, "gauge", "loadline-gauge")
	shop := p.tenant(t, "shop", map[string]string{"cart": p.nodes[0]})
	vault := p.tenant(t, "vault", map[string]string{"wages": p.nodes[0], "payroll": p.nodes[1]})
	claiming := p.pod("bonus", "bonus") // so that where it may go depends on volumes
	claiming.Namespace, claiming.Spec.NodeSelector = "vault", nil
	claiming.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "none"}}}}
	must(t, p.Create(t.Context(), claiming))
	p.makeGauges(t, startFakeGauge(t, p.nodes[0], shop["cart"], vault["wages"]))

	viewer, keeper, other := p.account(t, "viewer", "loadline-viewer"), p.account(t, "keeper", "loadline-ui-reader"), p.account(t, "other")
	must(t, p.Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "keeper"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}))
	must(t, p.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "keeper"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "keeper"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: p.namespace, Name: keeper.Name}},
	}))

	port := p.startUI(t, self)
	direct := insecure(t)
	page := "https://127.0.0.1:" + port
	admin, err := rest.HTTPClientFor(p.plane.RESTConfig())
	must(t, err)
	pod := p.running(t, p.pod("ui", "ui"), outerAddress(t))
	proxy := fmt.Sprintf("%s/api/v1/namespaces/%s/pods/https:%s:%s/proxy", p.plane.RESTConfig().Host, p.namespace, pod.Name, port)

	all := p.token(t, viewer, usage.Audience)
	must(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		status, body := send(t, direct, page+"/api/v1/findings", usage.TokenHeader, all)
		return status == http.StatusOK && strings.Contains(body, "shop/cart"), nil
	}))
	hidden := []string{"vault", "wages", "payroll", "bonus", "-vector", p.nodes[1]}
	for way, at := range map[string]string{"itself": page, "by way of the API server": proxy} {
		c := map[string]*http.Client{page: direct, proxy: admin}[at]
		seen := ""
		for _, target := range uiPages(p.nodes) {
			_, body := send(t, c, at+target, usage.TokenHeader, all)
			seen += body
			_, body = send(t, c, at+target, usage.TokenHeader, p.token(t, keeper, usage.Audience))
			for _, name := range hidden {
				if body := quoted(body, target); strings.Contains(body, name) {
					t.Errorf("%s asked %s shows %q: %s", target, way, name, body)
				}
			}
			if target == "/" && !strings.Contains(body, "cart") {
				t.Errorf("asked %s, one who may list the pods of shop does not see these: %s", way, body)
			}
		}
		for _, name := range append([]string{"cart", p.nodes[0]}, hidden...) {
			if !strings.Contains(seen, name) {
				t.Errorf("asked %s, one who may list all does not see %q", way, name)
			}
		}
		for who, test := range map[string]struct {
			token  string
			status int
		}{
			"another account": {p.token(t, other, usage.Audience), http.StatusForbidden}, "a token for the API server": {p.token(t, viewer), http.StatusUnauthorized},
			"a wrong token": {all + "x", http.StatusUnauthorized}, "no token": {"", http.StatusUnauthorized},
		} {
			status, body := send(t, c, at+"/", usage.TokenHeader, test.token)
			if status != test.status || strings.Contains(body, "cart") {
				t.Errorf("%s gets %d %s when asked %s", who, status, body, way)
			}
		}
	}
	signsIn(t, direct, page, all)
	signsIn(t, admin, proxy, all)
	p.rightsAreNeeded(t, log, self)
}

// insecure returns a client that takes any certificate.
func insecure(t *testing.T) *http.Client {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	transport, is := server.Client().Transport.(*http.Transport)
	if !is {
		t.Fatal("it is no transport of HTTP")
	}
	transport.TLSClientConfig.InsecureSkipVerify = true
	t.Cleanup(transport.CloseIdleConnections)
	return server.Client()
}

// signsIn signs in as a browser does, sees the page with the cookie, and is told of a look.
func signsIn(t *testing.T, c *http.Client, page, token string) {
	t.Helper()
	browser := &http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, page+"/sign-in", strings.NewReader(url.Values{"token": {token}}.Encode()))
	must(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := browser.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	cookies := response.Cookies()
	if response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != "./" || len(cookies) != 1 || !cookies[0].Secure || cookies[0].Path != "" {
		t.Fatalf("signing in: %s to %q with %v", response.Status, response.Header.Get("Location"), cookies)
	}
	status, body := send(t, browser, page+"/", "Cookie", cookies[0].Name+"="+cookies[0].Value)
	if status != http.StatusOK || !strings.Contains(body, "cart") {
		t.Errorf("with the cookie: %d %s", status, body)
	}
	request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, page+"/events", http.NoBody)
	must(t, err)
	request.Header.Set("Cookie", cookies[0].Name+"="+cookies[0].Value)
	response, err = browser.Do(request)
	must(t, err)
	defer response.Body.Close()
	first := make([]byte, len("event: look"))
	_, err = io.ReadFull(response.Body, first)
	if err != nil || string(first) != "event: look" {
		t.Errorf("the stream of events begins with %q, %v", first, err)
	}
}

// rightsAreNeeded judges what the page asked of the API server: it had every right that it needed, and needed those that it has, but for a
// kind that is not installed.
func (p *place) rightsAreNeeded(t *testing.T, log string, self *corev1.ServiceAccount) {
	t.Helper()
	account := "system:serviceaccount:" + p.namespace + ":" + self.Name
	var grants []audit.Grant
	add := func(role string, rules []rbacv1.PolicyRule, namespaces ...string) {
		more, err := audit.Grants(account, role, rules, namespaces...)
		must(t, err)
		grants = append(grants, more...)
	}
	for _, name := range []string{"loadline-ui", "loadline-gauge-user"} {
		role := &rbacv1.ClusterRole{}
		must(t, p.Get(t.Context(), client.ObjectKey{Name: name}, role))
		add(name, role.Rules, map[string][]string{"loadline-gauge-user": {p.namespace}}[name]...)
	}
	role := &rbacv1.Role{}
	must(t, p.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "loadline-ui"}, role))
	add("Role loadline-ui", role.Rules, p.namespace)
	file, err := os.Open(log)
	must(t, err)
	defer file.Close()
	requests, err := audit.Read(file, account)
	must(t, err)
	found := audit.Check(requests, grants)
	for i := range found.Forbidden {
		t.Errorf("forbidden: %s", &found.Forbidden[i])
	}
	var unused []string
	for i := range found.Unused {
		unused = append(unused, found.Unused[i].Right.String())
	}
	slices.Sort(unused)
	if diff := cmp.Diff([]string{"list verticalpodautoscalers.autoscaling.k8s.io"}, unused); diff != "" {
		t.Errorf("rights that it never used, of %s requests (-want +got):\n%s", strconv.Itoa(len(requests)), diff)
	}
}
