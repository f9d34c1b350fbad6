package recording

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/deployed"
)

// recordedPods are the pods of a cluster that are recorded.
type recordedPods struct {
	client    client.WithWatch
	namespace string // empty for all
	selector  labels.Selector
}

func (p *recordedPods) options(raw metav1.ListOptions) *client.ListOptions {
	return &client.ListOptions{Namespace: p.namespace, LabelSelector: p.selector, Limit: raw.Limit, Continue: raw.Continue, Raw: &raw}
}

func (p *recordedPods) list(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
	pods := &corev1.PodList{}
	return pods, p.client.List(ctx, pods, p.options(raw))
}

// each passes every present pod to take.
func (p *recordedPods) each(ctx context.Context, take func(*corev1.Pod)) error {
	err := pager.New(p.list).EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return fmt.Errorf("want a Pod, got %T", object)
		}
		take(pod)
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	return nil
}

// watch keeps a ledger of the pods until the context ends, however often the server
// goes away, or until the ledger fails. To fail at the first attempt is an error;
// later failures are passed to warn.
func (p *recordedPods) watch(ctx context.Context, l *ledger, warn func(error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.failed = cancel
	source := &cache.ListWatch{
		ListWithContextFunc: p.list,
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return p.client.Watch(ctx, &corev1.PodList{}, p.options(raw))
		},
	}
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(source, p.client), &corev1.Pod{}, l, cache.ReflectorOptions{})
	const first, longest, calm = time.Second, 30 * time.Second, 2 * time.Minute
	backoff := wait.Backoff{Duration: first, Cap: longest, Factor: 2, Jitter: 0.2, Steps: 6}
	err := backoff.DelayWithReset(clock.RealClock{}, calm).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := reflector.ListAndWatchWithContext(ctx)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("watching pods: %w", err)
			if !l.listed {
				return false, err
			}
			warn(err)
		}
		return false, nil
	})
	if l.err != nil || ctx.Err() != nil { // the end that was asked for
		return l.err
	}
	return err
}

// profiles returns the profiles of the namespaces that are recorded.
func (p *recordedPods) profiles(ctx context.Context) ([]v1alpha1.WorkloadProfile, error) {
	list := &v1alpha1.WorkloadProfileList{}
	err := p.client.List(ctx, list, client.InNamespace(p.namespace))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, deployed.ErrNoProfileKind
	}
	if err != nil {
		return nil, fmt.Errorf("listing WorkloadProfiles: %w", err)
	}
	return list.Items, nil
}
