// Command loadline-manager is Loadline's operator: it keeps the status of
// Loadline's objects.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // for images without certificates, and a Prometheus with a public one
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/cli"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/calibration"
	"loadline.dev/loadline/pkg/controllers/conditions"
	"loadline.dev/loadline/pkg/controllers/measurement"
	"loadline.dev/loadline/pkg/controllers/nodeprofile"
	"loadline.dev/loadline/pkg/controllers/observation"
	"loadline.dev/loadline/pkg/controllers/pods"
	"loadline.dev/loadline/pkg/controllers/poolplan"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/serverclock"
	"loadline.dev/loadline/pkg/controllers/sharetree"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/controllers/tracereplay"
	"loadline.dev/loadline/pkg/controllers/workloadprofile"
	"loadline.dev/loadline/pkg/gauge/collected"
)

var version = "unknown" // set by the linker

// garbagePercent is how much garbage there may be before it is collected, in percent of what is live: most of that are caches. Where Go waits for as
// much garbage again, this takes some hundredths of a core more, and a third of the memory less.
const garbagePercent = 40

// spareMemory has garbage collected sooner than Go does, unless the environment says when.
func spareMemory() {
	if _, is := os.LookupEnv("GOGC"); !is {
		debug.SetGCPercent(garbagePercent)
	}
}

// options are the flags.
type options struct {
	kubeconfig              string
	leaderElect             bool
	leaderElectionNamespace string
	metricsAddress          string
	secureMetrics           bool
	healthAddress           string
	pprofAddress            string
	replay                  tracereplay.Worker
	maxReplays              int
	probes                  probejob.Settings
	anyUser                 bool
	concurrentWrites        int
	gauges                  bool
	gaugeNamespace          string
	gaugeTokenFile          string
	observedProfiles        string
	workCounters            bool
	workPrometheus          string
	remediation             bool
	schedulerNames          []string
	usageAddress            string
	logs                    *logsapi.LoggingConfiguration
}

func main() {
	spareMemory()
	command := newCommand()
	command.SetContext(ctrl.SetupSignalHandler())
	os.Exit(cli.Run(command))
}

func newCommand() *cobra.Command {
	o := options{
		replay: tracereplay.Worker{
			Image: image(replayImageVariable, "loadline/kubectl-loadline"), CPU: resource.MustParse("1"), Memory: resource.MustParse("512Mi"),
			MaxParallelism: 20, Timeout: 24 * time.Hour,
		},
		maxReplays: 4,
		probes: probejob.Settings{
			Image: image(probeImageVariable, "loadline/loadline-probe"), Memory: resource.MustParse("512Mi"), MaxParallel: 2, MaxTime: 24 * time.Hour, Namespace: ownNamespace(),
		},
		logs: logsapi.NewLoggingConfiguration(),
	}
	command := &cobra.Command{
		Use:   "loadline-manager",
		Short: "Loadline's operator",
		Long: `loadline-manager is Loadline's operator. It carries out TraceReplays, scales the
pools of PoolPlans that ask for it, runs probes on nodes to measure the workloads
and nodes whose profiles ask for it, compares profiles with what gauges observe, and
keeps the status of

  WorkloadProfile   whether the scheduler uses it, with which vector, for how many
                    pods, whether another profile competes for them, what was
                    measured, and whether it fits what gauges observe
  NodeProfile       the same for nodes
  TraceReplay       how far it is, and what was found of each policy
  PoolPlan          how many servers each pool needs, and what was done about it
  ShareTree         which response times its shares give

With --remediation it proposes, by what gauges observe, the changes that
RemediationPolicies let it propose, carries out those that it may, and keeps the status of

  RemediationPolicy  how many changes were made, and what they won
  Remediation        how far a change of a pod is, and what it won`,
		Example: `  # In a cluster
  loadline-manager --leader-elect

  # From a workstation
  loadline-manager --kubeconfig ~/.kube/config

  # With more memory for every run of a TraceReplay
  loadline-manager --replay-memory 2Gi

  # Measure on up to 10 nodes at once
  loadline-manager --max-measurements 10`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := o.validate(); err != nil {
				return err
			}
			o.replay.AnyUser, o.probes.AnyUser = o.anyUser, o.anyUser
			return o.run(command)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Path of a kubeconfig file. Defaults to that in KUBECONFIG, to the service account in a cluster, else to ~/.kube/config.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "Let only one of several replicas act at a time.")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "", "Namespace of the leader election lease. Defaults to the namespace that the manager runs in.")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "Address to serve Prometheus metrics on, or 0 for none.")
	flags.BoolVar(&o.secureMetrics, "metrics-secure", true, "Serve metrics by HTTPS, to those who may get the non-resource URL /metrics. Without, by HTTP to all who get to the address: they name every object of Loadline.")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "Address to serve /healthz and /readyz on, or 0 for none.")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", none, "Address to serve Go profiles on at /debug/pprof, by HTTP to all who get to it, such as localhost:6060, or 0 for none.")
	flags.StringVar(&o.replay.Image, "replay-image", o.replay.Image, "Image of the pods that carry out TraceReplays, with kubectl-loadline on its PATH. Defaults to that in "+replayImageVariable+".")
	flags.Var((*quantity)(&o.replay.CPU), "replay-cpu", "CPU that each run of a TraceReplay asks for and is limited to.")
	flags.Var((*quantity)(&o.replay.Memory), "replay-memory", "Memory that each run of a TraceReplay asks for and is limited to.")
	flags.IntVar(&o.maxReplays, "max-replays", o.maxReplays, "How many TraceReplays to carry out at once, at least 1, and half as many of one namespace. Others wait, by namespaces in turn.")
	flags.Int32Var(&o.replay.MaxParallelism, "max-replay-parallelism", o.replay.MaxParallelism, "How many runs of a TraceReplay go on at once at most, from 1 to 1000, whatever its parallelism.")
	flags.DurationVar(&o.replay.Timeout, "replay-timeout", o.replay.Timeout, "How long a TraceReplay may take from its first run on: runs that have not ended by then have failed.")
	flags.StringVar(&o.probes.Image, "probe-image", o.probes.Image, "Image of the probes and observers that measure, with loadline-probe on its PATH. Defaults to that in "+probeImageVariable+".")
	flags.Var((*quantity)(&o.probes.Memory), "probe-memory", "Memory that each probe asks for and is limited to.")
	flags.IntVar(&o.probes.MaxParallel, "max-measurements", o.probes.MaxParallel, "On how many nodes to measure at once, at least 1. On each there is one measurement at a time.")
	flags.DurationVar(&o.probes.MaxTime, "max-measurement-time", o.probes.MaxTime, "How long the measurement of a class of nodes may take, whatever the budgetSeconds of its WorkloadProfile; 0 for no limit. A step that has begun may take an hour longer.")
	flags.StringVar(&o.probes.Namespace, "probe-namespace", o.probes.Namespace, "Namespace of the probes that calibrate nodes. Those that measure a workload run in its own. Defaults to the namespace that the manager runs in.")
	flags.BoolVar(&o.anyUser, "any-user", false, "Leave to the cluster as which user the pods of measurements and replays run, as OpenShift's restricted-v2 requires. Without, they run as 65532.")
	flags.IntVar(&o.concurrentWrites, "concurrent-status-writes", defaultStatusWrites, "How many statuses of WorkloadProfiles and NodeProfiles to write at once, from 1 to 200. Raise it where thousands of profiles change together and the API server has room.")
	o.addGaugeFlags(flags)
	o.addRemediationFlags(flags)
	logsapi.AddFlags(o.logs, flags)
	verflag.AddFlags(flags)
	return command
}

