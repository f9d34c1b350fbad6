package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

// Options say what to run and where. The zero value runs everything in a temporary folder, silently.
type Options struct {
	// Dir is the folder for the kubeconfig, the logs (logs/<part>.log) and the data. It is made when absent. What an
	// earlier control plane left in it is removed first, and only the logs remain afterwards. One control plane at a
	// time may use it. "" stands for a temporary folder that Stop removes.
	Dir string
	// Kubernetes is the minor version, one of [Versions], such as "1.34". "" stands for what the environment variable
	// LOADLINE_KUBERNETES says, so that tests can be run on any version, and without it for the first of them.
	Kubernetes string
	// Log receives one line per step, for a person to read. nil: none.
	Log io.Writer
	// APIServerFlags are given to kube-apiserver after our own flags, so that they win, for example "--feature-gates=AllAlpha=true".
	APIServerFlags []string
	// WithoutControllerManager leaves kube-controller-manager out: Deployments make no pods, owned objects are not collected.
	WithoutControllerManager bool
	// Address is an address of this machine for the API server to listen on, one that real nodes reach. With it the
	// Service "kubernetes" leads to the API server, and kubelets may do what kubelets may. "" stands for 127.0.0.1.
	Address string
	// WithScheduler adds kube-scheduler.
	WithScheduler bool
	// WithoutKWOK leaves kwok out: there can be Node objects, but they never become ready, and AddNodes fails.
	WithoutKWOK bool
	// AuditLog is a file that the API server begins anew and writes what service accounts ask of it to, one event of
	// audit.k8s.io/v1 per line, as JSON and without the bodies: who, what, and what it answered and why. "": none.
	AuditLog string
	// AuditPolicy is a file with the Policy of audit.k8s.io/v1 that says what is written to AuditLog in the place of that. "": none.
	AuditPolicy string
	// Through, when given, is asked for the address at which a part is to reach another one, given that one's own address, both
	// HOST:PORT of the loopback: for proxies between them that inject faults. TLS connections are checked for 127.0.0.1.
	// kube-apiserver asks for [Etcd]; kube-controller-manager, kube-scheduler and kwok ask for [APIServer].
	Through func(from, to, address string) (string, error)
	// Exited, when given, is called when a part ends by itself, in place of ending the control plane: [ControlPlane.Revive]
	// starts it again.
	Exited func(name string, why error)
}

// ControlPlane is a running control plane. Its methods may be called from several goroutines at once.
type ControlPlane struct {
	folder      *claimedFolder
	binaries    string // the folder of the programs, but for the scheduler
	scheduler   string // the path of the scheduler, or ""
	credentials *credentials
	prober      *prober
	options     Options

	port     int // of the API server
	etcdPort int
	client   kubernetes.Interface

	lifecycle sync.Mutex // held while parts are being started and stopped
	stopped   bool       // guarded by lifecycle

	mu      sync.Mutex                  // guards the next three
	running map[string]*process.Process // by the name of the part
	parts   map[string]part             // to start them again, by their names
	log     io.Writer

	ended sync.Once
	done  chan struct{}
	err   error // may be read once done is closed
}

// Start starts a control plane and returns when all of it is ready. When it fails, or when ctx ends before, it
// leaves nothing behind, and the error quotes the end of the log of the part that failed. ctx matters only until
// Start returns: call Stop to end the control plane.
//
// The first Start on a machine builds the programs: see [Binaries].
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	log := options.Log
	if log == nil {
		log = io.Discard
	}
	options.Kubernetes = chosen(options.Kubernetes)
	binaries, err := Binaries(ctx, options.Kubernetes, log)
	if err != nil {
		return nil, err
	}
	scheduler, err := schedulerBinary(ctx, options, log)
	if err != nil {
		return nil, err
	}
	folder, err := claim(options.Dir)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{
		folder: folder, binaries: binaries, scheduler: scheduler, options: options, log: log,
		running: map[string]*process.Process{}, parts: map[string]part{}, done: make(chan struct{}),
	}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// chosen is the version that an option stands for.
func chosen(kubernetes string) string { return cmp.Or(kubernetes, os.Getenv("LOADLINE_KUBERNETES")) }

// start starts the parts, each after those that it needs.
func (c *ControlPlane) start(ctx context.Context) (err error) {
	c.lifecycle.Lock()
	defer c.lifecycle.Unlock()

	if c.credentials, err = newCredentials(c.folder.folder, cmp.Or(c.options.Address, loopback)); err != nil {
		return err
	}
	c.prober = newProber(c.credentials)

	if c.etcdPort, err = c.launchAnywhere(ctx, etcd(c.folder.folder)); err != nil {
		return err
	}
	etcdAddress, err := c.through(apiServerName, etcdName, c.EtcdAddress())
	if err != nil {
		return err
	}
	audit, err := auditFlags(c.folder.folder, c.options)
	if err != nil {
		return err
	}
	if c.port, err = c.launchAnywhere(ctx, apiServer(c.credentials, etcdAddress, c.options, audit)); err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(c.RESTConfig()); err != nil {
		return err
	}
	if err := c.startClients(ctx); err != nil {
		return err
	}
	if err := c.awaitServiceAccount(ctx); err != nil {
		return err
	}
	return c.credentials.writeKubeconfig(c.Kubeconfig(), c.APIServerAddress()) // last: there is a kubeconfig when all is ready
}

