package chart

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/config/v1alpha1"
)

// schedulerConfig returns the configuration of the scheduler, as kube-scheduler
// reads it.
func schedulerConfig(t *testing.T, all []*unstructured.Unstructured) *schedulerconfig.KubeSchedulerConfiguration {
	t.Helper()
	volume := deployment(t, all, scheduler).Spec.Template.Spec.Volumes[0]
	return readSchedulerConfig(t, as[corev1.ConfigMap](t, all, "ConfigMap", volume.ConfigMap.Name).Data["scheduler.yaml"])
}

// readSchedulerConfig reads a configuration, with its defaults and what Dilation's
// arguments default to.
func readSchedulerConfig(t *testing.T, text string) *schedulerconfig.KubeSchedulerConfiguration {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	read, ok := object.(*schedulerconfig.KubeSchedulerConfiguration)
	if !ok {
		t.Fatalf("the configuration is a %T", object)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(read); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
	return read
}

// dilationArgs returns the arguments of Dilation in the profile of a scheduler.
func dilationArgs(t *testing.T, read *schedulerconfig.KubeSchedulerConfiguration, name string) *config.DilationArgs {
	t.Helper()
	args, err := config.LoadDilationArgs(pluginArgs(t, read, name, "Dilation"))
	must(t, err)
	return args
}

// pluginArgs returns the arguments of a plugin in the profile of a scheduler.
func pluginArgs(t *testing.T, read *schedulerconfig.KubeSchedulerConfiguration, name, plugin string) runtime.Object {
	t.Helper()
	for _, profile := range read.Profiles {
		for _, p := range profile.PluginConfig {
			if profile.SchedulerName == name && p.Name == plugin {
				return p.Args
			}
		}
	}
	t.Fatalf("there is no profile %q with arguments of %s", name, plugin)
	return nil
}

// queueSort returns what the profile of a scheduler sorts its queue by.
func queueSort(read *schedulerconfig.KubeSchedulerConfiguration) []string {
	var found []string
	for _, profile := range read.Profiles {
		for _, p := range profile.Plugins.QueueSort.Enabled {
			found = append(found, profile.SchedulerName+": "+p.Name)
		}
	}
	return found
}

// schedulerNames returns whose pods are placed.
func schedulerNames(read *schedulerconfig.KubeSchedulerConfiguration) []string {
	var found []string
	for _, profile := range read.Profiles {
		found = append(found, profile.SchedulerName)
	}
	return found
}

func TestTheSchedulerIsConfiguredByValues(t *testing.T) {
	t.Parallel()
	read := schedulerConfig(t, render(t, `
scheduler:
  schedulerName: batch
  dilation:
    weight: 20
    requests: [{resource: cpu, utilization: "0.5", minimum: 200m}, {resource: gpu, request: nvidia.com/gpu, minimum: 0}]
    syncTimeoutSeconds: 5
    objective: Packing
    packing: {maxDilation: 1.5}
    guard: {mode: Enforce}
    hold: {maxDilation: "2", maxWaitSeconds: 60}
    eventsPerSecond: 0
  percentageOfNodesToScore: 30
  parallelism: 8
  clientConnection: {qps: 200.5, burst: 400}
  config:
    podInitialBackoffSeconds: 2
    leaderElection: {leaseDuration: 30s}
limits: {minMaxDilation: "1.25", maxImportance: 2}
`))
	same(t, "whose pods it places", schedulerNames(read), []string{"batch"})
	same(t, "the arguments", dilationArgs(t, read, "batch"), &config.DilationArgs{
		SyncTimeoutSeconds: 5,
		Requests: []config.RequestRule{
			{Resource: "cpu", Request: "cpu", PerThread: 1, Utilization: 0.5, Minimum: 0.2},
			{Resource: "gpu", Request: "nvidia.com/gpu", PerThread: 1, Utilization: 1},
		},
		Objective: v1alpha1.ObjectivePacking, PackingMaxDilation: 1.5, GuardMode: v1alpha1.GuardEnforce,
		Limits:          config.Limits{MinMaxDilation: 1.25, MaxImportance: 2},
		HoldMaxDilation: 2, HoldMaxWait: time.Minute,
	})
	weight := int32(0)
	for _, plugin := range read.Profiles[0].Plugins.MultiPoint.Enabled {
		if plugin.Name == "Dilation" {
			weight = plugin.Weight
		}
	}
	same(t, "the weight", weight, 20)
	same(t, "the nodes that are scored", *read.PercentageOfNodesToScore, 30)
	same(t, "the threads", read.Parallelism, 8)
	same(t, "the rate", read.ClientConnection.QPS, 200.5)
	same(t, "the burst", read.ClientConnection.Burst, 400)
	same(t, "what config adds", read.PodInitialBackoffSeconds, 2)
	same(t, "what config changes", read.LeaderElection.LeaseDuration.Duration, 30*time.Second)
	same(t, "what config leaves", read.LeaderElection.ResourceName, scheduler)
	same(t, "where the lease is", read.LeaderElection.ResourceNamespace, "loadline-system")
}

func TestTheQueueIsSortedByPriorityUnlessAskedOtherwise(t *testing.T) {
	t.Parallel()
	same(t, "what is sorted by", queueSort(schedulerConfig(t, render(t, ""))), nil) // kube-scheduler's default
	read := schedulerConfig(t, render(t, `
scheduler:
  replaceDefault: true
  dilation: {syncTimeoutSeconds: 5}
  slaOrder: {enabled: true, discipline: HOL, maxWaitSeconds: 60, windowSeconds: 600}
`))
	same(t, "what is sorted by", queueSort(read), []string{"default-scheduler: SLAOrder", "loadline: SLAOrder"})
	for _, name := range schedulerNames(read) {
		args, err := config.LoadSLAOrderArgs(pluginArgs(t, read, name, "SLAOrder"))
		must(t, err)
		same(t, "the arguments", args, &config.SLAOrderArgs{Discipline: config.HOL, MaxWaitSeconds: 60, WindowSeconds: 600, SyncTimeoutSeconds: 5})
	}
	for what, values := range map[string]string{
		"the chart's defaults":             "scheduler: {slaOrder: {enabled: true}}",
		"values of a chart from before it": "scheduler: {slaOrder: {enabled: true, discipline: null, maxWaitSeconds: null, windowSeconds: null}}",
	} {
		args, err := config.LoadSLAOrderArgs(pluginArgs(t, schedulerConfig(t, render(t, values)), "loadline", "SLAOrder"))
		must(t, err)
		same(t, what, args, slaOrderDefaults(t))
	}
	same(t, "what is sorted by", queueSort(schedulerConfig(t, render(t, "scheduler: {slaOrder: null}"))), nil)
}

// slaOrderDefaults returns what the plugin's arguments are where none are given.
func slaOrderDefaults(t *testing.T) *config.SLAOrderArgs {
	t.Helper()
	args, err := config.LoadSLAOrderArgs(nil)
	must(t, err)
	return args
}

func TestPodsAreSpreadByKubeSchedulersConstraintsUnlessAskedOtherwise(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]schedulerconfig.PodTopologySpreadConstraintsDefaulting{
		"":                                      schedulerconfig.SystemDefaulting,
		"scheduler: {defaultSpreading: null}":   schedulerconfig.SystemDefaulting, // values of a chart from before it
		"scheduler: {defaultSpreading: System}": schedulerconfig.SystemDefaulting,
		"scheduler: {defaultSpreading: None}":   schedulerconfig.ListDefaulting,
	} {
		args, ok := pluginArgs(t, schedulerConfig(t, render(t, values)), "loadline", "PodTopologySpread").(*schedulerconfig.PodTopologySpreadArgs)
		if !ok || args.DefaultingType != want || len(args.DefaultConstraints) > 0 {
			t.Errorf("%q: the arguments are %+v, want %s and no constraints", values, args, want)
		}
	}
}