// validate reports the first flag that is out of its range.
func (o *options) validate() error {
	if o.probes.MaxParallel < 1 {
		return fmt.Errorf("--max-measurements: %d is not at least 1", o.probes.MaxParallel)
	}
	if o.maxReplays < 1 {
		return fmt.Errorf("--max-replays: %d is not at least 1", o.maxReplays)
	}
	if o.replay.MaxParallelism < 1 || o.replay.MaxParallelism > 1000 {
		return fmt.Errorf("--max-replay-parallelism: %d is not from 1 to 1000", o.replay.MaxParallelism)
	}
	if o.replay.Timeout < time.Second {
		return fmt.Errorf("--replay-timeout: %v is not at least 1s", o.replay.Timeout)
	}
	if o.probes.MaxTime < 0 {
		return fmt.Errorf("--max-measurement-time: %v is negative; 0 is no limit", o.probes.MaxTime)
	}
	if o.concurrentWrites < 1 || o.concurrentWrites > maxStatusWrites {
		return fmt.Errorf("--concurrent-status-writes: %d is not from 1 to %d", o.concurrentWrites, maxStatusWrites)
	}
	if err := checkSchedulerNames(o.schedulerNames); err != nil {
		return err
	}
	if err := o.validateWork(); err != nil {
		return err
	}
	if !observation.IsMode(o.observedProfiles) {
		return fmt.Errorf("--observed-profiles: %q is not one of %s, %s and %s", o.observedProfiles, v1alpha1.ModeOff, v1alpha1.ModeAdvise, v1alpha1.ModeApply)
	}
	return nil
}

// How many statuses are written at once: by default a small part of the requests that
// an API server serves at once, which its priority and fairness divides, and never
// more than the 200 that it lets change objects at once as Kubernetes ships it.
const defaultStatusWrites, maxStatusWrites = 16, 200

// The environment variables that name images where the flags do not.
const (
	replayImageVariable = "LOADLINE_REPLAY_IMAGE"
	probeImageVariable  = "LOADLINE_PROBE_IMAGE"
)

