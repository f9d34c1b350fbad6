// Package gauges asks the gauges of a cluster for their observations, by way of the API server's proxy, each with a token of the
// service account that may read it. One that does not answer in time keeps no other from answering. Where a manager collects from
// the gauges, it is asked first, and then only the gauges without a fresh report there.
//
// A node may lie: a usage.Decoder reads the answer of a gauge, as the manager does, and an invalid answer is read only as far as it
// takes to show it. The texts of errors are printed, so they are excerpts of one line.
//
// Any user who may create pods can give them the labels of a gauge. Asked are therefore only pods that package installation
// takes for gauges, and the account is one of the pod's own namespace. No other pod gets such a token but those of the manager, in
// the namespace that the gauges' pods name.
package gauges

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/text"
)

// Answer is the answer of a node's gauge.
type Answer struct {
	Node string
	// Report is nil where there is an error. That is a usage.RefusedError if the gauge answered what cannot be.
	Report *usage.Report
	Err    error
	// FromManager reports whether the manager answered in place of the gauge.
	FromManager bool
}

const (
	// concurrent is how many gauges are asked at once, and patience how long each may take. Each is asked for maxIntervals at
	// most: five minutes, of the ten that it keeps by default.
	concurrent   = 32
	patience     = 10 * time.Second
	maxIntervals = 30
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
	// Source says who is asked; the zero value is [Auto].
	Source Source
	// Note is called with why gauges are asked themselves though there is a manager, if it is not nil.
	Note func(why string)

	// Refused are the gauges whose last answers the manager refused, and RefusedBesides is how many more there are, by the last answer
	// of the manager.
	Refused        []usage.Refusal
	RefusedBesides int

	rest   rest.Interface
	tokens map[types.NamespacedName]token // by the service accounts that they are of

	patience time.Duration // with the manager; 0 means managerPatience
}

// Ask asks for the observations of the gauges of some nodes, of all if none are named: number returns the number of last intervals,
// given the number of gauges. The answers are in the order of the nodes' names; a node without a gauge has none. asked is called as
// gauges answer.
func (a *Asker) Ask(ctx context.Context, nodes []string, number func(gauges int) int, asked func(done, all int)) ([]Answer, error) {
	pods, err := a.find(ctx, nodes)
	if err != nil {
		return nil, err
	}
	if err := a.prepare(ctx, pods); err != nil {
		return nil, err
	}
	last := min(number(len(pods)), usage.MaxIntervals)
	answers := make([]Answer, len(pods))
	for i := range pods {
		answers[i].Node = pods[i].Spec.NodeName
	}
	if a.Source != Gauges {
		if err := a.askManager(ctx, pods, nodes, last, answers); err != nil {
			return nil, err
		}
	}
	if a.Source != Manager {
		a.askGauges(ctx, pods, last, answers, asked)
	}
	return answers, ctx.Err()
}

// askGauges asks the gauges of the pods that have no answer yet.
func (a *Asker) askGauges(ctx context.Context, pods []corev1.Pod, last int, answers []Answer, asked func(done, all int)) {
	var silent []int
	for i := range answers {
		if answers[i].Report == nil {
			silent = append(silent, i)
		}
	}
	slots := make(chan struct{}, concurrent)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	done := 0
	for _, i := range silent {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i].Report, answers[i].Err = a.ask(ctx, &pods[i], last)
			mutex.Lock()
			defer mutex.Unlock()
			done++
			asked(done, len(silent))
		})
	}
	wait.Wait()
}

