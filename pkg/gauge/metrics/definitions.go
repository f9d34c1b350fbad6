package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// definePods makes the metrics of pods.
func (m *Metrics) definePods(register promauto.Factory) {
	pod := []string{"namespace", "pod"}
	m.counters = perPod{
		run: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_gauge_pod_run_seconds_total",
			Help: "How long the tasks of a pod ran, summed over its tasks.",
		}, pod),
		wait: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_gauge_pod_wait_seconds_total",
			Help: "How long the tasks of a pod that could run waited for a processor for any reason but their own limit, summed over its tasks.",
		}, pod),
		throttled: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_gauge_pod_throttled_seconds_total",
			Help: "How long the tasks of a pod that could run were held back by its CPU limit, summed over its tasks.",
		}, pod),
		blocked: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_gauge_pod_blocked_seconds_total",
			Help: "How long the tasks of a pod waited for block I/O, summed over its tasks, or for how long some task did where the kernel accounts only that; absent where it accounts neither.",
		}, pod),
	}
	m.dilation = register.NewGaugeVec(prometheus.GaugeOpts{
		Name: "loadline_gauge_pod_dilation",
		Help: "How many times longer the tasks of a pod took in the last interval than without waiting for a processor and without being throttled.",
	}, pod)
	m.summed = register.NewGauge(prometheus.GaugeOpts{
		Name: "loadline_gauge_pods_summed",
		Help: "Pods without time series of their own: they share those with the namespace and the pod (others).",
	})
	m.leftOut = register.NewGauge(prometheus.GaugeOpts{
		Name: "loadline_gauge_pods_left_out",
		Help: "Pods that the last interval left out, because it had as many as it may.",
	})
	m.namesFailed = register.NewGauge(prometheus.GaugeOpts{
		Name: "loadline_gauge_pod_names_failing",
		Help: "1 while the folder with the names of the pods cannot be listed, else 0.",
	})
}

// defineNode makes the metrics of the node and of its readings.
func (m *Metrics) defineNode(register promauto.Factory) {
	m.busy = register.NewCounter(prometheus.CounterOpts{
		Name: "loadline_gauge_node_busy_seconds_total",
		Help: "How long the processors of the node ran anything, summed over its processors.",
	})
	m.stolen = register.NewCounter(prometheus.CounterOpts{
		Name: "loadline_gauge_node_stolen_seconds_total",
		Help: "How long the hypervisor ran something else while processors of the node had work, summed over its processors.",
	})
	m.processors = register.NewGauge(prometheus.GaugeOpts{
		Name: "loadline_gauge_node_processors",
		Help: "Processors that pods of the node might run on in the last interval: those that are online, but for those that the kubelet keeps from pods.",
	})
	m.duration = register.NewHistogram(prometheus.HistogramOpts{
		Name:    "loadline_gauge_reading_duration_seconds",
		Help:    "How long it took to read the kernel's accounting of the node.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 14), // to 8 s: a reading takes less than an interval, or is late
	})
	m.failed = register.NewCounter(prometheus.CounterOpts{
		Name: "loadline_gauge_reading_errors_total",
		Help: "Readings of the kernel's accounting that failed.",
	})
	m.timestamp = register.NewGauge(prometheus.GaugeOpts{
		Name: "loadline_gauge_last_reading_timestamp_seconds",
		Help: "When the last reading ended that did not fail, in seconds since 1970 by the clock of the node.",
	})
}
