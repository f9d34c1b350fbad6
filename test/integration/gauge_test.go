package integration

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// observed is the UID of the pod that the tests' node has. This process is its only task.
const observed = "6f1b2a44-93a2-4ccd-8f06-0f3f4d1a5d7e"

// gaugeNode makes the folders of a node with one pod, shop/cart, and returns flags for them.
func gaugeNode(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	container := filepath.Join(dir, "cgroup", "kubepods", "pod"+observed, "abc")
	must(t, os.MkdirAll(container, 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "pods", "shop_cart_"+observed), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "cgroup", "cgroup.controllers"), []byte("cpu\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(container, "cgroup.threads"), fmt.Appendln(nil, os.Getpid()), 0o600))
	return []string{"--node-name", "node-1", "--interval", "1s", "--cgroup", filepath.Join(dir, "cgroup"), "--pod-logs", filepath.Join(dir, "pods")}
}

// applyGaugeRoles applies the roles that gauges, their readers and users have.
func (p *place) applyGaugeRoles(t *testing.T) {
	t.Helper()
	p.applyRoles(t, "gauge/gauge.yaml", "gauge/gauge-user.yaml", "rbac/metrics-reader.yaml", "rbac/plugin.yaml")
}

// applyRoles applies the roles of files, by their paths from config.
func (e *environment) applyRoles(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, "config", filepath.FromSlash(file)))
		must(t, err)
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			role := &rbacv1.ClusterRole{}
			must(t, yaml.UnmarshalStrict([]byte(document), role))
			must(t, client.IgnoreAlreadyExists(e.Create(t.Context(), role)))
		}
	}
}

// account makes a service account with some of these roles.
func (p *place) account(t *testing.T, name string, roles ...string) *corev1.ServiceAccount {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}
	must(t, p.Create(t.Context(), account))
	for _, role := range roles {
		must(t, p.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: strings.Join([]string{p.namespace, name, role}, "-")},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: p.namespace, Name: name}},
		}))
	}
	return account
}

// startGauge runs a gauge, with the rights of an account, until the test ends, and returns where it serves.
func (p *place) startGauge(t *testing.T, self *corev1.ServiceAccount, flags ...string) *url.URL {
	t.Helper()
	process, err := local.StartGauge(t.Context(), gauge, p.kubeconfigOf(t, self), flags...)
	must(t, err)
	t.Cleanup(func() {
		must(t, process.Stop())
		if t.Failed() {
			t.Logf("the gauge's log:\n%s", process.Log())
		}
	})
	at, err := url.Parse(process.Address())
	must(t, err)
	return at
}

// outerAddress returns an address of this machine that the API server connects to for pods: no loopback.
func outerAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addresses {
		if ip, is := a.(*net.IPNet); is && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	t.Skip("this machine has no address but that of itself")
	return ""
}

// proxied returns the URL by which the API server passes requests on to a port of this machine, as one of a pod.
func (p *place) proxied(t *testing.T, port string) string {
	t.Helper()
	pod := p.pod("gauge", "gauge")
	must(t, p.Create(t.Context(), pod))
	address := outerAddress(t)
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	must(t, p.Status().Update(t.Context(), pod))
	return fmt.Sprintf("%s/api/v1/namespaces/%s/pods/https:gauge:%s/proxy", p.plane.RESTConfig().Host, p.namespace, port)
}