// image returns the image that an environment variable names, else another.
func image(variable, otherwise string) string {
	if image := os.Getenv(variable); image != "" {
		return image
	}
	return otherwise
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// namespaceFile is where a pod finds the name of its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// ownNamespace returns the namespace that the manager runs in, or the one that it
// is meant for where it runs in none.
func ownNamespace() string {
	if name, err := os.ReadFile(namespaceFile); err == nil {
		return strings.TrimSpace(string(name))
	}
	return "loadline-system"
}

func (o *options) run(command *cobra.Command) error {
	if err := logsapi.ValidateAndApply(o.logs, nil); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	restConfig, err := o.restConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	now := serverclock.New(clock.RealClock{}, metrics.Registry, ctrl.Log.WithName("clock"))
	restConfig.Wrap(now.Wrap)
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions(),
		Controller:                    ctrlconfig.Controller{CacheSyncTimeout: cacheSyncTimeout},
		Metrics:                       o.metricsOptions(),
		HealthProbeBindAddress:        none, // served by servers
		PprofBindAddress:              o.pprofAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "loadline-manager",
		LeaderElectionNamespace:       o.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("setting up the manager: %w", err)
	}
	served, err := newServers(mgr)
	if err != nil {
		return err
	}
	if err := o.addServers(mgr, served); err != nil {
		return err
	}
	if err := o.addControllers(mgr, served, now); err != nil {
		return err
	}
	return mgr.Start(command.Context())
}

// cacheSyncTimeout is how long it may take to read a large cluster from a busy API server. A manager that ends for that begins anew, which
// makes an API server no less busy.
const cacheSyncTimeout = 10 * time.Minute

// restConfig says how to reach the API server: as the given kubeconfig does,
// else as KUBECONFIG, the service account or ~/.kube/config do.
func (o *options) restConfig() (*rest.Config, error) {
	if o.kubeconfig == "" {
		return config.GetConfig()
	}
	restConfig, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, err
	}
	restConfig.QPS = -1 // no limit: the API server keeps clients fair
	return restConfig, nil
}

func (o *options) addControllers(mgr ctrl.Manager, served *servers, now clock.WithTicker) error {
	recorder := mgr.GetEventRecorder("loadline-manager")
	writers := statuses.NewWriters(o.concurrentWrites)
	cached, err := pods.New(mgr, pods.Options{ForPlans: o.remediation && o.gauges})
	if err != nil {
		return fmt.Errorf("setting up the cache of pods: %w", err)
	}
	answers := sharetree.NewAnswers()
	workloads := &workloadprofile.Reconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now, Writers: writers, Trees: answers}
	if err := workloads.SetupWithManager(mgr, cached); err != nil {
		return fmt.Errorf("setting up the WorkloadProfile controller: %w", err)
	}
	nodes := &nodeprofile.Reconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now, Writers: writers}
	if err := nodes.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the NodeProfile controller: %w", err)
	}
	replays := &tracereplay.Reconciler{
		Client: mgr.GetClient(), Recorder: recorder, Clock: now, Worker: o.replay, Version: version,
		Slots: slots.NewShared(o.maxReplays, now),
	}
	if err := replays.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the TraceReplay controller: %w", err)
	}
	pools := &poolplan.Reconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now}
	if err := pools.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the PoolPlan controller: %w", err)
	}
	trees := &sharetree.Reconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now, Answers: answers}
	if err := trees.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the ShareTree controller: %w", err)
	}
	if err := o.addMeasuring(mgr, cached, recorder, writers, now); err != nil {
		return err
	}
	var history *collected.History
	if o.gauges {
		if o.usageAddress != none || o.remediation {
			history = collected.New(now)
		}
		if err := o.addObservation(mgr, cached, recorder, writers, served, history, now); err != nil {
			return fmt.Errorf("setting up the collection of what gauges observe: %w", err)
		}
	}
	if o.remediation {
		if err := o.addRemediation(mgr, cached, recorder, history, now); err != nil {
			return err
		}
	}
	if err := conditions.SetupWithManager(mgr, o.remediation); err != nil {
		return fmt.Errorf("setting up the metric of conditions: %w", err)
	}
	return nil
}

// addMeasuring adds the controllers that run probes. They share the nodes to run
// them on, and a cache of the Jobs that do.
func (o *options) addMeasuring(mgr ctrl.Manager, cached *pods.Cache, recorder events.EventRecorder, writers *statuses.Writers, now clock.PassiveClock) error {
	made, err := probejob.NewCache(mgr)
	if err != nil {
		return err
	}
	nodes := slots.New(o.probes.MaxParallel, now)
	calibrations := &calibration.Reconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now, Settings: &o.probes, Slots: nodes}
	if err := calibrations.SetupWithManager(mgr, made); err != nil {
		return fmt.Errorf("setting up the calibration controller: %w", err)
	}
	measurements := &measurement.Reconciler{Client: mgr.GetClient(), Recorder: recorder, Clock: now, Probes: &o.probes, Slots: nodes, Writers: writers}
	if err := measurements.SetupWithManager(mgr, made, cached); err != nil {
		return fmt.Errorf("setting up the measurement controller: %w", err)
	}
	return nil
}
