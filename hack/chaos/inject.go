package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/chaos/link"
)

// targets returns what can fail. Nodes are named when they do.
func (c *cluster) targets() *targets {
	t := &targets{processes: slices.Clone(planeParts), nodes: []string{"first", "second"}}
	for name := range c.programs { // each is as likely as two parts of the control plane
		t.processes = append(t.processes, name, name)
	}
	for name := range c.links {
		t.links = append(t.links, name)
	}
	for name := range c.api {
		t.apiLinks = append(t.apiLinks, name)
	}
	for _, list := range [][]string{t.processes, t.links, t.apiLinks} {
		slices.Sort(list)
	}
	return t
}

// victim is a fault that is injected, and how it is healed.
type victim struct {
	fault
	heal func(context.Context) error
}

// inject begins a fault. What is in the load's namespaces is told of it by l. A fault that may have begun is to be healed even if there is an
// error: a request whose answer did not come may have been carried out. The victim is nil if it has not begun.
func (c *cluster) inject(ctx context.Context, f fault, l *load) (*victim, error) {
	begin := map[kind]func(context.Context, fault) (func(context.Context) error, error){
		killed: c.kill, stopped: c.pause, delayed: c.onLink, held: c.onLink, refused: c.onLink,
		throttled: c.onAPI, failing: c.onAPI, unavailable: c.onAPI, lostAnswers: c.onAPI, watchesGone: c.onAPI, certExpired: c.onAPI, tokenExpired: c.expireToken,
		etcdFull: c.fillEtcd, gaugesLie: c.haveGaugesLie, ratesLie: c.haveRatesLie, crdsUpdated: c.updateCRDs,
		nodeGone: func(ctx context.Context, f fault) (func(context.Context) error, error) {
			return c.removeNode(ctx, f, l)
		}, kubeletAway: c.awayKubelet,
		namespaceGone: func(ctx context.Context, _ fault) (func(context.Context) error, error) {
			return nothing, l.removeLab(ctx)
		},
	}[f.Kind]
	end := c.history.disturb(c.disturbs(f))
	heal, err := begin(ctx, f)
	if heal == nil {
		end()
		return nil, err
	}
	return &victim{fault: f, heal: func(ctx context.Context) error {
		defer end()
		return heal(ctx)
	}}, err
}

// nothing heals what needs no healing.
func nothing(context.Context) error { return nil }

// disturbs returns which client of the API server may miss something because of a fault, "" for all.
func (c *cluster) disturbs(f fault) string {
	name, _, _ := strings.Cut(f.Target, " ")
	if _, is := c.programs[name]; is {
		return name
	}
	switch f.Kind {
	case gaugesLie, ratesLie, crdsUpdated, namespaceGone, nodeGone, kubeletAway:
		return "none"
	default:
		return "" // of the control plane
	}
}

func (c *cluster) kill(_ context.Context, f fault) (func(context.Context) error, error) {
	if p := c.programs[f.Target]; p != nil {
		return func(context.Context) error { p.revive(); return nil }, p.kill()
	}
	c.setDown(f.Target, true)
	_ = c.plane.Kill(f.Target) // it may have ended by itself
	return func(context.Context) error { c.setDown(f.Target, false); c.revivePlane(); return nil }, nil
}

func (c *cluster) pause(_ context.Context, f fault) (func(context.Context) error, error) {
	if p := c.programs[f.Target]; p != nil {
		return func(context.Context) error { return p.resume() }, p.pause()
	}
	_ = c.plane.Pause(f.Target) // it may be about to be started again
	return func(context.Context) error { _ = c.plane.Resume(f.Target); return nil }, nil
}

// faulty returns the link of a fault.
func (c *cluster) faulty(f fault) link.Faulty {
	if l, is := c.api[f.Target]; is {
		return l
	}
	return c.links[f.Target]
}

func (c *cluster) onLink(_ context.Context, f fault) (func(context.Context) error, error) {
	l := c.faulty(f)
	switch f.Kind {
	case delayed:
		l.Delay(f.Delay)
	case held:
		l.Hold()
	default:
		l.Refuse()
	}
	return func(context.Context) error { l.Heal(); return nil }, nil
}

func (c *cluster) onAPI(_ context.Context, f fault) (func(context.Context) error, error) {
	l := c.api[f.Target]
	switch f.Kind {
	case throttled:
		l.Answer(link.Answer{Status: http.StatusTooManyRequests, Share: f.Share})
	case failing:
		l.Answer(link.Answer{Status: http.StatusInternalServerError, Share: f.Share})
	case unavailable:
		l.Answer(link.Answer{Status: http.StatusServiceUnavailable, Share: f.Share})
	case lostAnswers:
		l.Answer(link.Answer{Status: http.StatusGatewayTimeout, Share: f.Share, After: true, Only: func(r *http.Request) bool { return r.Method != http.MethodGet }})
	case certExpired:
		l.Expire()
	default:
		l.Gone()
	}
	return func(context.Context) error { l.Heal(); return nil }, nil
}

// expireToken has a token refused, and writes another one in the middle of the fault: at once, but the client reads it late.
func (c *cluster) expireToken(ctx context.Context, f fault) (func(context.Context) error, error) {
	old, err := c.readToken(f.Target)
	if err != nil {
		return nil, err
	}
	c.api[f.Target].Revoke(old)
	late, cancel := context.WithCancel(ctx)
	go func() {
		timer := time.NewTimer(f.For / 2)
		defer timer.Stop()
		select {
		case <-late.Done():
		case <-timer.C:
			_ = c.renew(ctx, f.Target) // healing tries again
		}
	}()
	return func(ctx context.Context) error {
		cancel()
		if now, err := c.readToken(f.Target); err != nil || now != old {
			return err
		}
		return c.renew(ctx, f.Target)
	}, nil
}