// send sends a request with a header, and returns the answer.
func send(t *testing.T, c *http.Client, target, header, value string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	must(t, err)
	if value != "" {
		request.Header.Set(header, value)
	}
	response, err := c.Do(request)
	must(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(content)
}

func TestAGaugeShowsWhatItHasByWayOfTheAPIServerToItsReadersOnly(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	p.applyGaugeRoles(t)
	self, reader, other := p.account(t, "gauge", "loadline-gauge"), p.account(t, "reader", "loadline-gauge-reader", "loadline-metrics-reader"), p.account(t, "other")
	at := p.startGauge(t, self, gaugeNode(t)...)
	admin, err := rest.HTTPClientFor(p.plane.RESTConfig())
	must(t, err)
	direct := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(direct.CloseIdleConnections)

	proxy := p.proxied(t, at.Port())
	ours, api := p.token(t, reader, "loadline-gauge"), p.token(t, reader)
	for _, test := range []struct {
		who           string
		client        *http.Client
		target        string
		header, token string
		status        int
		want          string
	}{
		{"a reader", admin, proxy + "/v1/usage", "Loadline-Token", ours, 200, `"node":"node-1"`},
		{"a reader that asks the gauge itself", direct, at.String() + "/v1/usage", "Authorization", "Bearer " + ours, 200, `"node":"node-1"`},
		{"a reader with a token for the API server", admin, proxy + "/v1/usage", "Loadline-Token", api, 401, `not valid for the audience "loadline-gauge"`},
		{"another", admin, proxy + "/v1/usage", "Loadline-Token", p.token(t, other, "loadline-gauge"), 403, "may not get"},
		{"one with a wrong token", admin, proxy + "/v1/usage", "Loadline-Token", ours + "x", 401, "not valid"},
		{"one without a token", admin, proxy + "/v1/usage", "", "", 401, "no token"},
		{"Prometheus", direct, at.String() + "/metrics", "Authorization", "Bearer " + api, 200, `loadline_gauge_pod_run_seconds_total{namespace="shop",pod="cart"}`},
		{"Prometheus without the right", direct, at.String() + "/metrics", "Authorization", "Bearer " + p.token(t, other), 403, "may not get"},
	} {
		status, body := send(t, test.client, test.target, test.header, test.token)
		if status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s gets %d %.500s, want %d with %q", test.who, status, body, test.status, test.want)
		}
	}

	_, body := send(t, admin, proxy+"/v1/usage?last=1", "Loadline-Token", ours)
	var report usage.Report
	must(t, json.Unmarshal([]byte(body), &report))
	if v := report.Intervals; report.Validate() != nil || len(v) != 1 || len(v[0].Pods) != 1 || v[0].Pods[0].UID != observed || v[0].Pods[0].Name != "cart" {
		t.Errorf("the newest interval is %s", body)
	}
}

// makeGauges makes the DaemonSet of config for the place, with one pod, which serves on a port of this machine, and names the place's
// namespace as that of the manager.
func (p *place) makeGauges(t *testing.T, port string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "config", "gauge", "daemonset.yaml"))
	must(t, err)
	set := &appsv1.DaemonSet{}
	must(t, yaml.UnmarshalStrict(content, set))
	number, err := strconv.ParseInt(port, 10, 32)
	must(t, err)
	set.Namespace = p.namespace
	set.Spec.Template.Annotations[installation.ManagerAnnotation] = p.namespace
	spec := &set.Spec.Template.Spec
	spec.PriorityClassName = "" // there is no such class here
	spec.NodeName, spec.ServiceAccountName, spec.Containers[0].Ports[0].ContainerPort = p.nodes[0], "gauge", int32(number)
	must(t, p.Create(t.Context(), set))
	pods := &corev1.PodList{}
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := p.List(ctx, pods, client.InNamespace(p.namespace), client.MatchingLabels(set.Spec.Selector.MatchLabels))
		return len(pods.Items) == 1 && pods.Items[0].Status.Phase == corev1.PodRunning, err
	}))
	p.setAddress(t, &pods.Items[0], outerAddress(t))
}

// userOfGauges makes an account with the roles that are meant for those who ask the gauges of the place, and returns flags to be it.
func (p *place) userOfGauges(t *testing.T) []string {
	t.Helper()
	user := p.account(t, "user", "loadline-plugin")
	must(t, p.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "user"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "loadline-gauge-user"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: p.namespace, Name: user.Name}},
	}))
	return []string{"--as", "system:serviceaccount:" + p.namespace + ":" + user.Name, "--as-group", "system:serviceaccounts", "--as-group", "system:authenticated"}
}

// awaitWho asks until there is an answer about the pod of the node, and nothing wrong, and returns what is said besides the answer.
func (p *place) awaitWho(t *testing.T, args ...string) string {
	t.Helper()
	saved := filepath.Join(t.TempDir(), "usage.json")
	var said, notes string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		code, stdout, stderr := p.ask(t, append([]string{"who", "--node", p.nodes[0], "--save-usage", saved}, args...)...)
		said, notes = stdout+stderr, stderr
		if code != 0 {
			return false, nil // the rights may not count yet
		}
		text, err := os.ReadFile(saved)
		must(t, err)
		var reports []usage.Report
		must(t, json.Unmarshal(text, &reports))
		return len(reports) == 1 && len(reports[0].Intervals) > 0 && reports[0].Intervals[0].Pods[0].UID == observed, nil
	})
	if err != nil {
		t.Errorf("%v; it says\n%s", err, said)
	}
	return notes
}

