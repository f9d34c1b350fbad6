// Package conditions shows the conditions of Loadline's objects as a metric, so that
// an alert can name the object that needs attention, and the reason. It reads from
// the manager's cache whenever it is asked, and keeps nothing.
package conditions

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// timeout bounds how long a scrape may wait for the cache.
const timeout = 5 * time.Second

// The labels namespace and name would be those of the manager where it is scraped.
var description = prometheus.NewDesc("loadline_object_condition",
	"Conditions of Loadline's objects as they are now, each with the value 1: the kind, namespace and name of the object, and the type, status (True, False or Unknown) and reason of the condition.",
	[]string{"kind", "object_namespace", "object_name", "type", "status", "reason"}, nil)

// SetupWithManager has the manager show conditions while it leads, once the cache
// has read all objects: of several replicas only one does. Those of RemediationPolicies it shows where remediation
// says so, for without it has no right to read them.
func SetupWithManager(mgr ctrl.Manager, remediation bool) error {
	c := &collector{reader: mgr.GetClient(), remediation: remediation}
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return c.show(ctx, metrics.Registry) }))
}

// collector is asked by Prometheus.
type collector struct {
	reader      client.Reader
	remediation bool
}

// show registers the collector, until the context is done, once all objects have been
// read. Scrapes before would fail, and with them all other metrics. One that cannot be
// read does not keep the others away: then it is the scrape that says so.
func (c *collector) show(ctx context.Context, registry prometheus.Registerer) error {
	for kind, list := range c.lists() {
		if err := c.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot show the conditions of objects", "kind", kind)
		}
	}
	if err := registry.Register(c); err != nil {
		return err
	}
	<-ctx.Done()
	registry.Unregister(c)
	return nil
}

// lists returns an empty list of each kind of objects.
func (c *collector) lists() map[string]client.ObjectList {
	lists := map[string]client.ObjectList{
		"NodeProfile": &v1alpha1.NodeProfileList{}, "PoolPlan": &v1alpha1.PoolPlanList{}, "ShareTree": &v1alpha1.ShareTreeList{},
		"TraceReplay": &v1alpha1.TraceReplayList{}, "WorkloadProfile": &v1alpha1.WorkloadProfileList{},
	}
	if c.remediation {
		lists["RemediationPolicy"] = &v1alpha1.RemediationPolicyList{}
	}
	return lists
}

// Describe sends the description of the metric.
func (*collector) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- description }

// Collect sends the conditions of all objects. A kind that cannot be read makes the
// scrape fail, rather than look as if there were no such objects.
func (c *collector) Collect(all chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for kind, list := range c.lists() {
		if err := c.collect(ctx, kind, list, all); err != nil {
			all <- prometheus.NewInvalidMetric(description, err)
		}
	}
}

func (c *collector) collect(ctx context.Context, kind string, list client.ObjectList, all chan<- prometheus.Metric) error {
	// The objects are only looked at.
	if err := c.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the objects of kind %s: %w", kind, err)
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		o, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		for _, condition := range statuses.Conditions(item) {
			all <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, 1,
				kind, o.GetNamespace(), o.GetName(), condition.Type, string(condition.Status), condition.Reason)
		}
		return nil
	})
}
