package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/hack/madeup"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// nodeInterface is the interface of this machine in the network of the real nodes, which vanishes with it.
	nodeInterface = "loadline0"
	// extras is how many addresses there are for nodes that come and go.
	extras = 50
	// maxNodes is how many nodes there may be all the time.
	maxNodes = 200
)

// addressOf returns the address of a played node by its number: of those that are set apart for tests (RFC 2544), as those of the real nodes.
func addressOf(number int) string {
	if number < maxNodes {
		return fmt.Sprintf("198.18.1.%d", number+1)
	}
	return fmt.Sprintf("198.18.1.%d", maxNodes+1+number%extras)
}

// computes is which fraction of its time a pod of an app is played to compute.
var computes = map[string]float64{"web": 0.3, "api": 0.5, "batch": 0.6, "checkout": 0.2, "guest": 0.4}

// played answers for the gauges of the nodes that are played, each at the address of its node.
type played struct {
	gauge   madeup.Gauge
	pods    cache.Indexer
	started []string // addresses
	servers []*http.Server
	stop    context.CancelFunc
}

const byNode = "node"

// play begins to answer for gauges, for some nodes and those that come and go. The caller ends it with close.
func play(ctx context.Context, api kubernetes.Interface, nodes int) (*played, error) {
	p, err := follow(ctx, api)
	if err != nil {
		return nil, err
	}
	for n := range nodes + extras {
		if n >= nodes {
			n = maxNodes + n - nodes
		}
		if err := p.serve(ctx, addressOf(n)); err != nil {
			return nil, errors.Join(err, p.close(ctx))
		}
	}
	return p, nil
}

// follow returns what answers by the pods of a cluster, at no address yet.
func follow(ctx context.Context, api kubernetes.Interface) (*played, error) {
	factory := informers.NewSharedInformerFactory(api, 0)
	informer := factory.Core().V1().Pods().Informer()
	err := informer.AddIndexers(cache.Indexers{byNode: func(o any) ([]string, error) {
		if pod, is := o.(*corev1.Pod); is && pod.Spec.NodeName != "" {
			return []string{pod.Spec.NodeName}, nil
		}
		return nil, nil
	}})
	if err != nil {
		return nil, err
	}
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &played{pods: informer.GetIndexer(), stop: stop, gauge: madeup.Gauge{
		CPUs: 16, Interval: time.Second, Loading: func(pod *corev1.Pod) float64 { return computes[pod.Labels["app"]] },
	}}
	factory.Start(following.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, errors.Join(errors.New("the pods were not listed"), p.close(ctx))
	}
	return p, nil
}

// serve answers at an address, which it gives this machine.
func (p *played) serve(ctx context.Context, address string) error {
	if err := ip(ctx, "address", "replace", address+"/32", "dev", nodeInterface); err != nil {
		return err
	}
	p.started = append(p.started, address)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(address, usage.Port))
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, address) }), ReadHeaderTimeout: brief,
		TLSConfig: &tls.Config{GetCertificate: server.SelfSigned("gauge", clock.RealClock{}), MinVersion: tls.VersionTLS13},
	}
	p.servers = append(p.servers, s)
	go func() { _ = s.ServeTLS(listener, "", "") }() // until it is closed
	return nil
}

// answer answers for the gauge of the node that has an address.
func (p *played) answer(w http.ResponseWriter, r *http.Request, address string) {
	wanted, err := strconv.Atoi(cmp.Or(r.URL.Query().Get(usage.LastParameter), "1"))
	if err != nil || wanted < 1 {
		http.Error(w, usage.LastParameter+" is not a number of at least 1", http.StatusBadRequest)
		return
	}
	node := p.nodeAt(address)
	if node == "" {
		http.Error(w, "there is no such node", http.StatusServiceUnavailable)
		return
	}
	const keep = 60
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(p.gauge.Report(node, p.podsOn(node), min(wanted, keep), time.Now())) // the client may be gone
}

// nodeAt returns the node that has an address, by the pod of its gauge; empty for none.
func (p *played) nodeAt(address string) string {
	for _, o := range p.pods.List() {
		if pod, is := o.(*corev1.Pod); is && pod.Status.PodIP == address && pod.Spec.HostNetwork && pod.DeletionTimestamp == nil {
			return pod.Spec.NodeName
		}
	}
	return ""
}

// podsOn returns the pods that run on a node, but those of gauges.
func (p *played) podsOn(node string) []*corev1.Pod {
	all, err := p.pods.ByIndex(byNode, node)
	if err != nil {
		return nil // there is that index
	}
	var pods []*corev1.Pod
	for _, o := range all {
		if pod, is := o.(*corev1.Pod); is && pod.Status.Phase == corev1.PodRunning && computes[pod.Labels["app"]] > 0 {
			pods = append(pods, pod)
		}
	}
	return pods
}

// close ends all answers, and takes the addresses away.
func (p *played) close(ctx context.Context) error {
	p.stop()
	var errs []error
	for _, s := range p.servers {
		errs = append(errs, s.Close())
	}
	for _, address := range p.started {
		errs = append(errs, ip(ctx, "address", "delete", address+"/32", "dev", nodeInterface))
	}
	return errors.Join(errs...)
}

// ip runs a command of iproute2.
func ip(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}
