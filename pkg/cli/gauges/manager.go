package gauges

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Source says who is asked for the observations of gauges.
type Source string

const (
	// Auto asks the manager, and the gauges without a fresh report there.
	Auto Source = "auto"
	// Manager asks the manager alone.
	Manager Source = "manager"
	// Gauges asks the gauges alone.
	Gauges Source = "gauges"
)

// Sources are the names of all sources.
var Sources = []string{string(Auto), string(Manager), string(Gauges)}

const (
	// managerPatience is how long a manager may take to answer: about 5,000 nodes it takes some seconds.
	managerPatience = 20 * time.Second
	// maxReplicas is how many pods of the manager are asked.
	maxReplicas = 5
	// maxBytes bounds the length of its answer: twice that about 5,000 nodes of 100 pods. maxObjects bounds the number of pods of
	// intervals of each node: an hour of the maximum number of pods of an interval.
	maxBytes   = 2 << 30
	maxObjects = 1 << 18
	// stale is the age from which on the last round of a manager says nothing: it collects every half a minute.
	stale = 90 * time.Second
)

// errNoManager says that no manager collects from the gauges, which is as it should be where there is none.
var errNoManager = errors.New("no manager collects from the gauges: install one with manager.enabled=true and manager.observe.enabled=true")

// askManager fills in the manager's fresh reports as answers. It returns an error only if no gauge is to be asked in place of the
// manager.
func (a *Asker) askManager(ctx context.Context, pods []corev1.Pod, nodes []string, last int, answers []Answer) error {
	a.Refused, a.RefusedBesides = nil, 0
	manager, err := a.fromManager(ctx, pods, nodes, last)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if a.Source == Manager && err != nil {
		return fmt.Errorf("--source %s: %w", Manager, err)
	}
	reports := map[string]*usage.Report{}
	if err == nil {
		reports, a.Refused, a.RefusedBesides = manager.reports, manager.Refused, manager.RefusedBesides
	}
	answered := 0
	for i := range answers {
		answer := &answers[i]
		report := reports[answer.Node]
		switch {
		case a.Source == Manager && report == nil:
			answer.Err = a.unheard(answer.Node)
		case report != nil && (a.Source == Manager || !observed.Stale(report)):
			answer.Report, answer.FromManager = report, true
			answered++
		}
	}
	switch {
	case a.Note == nil || errors.Is(err, errNoManager) || answered == len(answers):
	case err != nil:
		a.Note(fmt.Sprintf("the gauges are asked themselves, because the manager does not answer for them: %v", err))
	default:
		a.Note(fmt.Sprintf("the manager answers for %d of %d gauges; the others are asked themselves, because it has nothing fresh of them", answered, len(answers)))
	}
	return nil
}

// unheard returns why the manager says nothing about a node.
func (a *Asker) unheard(node string) error {
	for _, refused := range a.Refused {
		if refused.Node == node {
			return fmt.Errorf("the answer of its gauge is refused: %w", &usage.RefusedError{Err: errors.New(refused.Reason)})
		}
	}
	return errors.New("the manager has heard nothing of its gauge")
}

// fromManager returns the manager's reports of the gauges of some pods, by their nodes.
func (a *Asker) fromManager(ctx context.Context, pods []corev1.Pod, nodes []string, last int) (*collected, error) {
	named := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Annotations[installation.ManagerAnnotation] != "" })
	if named < 0 {
		return nil, errNoManager
	}
	token, err := a.tokenFor(&pods[named])
	if err != nil {
		return nil, err
	}
	namespace := pods[named].Annotations[installation.ManagerAnnotation]
	list := &corev1.PodList{}
	if err := a.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(installation.ManagerLabels())); err != nil {
		return nil, fmt.Errorf("looking for the manager in namespace %s: %w", namespace, err)
	}
	replicas := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !installation.IsManager(&p) || rank(&p) < rankRunning })
	if len(replicas) == 0 {
		return nil, fmt.Errorf("it does not run in namespace %s", namespace)
	}
	return a.fromReplicas(ctx, replicas[:min(len(replicas), maxReplicas)], nodes, last, token)
}

// fromReplicas asks all replicas at once, one of which leads, and returns the answer of the leader.
func (a *Asker) fromReplicas(ctx context.Context, replicas []corev1.Pod, nodes []string, last int, token string) (*collected, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.patience, managerPatience))
	defer cancel()
	var (
		wait   sync.WaitGroup
		mutex  sync.Mutex
		leader *collected
		errs   []error
	)
	for i := range replicas {
		wait.Go(func() {
			answer, err := a.fromReplica(ctx, &replicas[i], nodes, last, token)
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("pod %s/%s: %w", replicas[i].Namespace, replicas[i].Name, err))
				return
			}
			leader = answer
			cancel() // the others do not lead
		})
	}
	wait.Wait()
	if leader != nil {
		return leader, nil
	}
	// What is wrong with a leader says more than that others do not lead.
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	if of := slices.IndexFunc(errs, func(err error) bool { return !strings.Contains(err.Error(), usage.NotLeading) }); of >= 0 {
		return nil, errs[of]
	}
	return nil, errs[0]
}

// fromReplica asks one replica.
func (a *Asker) fromReplica(ctx context.Context, pod *corev1.Pod, nodes []string, last int, token string) (*collected, error) {
	request := a.rest.Get().
		AbsPath("/api/v1/namespaces", pod.Namespace, "pods", "https:"+pod.Name+":"+installation.UsagePort(pod), "proxy", usage.NodesPath).
		Param(usage.LastParameter, strconv.Itoa(last)).SetHeader(usage.TokenHeader, token).MaxRetries(0)
	for _, node := range nodes {
		request.Param(usage.NodeParameter, node)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, errors.New(usage.Excerpt(reason(err)))
	}
	defer body.Close()
	return read(body)
}

// collected is the answer of a manager.
type collected struct {
	usage.Collection

	reports map[string]*usage.Report // by their nodes
}

// read reads the answer of a manager.
func read(body io.Reader) (*collected, error) {
	decoder := usage.NewDecoder(body, usage.Limits{Bytes: maxBytes, Intervals: usage.MaxIntervals, Objects: maxObjects})
	collection, err := decoder.Collection()
	if err != nil {
		return nil, fmt.Errorf("it answers what is no collection of reports: %w", err)
	}
	if age := time.Duration(collection.AgeSeconds * float64(time.Second)); age > stale {
		return nil, fmt.Errorf("it has not asked the gauges for %s", age.Round(time.Second))
	}
	answer := &collected{*collection, map[string]*usage.Report{}}
	for {
		report, err := decoder.Report()
		switch {
		case errors.Is(err, io.EOF):
			return answer, nil
		case err != nil:
			return nil, fmt.Errorf("it answers what is no report: %w", err)
		}
		if len(report.Intervals) > 0 {
			answer.reports[report.Intervals[0].Node] = report
		}
	}
}

// Refused reports whether the API server refused to ask because the user may not, in place of a gauge.
func Refused(err error) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || !slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeUnexpectedServerResponse })
}

// reason returns why a request was refused: the pod's message, if there is one.
func reason(err error) string {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return err.Error()
	}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			if cause.Message != "" && cause.Message != "unknown" {
				return strings.TrimSpace(cause.Message)
			}
		}
	}
	return err.Error()
}
