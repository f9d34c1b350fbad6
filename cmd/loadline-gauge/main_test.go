package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"

	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// run runs the command and returns what it writes.
func run(t *testing.T, command *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var written bytes.Buffer
	command.SetOut(&written)
	command.SetErr(&written)
	command.SetArgs(args)
	err := command.ExecuteContext(t.Context())
	return written.String(), err
}

// The tests that make commands do not run in parallel: commands share flags such as --version, which making one writes to.

func TestHelpTellsWhatTheGaugeIsForAndHowToRunIt(t *testing.T) {
	help, err := run(t, newCommand(), "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"accounting of its node", "/v1/usage?last=N", "/metrics", "Loadline-Token", "Examples:", "once", "--interval", "--keep", "--node-name", "--proc",
		"--cgroup", "--pod-logs", "--bind-address", "--health-probe-bind-address", "--max-pods", "--audience", "--tls-cert-file", "--tls-private-key-file", "--kubeconfig",
		"--logging-format", "--version",
	} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q:\n%s", want, help)
		}
	}
}

func TestEveryExampleIsACommandThatTheGaugeTakes(t *testing.T) {
	for _, command := range []*cobra.Command{newCommand(), newOnce()} {
		examples := 0
		for line := range strings.Lines(command.Example) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			words := strings.Fields(line)
			found, rest, err := newCommand().Find(words[1:])
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err != nil || words[0] != "loadline-gauge" {
				t.Errorf("the example %q: %v", line, err)
			}
			examples++
		}
		if examples < 2 {
			t.Errorf("%s has %d examples, want at least 2", command.Name(), examples)
		}
	}
}

func TestEveryFlagSaysInASentenceWhatItDoes(t *testing.T) {
	logs := map[string]bool{}
	for _, command := range []*cobra.Command{newOnce(), newCommand()} {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			ours := !strings.HasPrefix(f.Name, "log-") && !strings.HasPrefix(f.Name, "logging-") && f.Name != "v" && f.Name != "vmodule" && f.Name != "version"
			if ours && (!strings.HasSuffix(f.Usage, ".") || strings.ToUpper(f.Usage[:1]) != f.Usage[:1]) {
				t.Errorf("--%s: %q is no sentence", f.Name, f.Usage)
			}
			logs[f.Name] = true
		})
	}
	if !logs["v"] || !logs["version"] {
		t.Error("there is no -v or no --version")
	}
}

func TestWrongUseIsAnErrorThatNamesTheMistake(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":         {[]string{"--intervall=1s"}, "unknown flag: --intervall"},
		"too often":               {[]string{"--interval=10ms"}, "--interval: 10ms is not from 1s to 5m"},
		"too seldom":              {[]string{"--interval=1h"}, "--interval: 1h0m0s is not from 1s to 5m"},
		"nothing kept":            {[]string{"--keep=0"}, "--keep: 0 is not from 1 to 1000"},
		"too much kept":           {[]string{"--keep=1001"}, "--keep: 1001 is not from 1 to 1000"},
		"no pods":                 {[]string{"--max-pods=0"}, "--max-pods: 0 is not from 1 to 1000"},
		"a certificate alone":     {[]string{"--tls-cert-file=a"}, "give both or none"},
		"a key alone":             {[]string{"--tls-private-key-file=a"}, "give both or none"},
		"an argument":             {[]string{"start"}, `unknown command "start" for "loadline-gauge"`},
		"no interval":             {[]string{"once", "--interval=0s"}, "--interval: 0s is not above 0"},
		"a log format of its own": {[]string{"--logging-format=xml"}, `format: Invalid value: "xml": Unsupported log format`},
		"no control groups":       {[]string{"once", "--interval=1ms", "--cgroup=/no/such/cgroup"}, "/no/such/cgroup"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			written, err := run(t, newCommand(), test.args...)
			if err == nil {
				t.Fatalf("accepted, with %q", written)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %q lacks %q", err, test.want)
			}
		})
	}
}