// find returns the pods of gauges on some nodes, one for each. A pod that only has the labels of a gauge is left out.
func (a *Asker) find(ctx context.Context, nodes []string) ([]corev1.Pod, error) {
	labelled, err := a.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for gauges: %w", err)
	}
	var pods []corev1.Pod
	for i := range labelled {
		if installation.IsGauge(&labelled[i]) {
			pods = append(pods, labelled[i])
		}
	}
	if len(pods) == 0 && len(labelled) > 0 {
		return nil, fmt.Errorf("%w (pod %s has the labels of one, but it does not have hostPID: true or belongs to no DaemonSet, so it is not asked)",
			ErrNone, text.QualifiedName(&labelled[0]))
	}
	if len(pods) == 0 {
		return nil, ErrNone
	}
	pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool {
		return p.Spec.NodeName == "" || len(nodes) > 0 && !slices.Contains(nodes, p.Spec.NodeName)
	})
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Spec.NodeName, b.Spec.NodeName), -cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(pods, func(a, b corev1.Pod) bool { return a.Spec.NodeName == b.Spec.NodeName }), nil
}

// list returns the pods with the labels of gauges, of all namespaces. For a user who may not list those, it returns the pods
// of the namespaces that gauges are meant to run in, and of the user's own.
func (a *Asker) list(ctx context.Context) ([]corev1.Pod, error) {
	list, labels := &corev1.PodList{}, client.MatchingLabels(installation.GaugeLabels())
	err := a.Client.List(ctx, list, labels)
	if !apierrors.IsForbidden(err) {
		return list.Items, err
	}
	var found []corev1.Pod
	namespaces := []string{a.Own, deployed.InstallNamespace, installation.GaugeNamespace}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		if errThere := a.Client.List(ctx, list, labels, client.InNamespace(namespace)); errThere == nil {
			err = nil
			found = append(found, list.Items...)
		}
	}
	return found, err
}

// rankRunning is the rank of a pod that runs.
const rankRunning = 2

// rank is higher for a pod that will rather answer: while one is replaced there are two.
func rank(pod *corev1.Pod) int {
	switch {
	case pod.DeletionTimestamp != nil:
		return 0
	case pod.Status.Phase == corev1.PodRunning:
		return rankRunning
	default:
		return 1
	}
}

// prepare makes the client and the tokens for asking the gauges of some pods.
func (a *Asker) prepare(ctx context.Context, pods []corev1.Pod) (err error) {
	if a.rest == nil {
		config := rest.CopyConfig(a.Config)
		config.QPS = -1 // bounded by the concurrency
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &brief{next} })
		config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
		if a.rest, err = rest.RESTClientFor(config); err != nil {
			return err
		}
	}
	return a.renewTokens(ctx, pods)
}

// ask asks one gauge.
func (a *Asker) ask(ctx context.Context, pod *corev1.Pod, last int) (*usage.Report, error) {
	if pod.Status.Phase != corev1.PodRunning {
		return nil, fmt.Errorf("its gauge, pod %s/%s, is %s", pod.Namespace, pod.Name, cmp.Or(string(pod.Status.Phase), "not started"))
	}
	token, err := a.tokenFor(pod)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := a.rest.Get().
		AbsPath("/api/v1/namespaces", pod.Namespace, "pods", "https:"+pod.Name+":"+installation.UsagePort(pod), "proxy", usage.Path).
		Param(usage.LastParameter, strconv.Itoa(min(last, maxIntervals))).SetHeader(usage.TokenHeader, token).
		Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("its gauge does not answer: %w", excerpt(err))
	}
	defer body.Close()
	report, err := usage.NewDecoder(body, usage.Limits{Bytes: usage.MaxBytes, Intervals: maxIntervals, Objects: usage.MaxObjects}).Report()
	if err == nil && len(report.Intervals) > 0 && report.Intervals[0].Node != pod.Spec.NodeName {
		err = &usage.RefusedError{Err: fmt.Errorf("intervals[0].node: %.64q is not the node that it runs on", report.Intervals[0].Node)}
	}
	switch refused := (*usage.RefusedError)(nil); {
	case errors.As(err, &refused):
		return nil, fmt.Errorf("the answer of its gauge is refused: %w", excerpt(err))
	case err != nil:
		return nil, fmt.Errorf("its gauge does not answer to the end: %w", excerpt(err))
	}
	return report, nil
}