// startClients starts the parts that are clients of the API server, all at once.
func (c *ControlPlane) startClients(ctx context.Context) error {
	clients := map[string]func(kubeconfig string) builder{}
	if !c.options.WithoutControllerManager {
		clients[controllerManagerName] = func(kubeconfig string) builder { return controllerManager(c.credentials, kubeconfig) }
	}
	if c.options.WithScheduler {
		clients[schedulerName] = func(kubeconfig string) builder { return scheduler(c.credentials, c.scheduler, kubeconfig) }
	}
	if !c.options.WithoutKWOK {
		clients[kwokName] = func(kubeconfig string) builder {
			return kwok(c.binaries, kubeconfig, !c.options.WithoutControllerManager)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for name, client := range clients {
		group.Go(func() error {
			kubeconfig, err := c.clientKubeconfig(name)
			if err != nil {
				return err
			}
			_, err = c.launchAnywhere(ctx, client(kubeconfig))
			return err
		})
	}
	return group.Wait()
}

// clientKubeconfig writes the kubeconfig of a part and returns its path.
func (c *ControlPlane) clientKubeconfig(name string) (string, error) {
	address, err := c.through(name, apiServerName, c.APIServerAddress())
	if err != nil {
		return "", err
	}
	path := c.folder.secret("kubeconfig-" + name)
	return path, c.credentials.writeKubeconfig(path, address)
}

// through returns the address at which a part is to reach another one that listens on an address.
func (c *ControlPlane) through(from, to, address string) (string, error) {
	if c.options.Through == nil {
		return address, nil
	}
	return c.options.Through(from, to, address)
}

// EtcdAddress returns where etcd listens for clients, HOST:PORT, without TLS.
func (c *ControlPlane) EtcdAddress() string { return address(c.etcdPort) }

// APIServerAddress returns where kube-apiserver listens, HOST:PORT.
func (c *ControlPlane) APIServerAddress() string { return c.credentials.address(c.port) }

// awaitServiceAccount returns when the controllers have made the service account without which the API server refuses pods.
func (c *ControlPlane) awaitServiceAccount(ctx context.Context) error {
	if c.options.WithoutControllerManager {
		return nil
	}
	ctx, cancel := c.whileWhole(ctx)
	defer cancel()
	err := wait.PollUntilContextTimeout(ctx, probeInterval, readyDeadline, true, func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("await the default service account: %w", err)
}

// RESTConfig returns the configuration of a client that may do everything and that is not rate limited. The caller
// may change it.
func (c *ControlPlane) RESTConfig() *rest.Config {
	return c.credentials.restConfig(c.port)
}

// Kubeconfig returns the path of a kubeconfig file for the same client as [ControlPlane.RESTConfig].
func (c *ControlPlane) Kubeconfig() string {
	return c.folder.kubeconfig()
}

// WriteKubeconfig writes a kubeconfig file for a user of some groups, who may do what RBAC lets them, for example
// "system:kube-proxy". The file is as good as the control plane is alive.
func (c *ControlPlane) WriteKubeconfig(path, user string, groups ...string) error {
	return c.credentials.writeUserKubeconfig(path, c.port, user, groups)
}

// AuthorityFile returns the path of the certificate that has signed those of the API server and of all clients.
func (c *ControlPlane) AuthorityFile() string {
	return c.credentials.certificateFile
}

// Logs returns the folder of the logs.
func (c *ControlPlane) Logs() string {
	return c.folder.logs()
}

// RestartAPIServer kills kube-apiserver, as a crash would, and starts it again on the same port and the same etcd.
// It returns when the API server is ready. When it does not come back, the control plane is at its end: Done is
// closed, and Stop is all that can be done.
func (c *ControlPlane) RestartAPIServer(ctx context.Context) error {
	c.lifecycle.Lock()
	defer c.lifecycle.Unlock()
	if c.stopped {
		return errors.New("restart kube-apiserver: the control plane has been stopped")
	}
	if err := c.take(apiServerName).Kill(); err != nil {
		return err
	}
	err := c.revive(ctx, apiServerName)
	if err != nil {
		err = fmt.Errorf("restart kube-apiserver: %w", err)
		c.end(err)
	}
	return err
}

// Done is closed when the control plane is no longer whole: a part ended by itself, or Stop was called.
func (c *ControlPlane) Done() <-chan struct{} {
	return c.done
}

// Err returns nil until Done is closed. Then it says which part ended by itself, how, and what it logged last, or
// returns nil after an ordinary Stop.
func (c *ControlPlane) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Stop ends all parts, asking first and killing after five seconds, and removes the temporary folder. It returns
// when all are gone. Calling it again does nothing.
func (c *ControlPlane) Stop() error {
	c.lifecycle.Lock()
	defer c.lifecycle.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	c.end(nil)
	var errs []error
	for _, name := range []string{kwokName, schedulerName, controllerManagerName, apiServerName, etcdName} {
		if p := c.take(name); p != nil {
			errs = append(errs, p.Stop())
		}
	}
	return errors.Join(append(errs, c.folder.release())...)
}
