package perf

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Script is a test case of scheduler_perf with one workload, as upstream's loader reads it, with the operations added that observe
// the cluster and that create the profiles of its pods.
//
// Upstream runs one operation after the other, and calls the benchmark back after each createNodes. So the operations that are added
// to observe create no node.
type Script struct {
	Case map[string]any
	// Steps are what the benchmark does when it is called back, a step for each createNodes of the test case, in order.
	Steps []Step
	// SchedulerConfig is the path of the test case's own scheduler configuration, empty if it has none.
	SchedulerConfig string
}

// Step is what the benchmark does after a createNodes. The zero value does nothing.
type Step struct {
	// Await are namespaces whose profiles the scheduler must have read before the script goes on.
	Await []string
	// Observe says that what is measured begins or ends here.
	Observe Observation
}

// Observation is what an observation of the cluster is the beginning or the end of.
type Observation int

// The observations. A script has one of Begin, then one of End.
const (
	None Observation = iota
	Begin
	End
)

// Adaptation says how a test case of scheduler_perf is made a [Script].
type Adaptation struct {
	// Case is the name of the test case, and Workload which of its workloads is kept; the first one if it is empty.
	Case, Workload string
	// Folder is the folder to which paths in the test case are relative.
	Folder string
	// Scheduler is the path of the scheduler configuration to use.
	Scheduler string
	// Profile is the path of a WorkloadProfile to create in each namespace with pods, empty for none.
	Profile string
}

// Adapt makes a script of one of the test cases of a performance-config.yaml. The script has no threshold, and collects the
// metrics that [Figures] have.
func (a Adaptation) Adapt(config []byte) (*Script, error) {
	var cases []map[string]any
	if err := yaml.Unmarshal(config, &cases); err != nil {
		return nil, fmt.Errorf("reading test cases: %w", err)
	}
	i := slices.IndexFunc(cases, func(c map[string]any) bool { return c["name"] == a.Case })
	if i < 0 {
		return nil, fmt.Errorf("there is no test case %s", a.Case)
	}
	s := &scripting{Adaptation: a, profiled: map[string]bool{}}
	if err := s.adapt(cases[i]); err != nil {
		return nil, fmt.Errorf("test case %s: %w", a.Case, err)
	}
	return &s.script, nil
}

// scripting makes one script.
type scripting struct {
	Adaptation
	script   Script
	params   map[string]any
	ops      []any
	profiled map[string]bool // namespaces that have a profile
}