func TestInThePlaceOfKubeSchedulerItWaitsForItsLease(t *testing.T) {
	t.Parallel()
	all := render(t, "scheduler: {replaceDefault: true}")
	read := schedulerConfig(t, all)
	same(t, "whose pods it places", schedulerNames(read), []string{"default-scheduler", "loadline"})
	same(t, "the arguments", dilationArgs(t, read, "default-scheduler"), dilationArgs(t, read, "loadline"))
	same(t, "the lease", read.LeaderElection.ResourceNamespace+"/"+read.LeaderElection.ResourceName, "kube-system/kube-scheduler")
	same(t, "the leases of the release", names(all, "Lease"), []string{manager})
	same(t, "the roles of the release", names(all, "Role"), []string{"loadline-manager-leader"})
}

func TestAnotherConfigurationReplacesThePods(t *testing.T) {
	t.Parallel()
	checksum := func(values string) string {
		return deployment(t, render(t, values), scheduler).Spec.Template.Annotations["checksum/config"]
	}
	before := checksum("")
	if before == "" {
		t.Fatal("the pods have no checksum")
	}
	same(t, "the checksum of the same", checksum("manager: {replicas: 1}"), before)
	if checksum("scheduler: {parallelism: 4}") == before {
		t.Error("another configuration has the same checksum")
	}
}

// withoutArgs returns a configuration without the arguments of Dilation, which are
// text in it.
func withoutArgs(read *schedulerconfig.KubeSchedulerConfiguration) *schedulerconfig.KubeSchedulerConfiguration {
	read = read.DeepCopy()
	for i := range read.Profiles {
		profile := &read.Profiles[i]
		profile.PluginConfig = slices.DeleteFunc(profile.PluginConfig, func(p schedulerconfig.PluginConfig) bool { return p.Name == "Dilation" })
	}
	return read
}
