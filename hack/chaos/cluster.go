package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/chaos/link"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// systemNamespace is where Loadline is, and nodes is how many there are.
	systemNamespace = "loadline-system"
	nodes           = 6
	// election is how the schedulers elect a leader: faster than by default, so that a leader is replaced within a fault.
	election = "{leaderElect: true, resourceName: loadline-scheduler, resourceNamespace: loadline-system, leaseDuration: 6s, renewDeadline: 4s, retryPeriod: 1s}"
)

// cluster is a control plane with Loadline and what it talks to, and links between all.
type cluster struct {
	client.WithWatch

	dir, root string
	progress  *comparison.Progress
	plane     *controlplane.ControlPlane
	authority *link.Authority
	history   *history
	gauges    *gauges
	rates     *rates
	rated     *http.Server

	programs map[string]*program
	links    map[string]link.Faulty // all, by what they are between
	api      map[string]*link.HTTP  // those of Loadline's programs to the API server
	accounts map[string]string      // of these, by the name of the link
	nextNode int

	downMu sync.Mutex
	down   map[string]bool // parts of the control plane that are not to be started
	ended  atomic.Int64    // how often parts of the control plane ended by themselves
	wake   chan struct{}   // that a part has ended
}

// startCluster starts all. The caller ends it with stop.
func startCluster(ctx context.Context, dir, root string, progress *comparison.Progress) (c *cluster, err error) {
	c = &cluster{
		dir: dir, root: root, progress: progress, rates: &rates{}, programs: map[string]*program{}, links: map[string]link.Faulty{}, api: map[string]*link.HTTP{},
		accounts: map[string]string{}, down: map[string]bool{}, wake: make(chan struct{}, 1),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	c.plane, err = controlplane.Start(ctx, controlplane.Options{
		Dir: filepath.Join(dir, "plane"), Log: os.Stderr, WithScheduler: true,
		Through: func(from, to, address string) (string, error) {
			l, err := link.NewTCP(ctx, address)
			if err != nil {
				return "", err
			}
			c.downMu.Lock()
			defer c.downMu.Unlock()
			c.links[from+" to "+to] = l
			return l.Address(), nil
		},
		Exited: func(string, error) { c.ended.Add(1); c.revivePlane() },
	})
	if err != nil {
		return c, err // which stops it
	}
	if err := c.prepare(ctx); err != nil {
		return c, err // which stops it
	}
	return c, c.startPrograms(ctx)
}

// revivePlane asks for the parts of the control plane that have ended to be started again.
func (c *cluster) revivePlane() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// planeParts are those of the control plane, each after those that it needs.
var planeParts = []string{controlplane.Etcd, controlplane.APIServer, controlplane.ControllerManager, controlplane.Scheduler, controlplane.KWOK}

// keepPlane starts parts of the control plane again that have ended, until ctx ends.
func (c *cluster) keepPlane(ctx context.Context) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		case <-c.wake:
		}
		for _, part := range planeParts {
			if !c.isDown(part) {
				_ = c.plane.Revive(ctx, part) // what fails is tried again
			}
		}
	}
}

// setDown says whether a part is not to be started.
func (c *cluster) setDown(part string, down bool) {
	c.downMu.Lock()
	defer c.downMu.Unlock()
	c.down[part] = down
}

func (c *cluster) isDown(part string) bool {
	c.downMu.Lock()
	defer c.downMu.Unlock()
	return c.down[part]
}

// prepare creates what all seeds share.
func (c *cluster) prepare(ctx context.Context) error {
	config := c.plane.RESTConfig()
	config.QPS = -1
	var err error
	if c.WithWatch, err = local.NewClient(config); err != nil {
		return err
	}
	if err := apiextensionsv1.AddToScheme(c.Scheme()); err != nil {
		return err
	}
	if err := local.InstallCRDs(c.plane.RESTConfig(), c.root); err != nil {
		return err
	}
	c.progress.Step("creating nodes, roles and gauges")
	c.history = newHistory()
	if c.gauges, err = newGauges(ctx, c.history.nodeOf, c.history.podsOn); err != nil {
		return err
	}
	for _, file := range []string{
		"manager/namespace.yaml", "gauge/namespace.yaml", "rbac/role.yaml", "rbac/measurer.yaml", "rbac/replayer.yaml", "rbac/scaler.yaml", "manager/rbac.yaml",
		"gauge/gauge.yaml", "gauge/rbac.yaml", "remediation/remediator.yaml", "remediation/binding.yaml", "scheduler/rbac.yaml",
	} {
		if err := c.apply(ctx, file); err != nil {
			return err
		}
	}
	if err := c.Create(ctx, scalerBinding()); err != nil {
		return err
	}
	if err := c.history.follow(ctx, c); err != nil {
		return err
	}
	for range nodes {
		if err := c.addNode(ctx, c.newNode()); err != nil {
			return err
		}
	}
	return c.addGauges(ctx)
}