// alarm raises or ends the alarm of etcd that its disk is full, upon which it takes no writes.
func (c *cluster) alarm(ctx context.Context, action string) error {
	body := bytes.NewBufferString(`{"action": "` + action + `", "memberID": "0", "alarm": "NOSPACE"}`)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.plane.EtcdAddress()+"/v3/maintenance/alarm", body)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s", response.Status)
	}
	return nil
}

func (c *cluster) fillEtcd(ctx context.Context, f fault) (func(context.Context) error, error) {
	within, cancel := context.WithTimeout(ctx, min(f.For, 2*time.Second))
	defer cancel()
	_ = c.alarm(within, "ACTIVATE") // etcd may be away
	return func(ctx context.Context) error { return c.alarm(ctx, "DEACTIVATE") }, nil
}

func (c *cluster) haveGaugesLie(_ context.Context, f fault) (func(context.Context) error, error) {
	c.gauges.set(f.Variant)
	return func(context.Context) error { c.gauges.set(""); return nil }, nil
}

func (c *cluster) haveRatesLie(_ context.Context, f fault) (func(context.Context) error, error) {
	c.rates.spoil(f.Variant)
	return func(context.Context) error { c.rates.spoil(""); return nil }, nil
}

// someNode returns one of the nodes that are there.
func (c *cluster) someNode(ctx context.Context, f fault) (*corev1.Node, error) {
	var list corev1.NodeList
	if err := c.List(ctx, &list, client.MatchingLabels{"chaos": "node"}); err != nil {
		return nil, err
	}
	at := map[string]int{"first": 0, "second": 1}[f.Target]
	if at >= len(list.Items) {
		return nil, errors.New("there are no nodes")
	}
	return &list.Items[at], nil
}

// removeNode deletes a node for good.
func (c *cluster) removeNode(ctx context.Context, f fault, l *load) (func(context.Context) error, error) {
	node, err := c.someNode(ctx, f)
	if err != nil {
		return nil, err
	}
	l.losesNode(node.Name)
	err = c.Delete(ctx, node)
	next := c.newNode()
	return func(ctx context.Context) error {
		if err := client.IgnoreNotFound(c.Delete(ctx, node)); err != nil { // unless it was carried out before
			return err
		}
		if err := c.collect(ctx, node.Name); err != nil {
			return err
		}
		return c.addNode(ctx, next)
	}, err
}

// collect deletes the pods of a node that is gone, as the controllers of Kubernetes do, but without their delay of up to a minute.
func (c *cluster) collect(ctx context.Context, node string) error {
	for _, pod := range c.history.those(func(p *corev1.Pod) bool { return p.Spec.NodeName == node }) {
		failed := pod.DeepCopy()
		failed.Status.Phase = corev1.PodFailed
		if err := client.IgnoreNotFound(c.Status().Patch(ctx, failed, client.MergeFrom(pod))); err != nil {
			return err
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, failed, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})); err != nil {
			return err
		}
	}
	return nil
}

// kwokAnnotation has KWOK play a node.
const kwokAnnotation = "kwok.x-k8s.io/node"

// awayKubelet has a node be not ready, as one whose kubelet is restarted.
func (c *cluster) awayKubelet(ctx context.Context, f fault) (func(context.Context) error, error) {
	node, err := c.someNode(ctx, f)
	if err != nil {
		return nil, err
	}
	patch := func(ctx context.Context, annotation string) error {
		return c.Patch(ctx, node, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"annotations": {"`+kwokAnnotation+`": `+annotation+`}}}`)))
	}
	heal := func(ctx context.Context) error { return client.IgnoreNotFound(patch(ctx, `"fake"`)) }
	if err := patch(ctx, "null"); err != nil {
		return heal, err
	}
	before := node.DeepCopy()
	for i := range node.Status.Conditions {
		if r := &node.Status.Conditions[i]; r.Type == corev1.NodeReady {
			r.Status, r.Reason, r.LastTransitionTime = corev1.ConditionFalse, "KubeletNotReady", metav1.Now()
		}
	}
	return heal, c.Status().Patch(ctx, node, client.MergeFrom(before))
}

// updateCRDs gives the definitions a field more, as an upgrade does, and takes it away at the end.
func (c *cluster) updateCRDs(ctx context.Context, _ fault) (func(context.Context) error, error) {
	change := func(ctx context.Context, edit func(map[string]apiextensionsv1.JSONSchemaProps)) error {
		var list apiextensionsv1.CustomResourceDefinitionList
		if err := c.List(ctx, &list); err != nil {
			return err
		}
		for i := range list.Items {
			d := &list.Items[i]
			if d.Spec.Group != "loadline.dev" {
				continue
			}
			before := d.DeepCopy()
			for k := range d.Spec.Versions {
				edit(d.Spec.Versions[k].Schema.OpenAPIV3Schema.Properties["spec"].Properties)
			}
			if err := c.Patch(ctx, d, client.MergeFrom(before)); err != nil {
				return err
			}
		}
		return nil
	}
	const field = "chaos"
	add := func(p map[string]apiextensionsv1.JSONSchemaProps) {
		p[field] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	remove := func(p map[string]apiextensionsv1.JSONSchemaProps) { delete(p, field) }
	return func(ctx context.Context) error { return change(ctx, remove) }, change(ctx, add)
}