// A user with the roles that are meant for it finds the gauge's pod, makes a token of the account that the pod names, and asks
// by way of the API server. A pod that only has the labels of a gauge is not asked.
func TestWhoAsksGaugesWithTheRightsOfTheRolesForIt(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	p.applyGaugeRoles(t)
	self := p.account(t, "gauge", "loadline-gauge")
	p.account(t, "loadline-reader", "loadline-gauge-reader")
	as := p.userOfGauges(t)
	at := p.startGauge(t, self, append(gaugeNode(t), "--node-name", p.nodes[0])...)
	p.makeGauges(t, at.Port())
	imitation := p.pod("a-gauge", "gauge")
	imitation.Labels = installation.GaugeLabels()
	p.running(t, imitation, "")
	p.awaitWho(t, append(as, "--source", "gauges")...)
}

// startCollector runs a manager that collects from the gauges of the place, with the rights of an account, until the test ends, and
// makes the pod that it is.
func (p *place) startCollector(t *testing.T, name string, self *corev1.ServiceAccount, flags ...string) {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte(p.token(t, self, usage.Audience)), 0o600))
	flags = append(flags, "--gauges", "--gauge-namespace", p.namespace, "--gauge-token-file", token)
	var number string
	const tries = 5 // a port may be taken meanwhile
	for try := 1; ; try++ {
		free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
		must(t, err)
		_, number, err = net.SplitHostPort(free.Addr().String())
		must(t, errors.Join(err, free.Close()))
		process, err := local.StartManager(t.Context(), manager, p.kubeconfigOf(t, self), append(flags, "--usage-bind-address", ":"+number)...)
		if err != nil && strings.Contains(err.Error(), "address already in use") && try < tries {
			continue
		}
		must(t, err)
		t.Cleanup(func() {
			must(t, process.Stop())
			if t.Failed() {
				t.Logf("the log of %s:\n%s", name, process.Log())
			}
		})
		break
	}
	pod := p.pod(name, "manager")
	pod.Labels = installation.ManagerLabels()
	port, err := strconv.ParseInt(number, 10, 32)
	must(t, err)
	pod.Spec.Containers[0].Command = []string{"loadline-manager"}
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "https", ContainerPort: int32(port)}}
	p.running(t, pod, outerAddress(t))
}

// The manager asks the gauge with its own token, and judges that of the user's request with its own rights. Of its replicas one
// may not have the lease, and so does not lead.
func TestWhoAsksTheManagerThatLeadsForWhatGaugesObserved(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 1)
	p.applyGaugeRoles(t)
	p.applyRoles(t, "rbac/role.yaml")
	p.account(t, "loadline-reader", "loadline-gauge-reader")
	as := p.userOfGauges(t)
	at := p.startGauge(t, p.account(t, "gauge", "loadline-gauge"), append(gaugeNode(t), "--node-name", p.nodes[0])...)
	p.makeGauges(t, at.Port())

	p.startCollector(t, "follower", p.account(t, "follower", "loadline-manager", "loadline-gauge-reader"), "--leader-elect", "--leader-election-namespace", p.namespace)
	p.awaitAsked(t, "a follower alone is asked", func() (string, bool) {
		code, stdout, stderr := p.ask(t, "who", "--node", p.nodes[0], "--source", "manager")
		return stdout + stderr, code != 0 && strings.Contains(stderr, usage.NotLeading)
	})
	p.awaitAsked(t, "the gauges are asked for want of a leader", func() (string, bool) {
		notes := p.awaitWho(t, as...)
		return notes, strings.Contains(notes, "Note: the gauges are asked themselves, because the manager does not answer for them: pod "+p.namespace+"/follower: unavailable: "+usage.NotLeading)
	})

	p.startCollector(t, "leader", p.account(t, "leader", "loadline-manager", "loadline-gauge-reader"))
	for _, source := range [][]string{{"--source", "manager"}, nil} {
		p.awaitAsked(t, fmt.Sprint("the leader is asked, with ", source), func() (string, bool) {
			notes := p.awaitWho(t, append(source, as...)...)
			return notes, notes == ""
		})
	}
}

// awaitAsked asks until the answer is as it should be: the rights of managers may not count yet, and on busy processors one may have nothing fresh
// for a moment.
func (p *place) awaitAsked(t *testing.T, what string, ask func() (said string, is bool)) {
	t.Helper()
	var said string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(context.Context) (is bool, _ error) {
		said, is = ask()
		return is, nil
	})
	if err != nil {
		t.Errorf("%s: %v; it says\n%s", what, err, said)
	}
}
