package main

import (
	"bytes"
	"strings"
	"testing"

	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"loadline.dev/loadline/pkg/plugins/dilation"
)

// The tests of this package do not run in parallel: commands share flags such
// as --version, which making one writes to.

func TestHelpTellsWhatTheSchedulerAddsAndHowToRunIt(t *testing.T) {
	command := newCommand()
	var help bytes.Buffer
	command.SetOut(&help)
	command.SetArgs([]string{"--help"})
	if err := command.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"loadline-scheduler", "Dilation", "SLAOrder", "WorkloadProfiles", "--config", "schedulerName: loadline"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("the help lacks %q:\n%s", want, help.String())
		}
	}
}

func TestTheConfigurationInTheExampleIsValidAndEnablesThePlugin(t *testing.T) {
	_, yaml, found := strings.Cut(newCommand().Long, "# scheduler.yaml\n")
	if !found {
		t.Fatal("the example has no scheduler.yaml")
	}
	yaml = strings.ReplaceAll("\n"+yaml, "\n  ", "\n")
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(yaml), nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, yaml)
	}
	config, ok := object.(*schedulerconfig.KubeSchedulerConfiguration)
	if !ok {
		t.Fatalf("the example is a %T", object)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(config); err != nil {
		t.Error(err)
	}
	profile := config.Profiles[0]
	if profile.SchedulerName != "loadline" {
		t.Errorf("the profile is for schedulerName %q, want loadline", profile.SchedulerName)
	}
	enabled := map[string]int32{}
	for _, p := range profile.Plugins.MultiPoint.Enabled {
		enabled[p.Name] = p.Weight
	}
	if enabled[dilation.Name] != 10 {
		t.Errorf("the plugin has weight %d, want 10", enabled[dilation.Name])
	}
	if _, ok := enabled["NodeAffinity"]; !ok {
		t.Error("the default plugins are gone")
	}
}