// apply creates the objects of a file of config.
func (c *cluster) apply(ctx context.Context, file string) error {
	content, err := os.ReadFile(filepath.Join(c.root, "config", filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	objects, err := local.Decode(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, o := range objects {
		if err := client.IgnoreAlreadyExists(c.Create(ctx, o)); err != nil {
			return fmt.Errorf("%s: creating %s: %w", file, o.GetName(), err)
		}
	}
	return nil
}

// scalerBinding lets the manager scale Deployments.
func scalerBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "chaos-scaler"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "loadline-manager-scaler"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: systemNamespace, Name: "loadline-manager"}},
	}
}

// newNode returns the name of another node.
func (c *cluster) newNode() string {
	c.nextNode++
	return fmt.Sprintf("node-%d", c.nextNode)
}

// addNode creates a node, unless it is there already.
func (c *cluster) addNode(ctx context.Context, name string) error {
	address, err := local.OuterAddress()
	if err != nil {
		return err
	}
	err = c.plane.AddNodes(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"chaos": "node"}},
		Status: corev1.NodeStatus{
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}},
			Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: *resource.NewQuantity(nodeCPUs, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
			},
		},
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// addGauges creates the DaemonSet of the gauges, whose pods serve at the port of those that answer for them.
func (c *cluster) addGauges(ctx context.Context) error {
	content, err := os.ReadFile(filepath.Join(c.root, "config", "gauge", "daemonset.yaml"))
	if err != nil {
		return err
	}
	set := &appsv1.DaemonSet{}
	if err := yaml.UnmarshalStrict(content, set); err != nil {
		return err
	}
	spec := &set.Spec.Template.Spec
	spec.PriorityClassName, spec.HostNetwork = "", true
	spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "https", ContainerPort: c.gauges.port, HostPort: c.gauges.port}}
	spec.Containers[0].LivenessProbe, spec.Containers[0].ReadinessProbe, spec.Containers[0].StartupProbe = nil, nil, nil
	return c.Create(ctx, set)
}

// startPrograms builds and starts Loadline's programs, each with a link of its own to the API server.
func (c *cluster) startPrograms(ctx context.Context) error {
	c.progress.Step("building Loadline (minutes the first time)")
	manager, err := local.Build(ctx, c.root, c.dir, "loadline-manager")
	if err != nil {
		return err
	}
	scheduler, err := local.Build(ctx, c.root, c.dir, "loadline-scheduler")
	if err != nil {
		return err
	}
	if c.authority, err = link.NewAuthority(time.Now()); err != nil {
		return err
	}
	if err := c.servePrometheus(ctx); err != nil {
		return err
	}
	for i := range 2 {
		if err := c.startManager(ctx, manager, fmt.Sprintf("manager-%d", i)); err != nil {
			return err
		}
		if err := c.startScheduler(ctx, scheduler, fmt.Sprintf("scheduler-%d", i)); err != nil {
			return err
		}
	}
	return nil
}

// toPrometheus is the link between the managers and Prometheus.
const toPrometheus = "managers to Prometheus"

// servePrometheus serves rates, behind a link.
func (c *cluster) servePrometheus(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.rated = &http.Server{Handler: c.rates, ReadHeaderTimeout: time.Minute}
	go func() { _ = c.rated.Serve(listener) }() // until it is closed
	c.links[toPrometheus], err = link.NewTCP(ctx, listener.Addr().String())
	return err
}

func (c *cluster) startManager(ctx context.Context, binary, name string) error {
	kubeconfig, err := c.connect(ctx, name, "loadline-manager")
	if err != nil {
		return err
	}
	token := filepath.Join(c.dir, name+".gauge-token")
	text, err := c.token(ctx, "loadline-manager", usage.Audience)
	if err == nil {
		err = os.WriteFile(token, []byte(text), 0o600)
	}
	if err != nil {
		return err
	}
	return c.start(ctx, name, binary,
		"--kubeconfig", kubeconfig, "--metrics-bind-address", "0", "--usage-bind-address", "0", "--health-probe-bind-address", "0",
		"--leader-elect", "--leader-election-namespace", systemNamespace, "--gauges", "--gauge-token-file", token, "--remediation", "--observed-profiles", "advise")
}

