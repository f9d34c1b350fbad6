// Package gauges asks the gauges of a cluster what they observed, by way of the API server's proxy, with a token for the
// service account that may read them. One that does not answer in time keeps no other from answering.
package gauges

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Answer is what the gauge of a node answered.
type Answer struct {
	Node string
	// Report is nil where there is an error.
	Report *usage.Report
	Err    error
}

const (
	// reader is the component that the service account of readers is.
	reader = installation.Gauge + "-reader"
	// gaugeNamespace is where the chart has gauges run.
	gaugeNamespace = "loadline-gauge"
	// portName is that of the port of a gauge's container.
	portName = "https"
	// tokenHeader is the header that the API server's proxy passes on; it keeps Authorization for itself.
	tokenHeader = "Loadline-Token"
	// audience is whom tokens must be for: with one for gauges nothing else can be done.
	audience = "loadline-gauge"
	// tokenLife is the shortest that the API server gives.
	tokenLife = 10 * time.Minute

	// concurrent is how many gauges are asked at once, and patience how long each may take.
	concurrent = 32
	patience   = 10 * time.Second
)

// ErrNone says that there is no gauge to ask.
var ErrNone = errors.New("there is no gauge in the cluster: install Loadline with gauge.enabled=true, which is harmless")

// Asker asks the gauges of a cluster.
type Asker struct {
	// Config is how to reach the API server, and Client a client of it.
	Config *rest.Config
	Client client.Client
	// Own is the namespace of the user, where gauges are looked for by those who may not look everywhere.
	Own string

	rest  rest.Interface
	token token
}

type token struct {
	text    string
	expires time.Time
}

// Ask asks the gauges of some nodes, of all if none are named, for as many of their last intervals as number says, which
// gets the number of gauges. The answers are in the order of the nodes' names; of a node without a gauge there is none.
// asked is called as answers arrive.
func (a *Asker) Ask(ctx context.Context, nodes []string, number func(gauges int) int, asked func(done, all int)) ([]Answer, error) {
	pods, err := a.find(ctx, nodes)
	if err != nil {
		return nil, err
	}
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	last := number(len(pods))
	answers := make([]Answer, len(pods))
	slots := make(chan struct{}, concurrent)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	done := 0
	for i := range pods {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i] = Answer{Node: pods[i].Spec.NodeName}
			answers[i].Report, answers[i].Err = a.ask(ctx, &pods[i], last)
			mutex.Lock()
			defer mutex.Unlock()
			done++
			asked(done, len(pods))
		})
	}
	wait.Wait()
	return answers, ctx.Err()
}

// find returns the pods of gauges on some nodes, one for each.
func (a *Asker) find(ctx context.Context, nodes []string) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	var found []corev1.Pod
	err := a.list(ctx, list, installation.Gauge, func() { found = append(found, list.Items...) })
	if err != nil {
		return nil, fmt.Errorf("looking for gauges: %w", err)
	}
	if len(found) == 0 {
		return nil, ErrNone
	}
	pods := slices.DeleteFunc(found, func(p corev1.Pod) bool {
		return p.Spec.NodeName == "" || len(nodes) > 0 && !slices.Contains(nodes, p.Spec.NodeName)
	})
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Spec.NodeName, b.Spec.NodeName), -cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(pods, func(a, b corev1.Pod) bool { return a.Spec.NodeName == b.Spec.NodeName }), nil
}

// list lists the objects of a component of Loadline in all namespaces; who may not look everywhere gets those where Loadline
// is meant to run, and those of the namespace own. found is called for each list.
func (a *Asker) list(ctx context.Context, list client.ObjectList, component string, found func()) error {
	labels := client.MatchingLabels{installation.PartOfLabel: installation.PartOf, installation.ComponentLabel: component}
	err := a.Client.List(ctx, list, labels)
	if err == nil {
		found()
		return nil
	}
	if !apierrors.IsForbidden(err) {
		return err
	}
	for _, namespace := range slices.Compact([]string{a.Own, deployed.InstallNamespace, gaugeNamespace}) {
		if errThere := a.Client.List(ctx, list, labels, client.InNamespace(namespace)); errThere == nil {
			err = nil
			found()
		}
	}
	return err
}

// rank is higher for a pod that will rather answer: while one is replaced there are two.
func rank(pod *corev1.Pod) int {
	switch {
	case pod.DeletionTimestamp != nil:
		return 0
	case pod.Status.Phase == corev1.PodRunning:
		return 2
	default:
		return 1
	}
}

// prepare gets what it takes to ask: a client, and a token.
func (a *Asker) prepare(ctx context.Context) (err error) {
	if a.rest == nil {
		config := rest.CopyConfig(a.Config)
		config.QPS = -1 // as many as are concurrent
		config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
		if a.rest, err = rest.RESTClientFor(config); err != nil {
			return err
		}
	}
	if time.Until(a.token.expires) < tokenLife/2 {
		a.token, err = a.newToken(ctx)
	}
	return err
}

// newToken returns a token of the service account that may read gauges.
func (a *Asker) newToken(ctx context.Context) (token, error) {
	list := &corev1.ServiceAccountList{}
	var accounts []corev1.ServiceAccount
	if err := a.list(ctx, list, reader, func() { accounts = append(accounts, list.Items...) }); err != nil {
		return token{}, fmt.Errorf("looking for the service account that may read gauges: %w", err)
	}
	if len(accounts) == 0 {
		return token{}, fmt.Errorf("there is no service account that may read gauges, with the label %s=%s: the chart makes one", installation.ComponentLabel, reader)
	}
	account := &accounts[0]
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{audience}, ExpirationSeconds: new(int64(tokenLife.Seconds())),
	}}
	if err := a.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return token{}, fmt.Errorf("asking for a token of service account %s/%s, which may read gauges: %w", account.Namespace, account.Name, err)
	}
	return token{request.Status.Token, request.Status.ExpirationTimestamp.Time}, nil
}

// ask asks one gauge.
func (a *Asker) ask(ctx context.Context, pod *corev1.Pod, last int) (*usage.Report, error) {
	if pod.Status.Phase != corev1.PodRunning {
		return nil, fmt.Errorf("its gauge, pod %s/%s, is %s", pod.Namespace, pod.Name, cmp.Or(string(pod.Status.Phase), "not started"))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer := a.rest.Get().
		AbsPath("/api/v1/namespaces", pod.Namespace, "pods", "https:"+pod.Name+":"+portOf(pod), "proxy", "v1", "usage").
		Param("last", strconv.Itoa(last)).SetHeader(tokenHeader, a.token.text).
		Do(ctx)
	if err := answer.Error(); err != nil { // which says more than the error of Raw
		return nil, fmt.Errorf("its gauge does not answer: %w", err)
	}
	text, err := answer.Raw()
	if err != nil {
		return nil, fmt.Errorf("its gauge does not answer: %w", err)
	}
	report := &usage.Report{}
	if err := json.Unmarshal(text, report); err != nil {
		return nil, fmt.Errorf("its gauge answers what is no report: %w", err)
	}
	if err := report.Validate(); err != nil {
		return nil, fmt.Errorf("its gauge reports what cannot be: %w", err)
	}
	if len(report.Intervals) > 0 && report.Intervals[0].Node != pod.Spec.NodeName {
		return nil, fmt.Errorf("its gauge reports about another node, %q", report.Intervals[0].Node)
	}
	return report, nil
}

// portOf returns the port of a gauge.
func portOf(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.Name == portName {
				return strconv.Itoa(int(port.ContainerPort))
			}
		}
	}
	return portName
}
