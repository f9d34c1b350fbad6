package local

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// SchedulerConfig writes a scheduler configuration: the API server and client
// limits that fit a local control plane, followed by the profiles, in YAML.
func SchedulerConfig(dir, kubeconfig, profiles string) (string, error) {
	return ElectedSchedulerConfig(dir, kubeconfig, "{leaderElect: false}", profiles)
}

// ElectedSchedulerConfig is SchedulerConfig for one of several schedulers, of which the election says how they elect a leader.
func ElectedSchedulerConfig(dir, kubeconfig, election, profiles string) (string, error) {
	path := filepath.Join(dir, "scheduler.yaml")
	content := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: %s
clientConnection: {kubeconfig: %q, qps: 5000, burst: 5000}
%s`, election, kubeconfig, profiles)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return "", fmt.Errorf("writing the scheduler's configuration: %w", err)
	}
	return path, nil
}

// ShippedProfiles returns the profiles of config/scheduler, for SchedulerConfig.
func ShippedProfiles(root string) (string, error) {
	content, err := os.ReadFile(filepath.Join(root, "config", "scheduler", "scheduler.yaml"))
	if err != nil {
		return "", err
	}
	start := bytes.Index(content, []byte("\nprofiles:\n"))
	if start < 0 {
		return "", errors.New("config/scheduler/scheduler.yaml has no profiles")
	}
	return string(content[start+1:]), nil
}

// Process is a running command of Loadline.
type Process struct {
	command *exec.Cmd
	log     *buffer
	address string // where it answers, such as https://127.0.0.1:10259
	ready   string // the URL that answers when it is ready
	exited  chan struct{}
	err     error // once exited
}

// StartScheduler starts a scheduler and waits until it is ready. The caller
// ends it with Stop or Kill.
func StartScheduler(ctx context.Context, binary, config string, flags ...string) (*Process, error) {
	return startOnFreePort(ctx, "https", readyz, binary, func(port string) []string {
		return append([]string{
			"--config", config,
			"--bind-address", "127.0.0.1", "--secure-port", port,
			"--authorization-always-allow-paths", "/healthz,/livez,/readyz,/metrics",
		}, flags...)
	})
}

// StartManager starts a manager and waits until it is ready. Unless flags say otherwise, it serves neither metrics nor what it
// collects from gauges: there may be several on this machine.
func StartManager(ctx context.Context, binary, kubeconfig string, flags ...string) (*Process, error) {
	return startOnFreePort(ctx, "http", readyz, binary, func(port string) []string {
		return append([]string{
			"--kubeconfig", kubeconfig, "--metrics-bind-address", "0", "--usage-bind-address", "0",
			"--health-probe-bind-address", "127.0.0.1:" + port,
		}, flags...)
	})
}

// StartGauge starts a gauge, at all addresses of this machine, and waits until it is ready: it has made its first interval. Health it
// serves on the loopback.
func StartGauge(ctx context.Context, binary, kubeconfig string, flags ...string) (*Process, error) {
	return again(func() (*Process, error) {
		port, err := FreePort(ctx)
		if err != nil {
			return nil, err
		}
		health, err := FreePort(ctx)
		if err != nil {
			return nil, err
		}
		return start(ctx, loopback("https", port), loopback("http", health)+readyz, binary, append([]string{
			"--kubeconfig", kubeconfig, "--bind-address", ":" + port, "--health-probe-bind-address", "127.0.0.1:" + health,
		}, flags...)...)
	})
}

// startOnFreePort starts a command that listens on a free port.
func startOnFreePort(ctx context.Context, scheme, ready, binary string, flags func(port string) []string) (*Process, error) {
	return OnFreePort(ctx, func(port string) (*Process, error) {
		return Start(ctx, loopback(scheme, port), ready, binary, flags(port)...)
	})
}

// OnFreePort starts a process that listens on a free port, which it has by way of its flags, and does so again with another port if a process
// has taken that one meanwhile.
func OnFreePort(ctx context.Context, start func(port string) (*Process, error)) (*Process, error) {
	return again(func() (*Process, error) {
		port, err := FreePort(ctx)
		if err != nil {
			return nil, err
		}
		return start(port)
	})
}

// again starts a process on ports that are free, and tries others if a process has taken one of them meanwhile.
func again(start func() (*Process, error)) (*Process, error) {
	const tries = 5
	for try := 1; ; try++ {
		p, err := start()
		if err == nil || try == tries || !strings.Contains(err.Error(), "address already in use") {
			return p, err
		}
	}
}

func loopback(scheme, port string) string { return scheme + "://127.0.0.1:" + port }

// readyz is where Kubernetes components say that they are ready.
const readyz = "/readyz"

// Start starts a command and waits until it answers at a path of an address, such as /readyz of
// http://127.0.0.1:8081. The caller ends it with Stop or Kill.
func Start(ctx context.Context, address, ready, binary string, flags ...string) (*Process, error) {
	return start(ctx, address, address+ready, binary, flags...)
}

func start(ctx context.Context, address, ready, binary string, flags ...string) (*Process, error) {
	log := &buffer{}
	p, err := Launch(log, binary, flags...)
	if err != nil {
		return nil, err
	}
	p.log, p.address, p.ready = log, address, ready
	if err := p.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
}

// Launch starts a command that prints to a log, and does not wait until it is ready: Log, Address and Get are not for it. The caller
// ends it with Stop or Kill.
func Launch(log io.Writer, binary string, flags ...string) (*Process, error) {
	p := &Process{
		command: exec.Command(binary, flags...),
		log:     &buffer{},
		exited:  make(chan struct{}),
	}
	p.command.Stdout, p.command.Stderr = log, log
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(binary), err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.exited)
	}()
	return p, nil
}

func (p *Process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // as one may take that reads a large cluster
	defer cancel()
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for {
		if _, err := get(ctx, p.ready); err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended at once: %w\n%s", filepath.Base(p.command.Path), p.err, p.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", filepath.Base(p.command.Path), ctx.Err(), p.Log())
		case <-ticks.C:
		}
	}
}

// Address returns where the process answers: SCHEME://HOST:PORT.
func (p *Process) Address() string { return p.address }

// ID returns the ID of the process.
func (p *Process) ID() int { return p.command.Process.Pid }

// Get returns what the process answers at a path, such as /metrics.
func (p *Process) Get(ctx context.Context, path string) (body string, err error) {
	return get(ctx, p.address+path)
}

func get(ctx context.Context, url string) (body string, err error) {
	c := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // its own certificate, on the loopback
		DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := c.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, response.Status, content)
	}
	return string(content), err
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Log returns what the process has printed so far.
func (p *Process) Log() string { return p.log.String() }

// Stop asks the process to end and waits until it has.
func (p *Process) Stop() error { return p.end(syscall.SIGTERM) }

// Kill ends the process as a crash would, and waits until it has ended.
func (p *Process) Kill() error { return p.end(syscall.SIGKILL) }

// Pause has the kernel stop the process until Resume. It keeps its files and connections.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume has a process go on that Pause stopped.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) end(signal os.Signal) error {
	if err := p.signal(signal); err != nil {
		return err
	}
	<-p.exited
	return nil
}

func (p *Process) signal(signal os.Signal) error {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %v to %s: %w", signal, filepath.Base(p.command.Path), err)
	}
	return nil
}

// FreePort returns a port of 127.0.0.1 at which no program listens.
func FreePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// buffer is a bytes.Buffer that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