func (c *cluster) startScheduler(ctx context.Context, binary, name string) error {
	kubeconfig, err := c.connect(ctx, name, "loadline-scheduler")
	if err != nil {
		return err
	}
	profiles, err := local.ShippedProfiles(c.root)
	if err != nil {
		return err
	}
	dir := filepath.Join(c.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	config, err := local.ElectedSchedulerConfig(dir, kubeconfig, election, profiles)
	if err != nil {
		return err
	}
	return c.start(ctx, name, binary, "--config", config, "--secure-port", "0")
}

// logs is the folder of the logs of Loadline's programs.
func (c *cluster) logs() string { return filepath.Join(c.dir, "logs") }

func (c *cluster) start(ctx context.Context, name, binary string, flags ...string) error {
	if err := os.MkdirAll(c.logs(), 0o755); err != nil {
		return err
	}
	p, err := startProgram(ctx, name, filepath.Join(c.logs(), name+".log"), binary, flags...)
	c.programs[name] = p
	return err
}

// connect makes a link to the API server for a program of an account, and returns the path of a kubeconfig for it.
func (c *cluster) connect(ctx context.Context, name, account string) (string, error) {
	config := c.plane.RESTConfig()
	to, err := url.Parse(config.Host)
	if err != nil {
		return "", err
	}
	config.BearerToken = ""
	transport, err := rest.TransportFor(config)
	if err != nil {
		return "", err
	}
	l, err := link.NewHTTP(ctx, link.HTTPOptions{Name: name, To: to, Transport: transport, Authority: c.authority, Passed: c.history.request, Watching: c.history.watching})
	if err != nil {
		return "", err
	}
	key := name + " to " + controlplane.APIServer
	c.api[key], c.accounts[key] = l, account
	if err := c.renew(ctx, key); err != nil {
		return "", err
	}
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["chaos"] = &clientcmdapi.Cluster{Server: "https://" + l.Address(), CertificateAuthorityData: c.authority.PEM}
	kubeconfig.AuthInfos["chaos"] = &clientcmdapi.AuthInfo{TokenFile: c.tokenFile(key)}
	kubeconfig.Contexts["chaos"] = &clientcmdapi.Context{Cluster: "chaos", AuthInfo: "chaos"}
	kubeconfig.CurrentContext = "chaos"
	path := filepath.Join(c.dir, name+".kubeconfig")
	return path, clientcmd.WriteToFile(*kubeconfig, path)
}

// tokenFile is the file with the token of a link.
func (c *cluster) tokenFile(key string) string {
	return filepath.Join(c.dir, slug(key)+".token")
}

// readToken returns the token of a link.
func (c *cluster) readToken(key string) (string, error) {
	content, err := os.ReadFile(c.tokenFile(key))
	return string(content), err
}

// renew writes another token for a link.
func (c *cluster) renew(ctx context.Context, key string) error {
	text, err := c.token(ctx, c.accounts[key])
	if err != nil {
		return err
	}
	return os.WriteFile(c.tokenFile(key), []byte(text), 0o600)
}

// token returns a new token of an account, for some audiences or for the API server.
func (c *cluster) token(ctx context.Context, account string, audiences ...string) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences, ExpirationSeconds: new(int64(24 * 3600))}}
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: account}}
	err := c.SubResource("token").Create(ctx, of, request)
	return request.Status.Token, err
}

// slug returns a text as a part of the name of a file.
func slug(text string) string {
	return string(slices.DeleteFunc([]byte(text), func(b byte) bool { return b == ' ' || b == '/' }))
}

// stop ends all.
func (c *cluster) stop() error {
	var errs []error
	for _, p := range c.programs {
		if p != nil {
			errs = append(errs, p.stop())
		}
	}
	for _, l := range c.links {
		l.Heal()
	}
	if c.plane != nil {
		for _, part := range planeParts {
			_ = c.plane.Resume(part) // it may not run
		}
		errs = append(errs, c.plane.Stop())
	}
	for _, l := range c.api {
		errs = append(errs, l.Close())
	}
	for _, l := range c.links {
		errs = append(errs, l.Close())
	}
	if c.gauges != nil {
		errs = append(errs, c.gauges.server.Close())
	}
	if c.rated != nil {
		errs = append(errs, c.rated.Close())
	}
	return errors.Join(errs...)
}