func TestTheNodeIsThatOfTheFlagThenOfTheEnvironmentThenTheHost(t *testing.T) {
	t.Setenv(nodeNameVariable, "")
	host, err := new(node).named()
	if err != nil || host == "" {
		t.Errorf("got %q, %v", host, err)
	}
	t.Setenv(nodeNameVariable, "from-variable")
	for flag, want := range map[string]string{"": "from-variable", "from-flag": "from-flag"} {
		if got, err := (&node{name: flag}).named(); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestAKubeconfigFileSaysWhereTheAPIServerIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if _, err := (&options{kubeconfig: path}).apiServer(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the error %v does not name the file", err)
	}
	const kubeconfig = `{"current-context": "here", "contexts": [{"name": "here", "context": {"cluster": "here"}}],
		"clusters": [{"name": "here", "cluster": {"server": "https://127.0.0.1:6443/behind"}}]}`
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	api, err := (&options{kubeconfig: path}).apiServer()
	if err != nil || api.URL.String() != "https://127.0.0.1:6443/behind" {
		t.Errorf("it is at %v, %v", api, err)
	}
}

// serving is a gauge that serves samples of a test.
type serving struct {
	https, health string // SCHEME://HOST:PORT
	client        *http.Client
}

// readerOf returns a token of the reader whom the tests' gauges let in, for an audience.
func readerOf(audience string) string {
	return "reader." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"aud": [%q]}`, audience)) + ".signature"
}

// judge lets in readers with the usual tokens.
func judge(_ context.Context, r access.Request) (access.Decision, error) {
	usual := r.Path == "/v1/usage" && r.Audience == "loadline-gauge" || r.Path == "/metrics" && r.Audience == ""
	if !strings.HasPrefix(r.Token, "reader") || !usual {
		return access.Unauthenticated, nil
	}
	return access.Allowed, nil
}

// serveSamples serves intervals that come every second, to those whom a judge lets in.
func serveSamples(t *testing.T, judge access.Judge) *serving {
	t.Helper()
	o := &options{interval: time.Second, keep: 3, maxPods: 1, audience: "loadline-gauge", bindAddress: "127.0.0.1:0", healthAddress: "127.0.0.1:0"}
	at, err := o.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	from := func(named func(error)) (history.Sampler, error) {
		named(errors.New("permission denied"))
		return func(context.Context) (*usage.Interval, error) {
			return &usage.Interval{Node: "a", CPUs: 2, Seconds: 1, Pods: []usage.Pod{{UID: "u", Namespace: "shop", Name: "cart", Threads: 1, Dilation: 1.5}}}, nil
		}, nil
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.serve(ctx, at, judge, from) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(insecure.CloseIdleConnections)
	s := &serving{"https://" + at.https.Addr().String(), "http://" + at.health.Addr().String(), &http.Client{Transport: insecure}}
	s.awaitReady(t)
	return s
}

// awaitReady waits until the gauge says that it is ready.
func (s *serving) awaitReady(t *testing.T) {
	t.Helper()
	if err := wait.PollUntilContextCancel(t.Context(), 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		status, _, err := get(ctx, s.client, s.health+"/readyz", "")
		return status == http.StatusOK, err
	}); err != nil {
		t.Fatal(err)
	}
}

// get sends a request with a token.
func get(ctx context.Context, client *http.Client, url, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set(usage.TokenHeader, token)
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

func TestAGaugeShowsWhatItHasToItsReaders(t *testing.T) {
	t.Parallel()
	s := serveSamples(t, judge)
	must := func(path, token string, status int) string {
		t.Helper()
		got, body, err := get(t.Context(), s.client, s.https+path, token)
		if err != nil || got != status {
			t.Fatalf("%s: %d, %v, want %d: %s", path, got, err, status, body)
		}
		return body
	}
	must("/v1/usage", "", http.StatusUnauthorized)
	must("/metrics", "", http.StatusUnauthorized)
	must("/readyz", readerOf("loadline-gauge"), http.StatusNotFound)
	var report usage.Report
	if err := json.Unmarshal([]byte(must("/v1/usage?last=1000", readerOf("loadline-gauge"), http.StatusOK)), &report); err != nil || len(report.Intervals) == 0 {
		t.Errorf("%d intervals, %v", len(report.Intervals), err)
	}
	for _, line := range []string{
		`loadline_gauge_pod_dilation{namespace="shop",pod="cart"} 1.5`, "loadline_gauge_pod_names_failing 1", "go_goroutines ", "process_cpu_seconds_total ",
		`loadline_connections_closed_total{port="https",reason="refused"} 3`,
	} {
		if metrics := must("/metrics", "reader", http.StatusOK); !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %q:\n%s", line, metrics)
		}
	}
}

func TestAPortThatIsTakenIsNamedByItsFlag(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	for flag, o := range map[string]*options{
		"--bind-address":              {bindAddress: taken.Addr().String(), healthAddress: "0"},
		"--health-probe-bind-address": {bindAddress: "127.0.0.1:0", healthAddress: taken.Addr().String()},
	} {
		if _, err := o.listen(t.Context()); err == nil || !strings.HasPrefix(err.Error(), flag+": ") {
			t.Errorf("got %v, want an error that begins with %s", err, flag)
		}
	}
}

func TestANodeThatCannotBeReadIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	o := &options{interval: time.Second, keep: 1, maxPods: 1, node: node{name: "a", proc: "/proc", cgroup: filepath.Join(t.TempDir(), "cgroup"), podLogs: "/var/log/pods"}}
	err := o.serve(t.Context(), ports{}, nil, o.sampler)
	if err == nil || !strings.Contains(err.Error(), "reading the node") || !strings.Contains(err.Error(), o.cgroup) {
		t.Errorf("got %v", err)
	}
}