func (s *scripting) adapt(from map[string]any) error {
	workload, err := s.workload(from)
	if err != nil {
		return err
	}
	s.params, _ = workload["params"].(map[string]any)
	template, err := listOf(from, "workloadTemplate")
	if err != nil {
		return err
	}
	for i, op := range template {
		if err := s.operation(i, op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	var observed []Observation
	for _, step := range s.script.Steps {
		if step.Observe != None {
			observed = append(observed, step.Observe)
		}
	}
	if !slices.Equal(observed, []Observation{Begin, End}) {
		return errors.New("want one operation that collects metrics")
	}

	if own, is := from["schedulerConfigPath"].(string); is {
		s.script.SchedulerConfig = filepath.Join(s.Folder, own)
	}
	to := maps.Clone(from)
	delete(to, "defaultThresholdMetricSelector")
	to["workloadTemplate"], to["workloads"] = s.ops, []any{workload}
	to["schedulerConfigPath"], to["metricsCollectorConfig"] = s.Scheduler, metricsCollected()
	s.absolute(to)
	s.script.Case = to
	return nil
}

// metricsCollected are upstream's histograms of which the figures have averages.
func metricsCollected() map[string]any {
	return map[string]any{"metrics": map[string]any{
		extensionPointDuration: []any{map[string]any{"label": "extension_point", "values": []any{"PreScore", "Score"}}},
	}}
}

const extensionPointDuration = "scheduler_framework_extension_point_duration_seconds"

// workload returns the workload that is kept, without a threshold, and with the label by which upstream chooses what to run.
func (s *scripting) workload(from map[string]any) (map[string]any, error) {
	workloads, err := listOf(from, "workloads")
	if err != nil {
		return nil, err
	}
	for _, w := range workloads {
		if s.Workload != "" && w["name"] != s.Workload {
			continue
		}
		kept := maps.Clone(w)
		delete(kept, "threshold")
		delete(kept, "thresholdMetricSelector")
		kept["labels"] = []any{"performance"}
		return kept, nil
	}
	return nil, fmt.Errorf("there is no workload %s", s.Workload)
}

// operation adds the i-th operation of the template, and what belongs before and after it.
func (s *scripting) operation(i int, from map[string]any) error {
	op := maps.Clone(from)
	s.absolute(op)
	namespaces, err := s.namespaces(i, op)
	if err != nil {
		return err
	}
	before := Step{Await: s.createProfiles(namespaces)}
	collects := op["collectMetrics"] == true
	if collects || op["opcode"] == "startCollectingMetrics" {
		before.Observe = Begin
	}
	if before.Await != nil || before.Observe != None {
		s.observe(before)
	}
	s.ops = append(s.ops, op)
	if op["opcode"] == "createNodes" {
		s.script.Steps = append(s.script.Steps, Step{})
	}
	if collects || op["opcode"] == "stopCollectingMetrics" {
		s.observe(Step{Observe: End})
	}
	return nil
}

// observe adds an operation after which the benchmark is called back.
func (s *scripting) observe(step Step) {
	s.ops = append(s.ops, map[string]any{"opcode": "createNodes", "count": 0})
	s.script.Steps = append(s.script.Steps, step)
}

// createProfiles adds operations that create profiles in namespaces that have none, and returns these.
func (s *scripting) createProfiles(namespaces []string) []string {
	var created []string
	for _, namespace := range namespaces {
		if s.Profile == "" || s.profiled[namespace] {
			continue
		}
		s.profiled[namespace] = true
		created = append(created, namespace)
		s.ops = append(s.ops, map[string]any{"opcode": "createAny", "namespace": namespace, "templatePath": s.Profile})
	}
	return created
}

// namespaces returns the namespaces in which an operation creates pods. Upstream names one after the number of the operation where it
// has no name. This changes when operations are added, and so becomes explicit: other operations refer to it.
func (s *scripting) namespaces(i int, op map[string]any) ([]string, error) {
	switch op["opcode"] {
	case "createPods", "churn":
		if op["namespace"] == nil {
			op["namespace"] = fmt.Sprintf("namespace-%d", i)
		}
		return []string{fmt.Sprint(op["namespace"])}, nil
	case "createPodSets":
		count, err := s.count(op)
		if err != nil {
			return nil, err
		}
		var namespaces []string
		for j := range count {
			namespaces = append(namespaces, fmt.Sprintf("%v-%d", op["namespacePrefix"], j))
		}
		return namespaces, nil
	default:
		return nil, nil
	}
}

// count returns how many objects an operation creates.
func (s *scripting) count(op map[string]any) (int, error) {
	value := op["count"]
	if param, is := op["countParam"].(string); is {
		value = s.params[strings.TrimPrefix(param, "$")]
	}
	count, is := value.(float64) // as JSON has it
	if !is {
		return 0, fmt.Errorf("want count or countParam to be a number, got %v", value)
	}
	return int(count), nil
}

// absolute makes the paths of templates absolute that are in an object of a test case, or in one of its fields.
func (s *scripting) absolute(object map[string]any) {
	for key, value := range object {
		switch value := value.(type) {
		case string:
			if strings.HasSuffix(key, "emplatePath") {
				object[key] = filepath.Join(s.Folder, value)
			}
		case []any:
			if key == "templatePaths" {
				object[key] = s.absolutePaths(value)
			}
		case map[string]any:
			nested := maps.Clone(value)
			s.absolute(nested)
			object[key] = nested
		}
	}
}

func (s *scripting) absolutePaths(paths []any) []any {
	var absolute []any
	for _, path := range paths {
		absolute = append(absolute, filepath.Join(s.Folder, fmt.Sprint(path)))
	}
	return absolute
}

// listOf returns a field of an object that is a list of objects.
func listOf(object map[string]any, field string) ([]map[string]any, error) {
	list, is := object[field].([]any)
	if !is {
		return nil, fmt.Errorf("want %s to be a list, got %T", field, object[field])
	}
	objects := make([]map[string]any, len(list))
	for i, item := range list {
		if objects[i], is = item.(map[string]any); !is {
			return nil, fmt.Errorf("want %s[%d] to be an object, got %T", field, i, item)
		}
	}
	return objects, nil
}

// WithPluginConfig adds to a scheduler configuration the arguments that another one has for plugins, but for plugins that have
// arguments already. Each has one profile.
func WithPluginConfig(config, other []byte) (map[string]any, error) {
	to, profile, err := schedulerProfile(config)
	if err != nil {
		return nil, err
	}
	_, from, err := schedulerProfile(other)
	if err != nil {
		return nil, err
	}
	pluginConfig, _ := profile["pluginConfig"].([]any)
	added, _ := from["pluginConfig"].([]any)
	for _, entry := range added {
		if !slices.ContainsFunc(pluginConfig, func(ours any) bool { return pluginName(ours) == pluginName(entry) }) {
			pluginConfig = append(pluginConfig, entry)
		}
	}
	profile["pluginConfig"] = pluginConfig
	return to, nil
}

// schedulerProfile reads a scheduler configuration with one profile.
func schedulerProfile(data []byte) (config, profile map[string]any, err error) {
	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, nil, fmt.Errorf("reading a scheduler configuration: %w", err)
	}
	profiles, err := listOf(config, "profiles")
	if err != nil {
		return nil, nil, fmt.Errorf("reading a scheduler configuration: %w", err)
	}
	if len(profiles) != 1 {
		return nil, nil, fmt.Errorf("want a scheduler configuration with one profile, got %d", len(profiles))
	}
	return config, profiles[0], nil
}

// pluginName returns the plugin that an entry of pluginConfig is about.
func pluginName(entry any) any {
	object, _ := entry.(map[string]any)
	return object["name"]
}
