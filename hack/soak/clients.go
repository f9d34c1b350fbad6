package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// watchers is how many clients watch Loadline's objects, and readers how many have a page open.
	watchers, readers = 2, 2
	// readEvery is how often a page is loaded.
	readEvery = 5 * time.Second
)

// clients watch Loadline's objects and have its page open.
type clients struct {
	*cluster

	tally  *tally
	token  string
	client *http.Client
	seen   atomic.Int64 // changes
	told   atomic.Int64 // times that a page was told of something new
}

func newClients(ctx context.Context, c *cluster, t *tally, lasts time.Duration) (*clients, error) {
	token, err := c.token(ctx, deployed.InstallNamespace, release+"-viewer", usage.Audience, lasts+time.Hour)
	return &clients{cluster: c, tally: t, token: token, client: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // its own certificate, in the cluster's own network
	}}}, err
}

// run runs all clients until ctx ends.
func (c *clients) run(ctx context.Context) {
	var all sync.WaitGroup
	for range watchers {
		for _, list := range []client.ObjectList{
			&v1alpha1.WorkloadProfileList{}, &v1alpha1.NodeProfileList{}, &v1alpha1.PoolPlanList{}, &v1alpha1.ShareTreeList{}, &v1alpha1.TraceReplayList{},
			&v1alpha1.RemediationPolicyList{}, &v1alpha1.RemediationList{},
		} {
			all.Go(func() { c.again(ctx, "watch begun", func(ctx context.Context) error { return c.watch(ctx, list) }) })
		}
	}
	for range readers {
		all.Go(func() { c.again(ctx, "page opened", c.listen) })
		all.Go(func() { c.again(ctx, "page loaded", c.load) })
	}
	all.Wait()
}

// again does something until ctx ends, at most every few seconds, and counts it.
func (c *clients) again(ctx context.Context, what string, do func(context.Context) error) {
	ticks := time.NewTicker(readEvery)
	defer ticks.Stop()
	for {
		if err := do(ctx); ctx.Err() == nil {
			c.tally.note(what, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// watch watches objects from now on, until the API server ends that.
func (c *clients) watch(ctx context.Context, list client.ObjectList) error {
	list, _ = list.DeepCopyObject().(client.ObjectList)
	if err := c.List(ctx, list); err != nil {
		return err
	}
	watcher, err := c.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for range watcher.ResultChan() {
		c.seen.Add(1)
	}
	return nil
}

// listen has a page open, until the server ends that.
func (c *clients) listen(ctx context.Context) (err error) {
	response, err := c.get(ctx, "/events")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			c.told.Add(1)
		}
	}
	return lines.Err()
}

// load loads the pages once.
func (c *clients) load(ctx context.Context) error {
	for _, path := range []string{"/", "/objects", "/api/v1/findings"} {
		response, err := c.get(ctx, path)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return errors.Join(err, response.Body.Close())
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
	}
	return nil
}

// get asks the page of the cluster.
func (c *clients) get(ctx context.Context, path string) (*http.Response, error) {
	address, err := c.page(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Loadline-Token", c.token)
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		content, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return nil, errors.Join(fmt.Errorf("%s answers %s: %.100s", path, response.Status, content), err, response.Body.Close())
	}
	return response, nil
}

// page returns where the page is.
func (c *clients) page(ctx context.Context) (string, error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(deployed.InstallNamespace), client.MatchingLabels{"app.kubernetes.io/name": "loadline-ui"}); err != nil {
		return "", err
	}
	for i := range pods.Items {
		if ip := pods.Items[i].Status.PodIP; ip != "" {
			return "https://" + net.JoinHostPort(ip, "8443"), nil
		}
	}
	return "", errors.New("there is no pod of it")
}
