package integration

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/hack/local"
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

// applyGaugeRoles applies the roles of config/rbac that gauges and their readers have.
func (p *place) applyGaugeRoles(t *testing.T) {
	t.Helper()
	for _, file := range []string{"gauge.yaml", "metrics-reader.yaml"} {
		content, err := os.ReadFile(filepath.Join(root, "config", "rbac", file))
		must(t, err)
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			role := &rbacv1.ClusterRole{}
			must(t, yaml.UnmarshalStrict([]byte(document), role))
			must(t, client.IgnoreAlreadyExists(p.Create(t.Context(), role)))
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
	process, err := local.StartGauge(t.Context(), gauge, p.kubeconfigOf(t, self), gaugeNode(t)...)
	must(t, err)
	t.Cleanup(func() {
		must(t, process.Stop())
		if t.Failed() {
			t.Logf("the gauge's log:\n%s", process.Log())
		}
	})
	at, err := url.Parse(process.Address())
	must(t, err)
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
