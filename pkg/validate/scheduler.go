package validate

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
)

// schedulerKind is the kind of a scheduler's configuration.
const schedulerKind = "KubeSchedulerConfiguration"

// readArguments returns how the arguments of our plugins are read, nil for others. Their
// kind is the name of the plugin with Args behind it.
func readArguments(plugin string) func(runtime.Object) error {
	switch plugin {
	case "Dilation":
		return func(o runtime.Object) error { _, err := config.LoadDilationArgs(o); return err }
	case "SLAOrder":
		return func(o runtime.Object) error { _, err := config.LoadSLAOrderArgs(o); return err }
	default:
		return nil
	}
}

// scheduler checks what a scheduler's configuration says of our plugins, and reports
// whether the value is such a configuration. What it says of others is not checked.
func (c *checker) scheduler(v *value) bool {
	fields, _ := v.json.(map[string]any)
	name := nameOf(fields)
	plugin, isArguments := strings.CutSuffix(name.Kind, "Args")
	switch {
	case isArguments && readArguments(plugin) != nil && fields["apiVersion"] == configv1alpha1.GroupVersion.String():
		c.arguments(v, name, nil, readArguments(plugin))
	case name.Kind == schedulerKind:
		profiles, _ := fields["profiles"].([]any)
		for i := range profiles {
			plugins, _ := path{"profiles", i, "pluginConfig"}.in(fields)
			list, _ := plugins.([]any)
			for k, one := range list {
				called, _ := (path{"name"}).in(one)
				plugin, _ := called.(string)
				if read := readArguments(plugin); read != nil {
					c.arguments(v, name, path{"profiles", i, "pluginConfig", k, "args"}, read)
				}
			}
		}
	default:
		return false
	}
	c.answer.Objects++
	return true
}

// arguments checks the arguments of a plugin of ours, which are at a path of a value.
func (c *checker) arguments(v *value, name ObjectName, at path, read func(runtime.Object) error) {
	args, _ := at.in(v.json)
	text, err := json.Marshal(args)
	if err == nil {
		err = read(&runtime.Unknown{Raw: text})
	}
	if err == nil {
		return
	}
	for _, each := range errorsIn(err) {
		below, problem := path(nil), each.Error()
		if wrong, is := errors.AsType[*field.Error](each); is {
			below, problem = parsePath(wrong.Field), detail(wrong)
		}
		f := v.at(slices.Concat(at, below), problem)
		f.By, f.Object = ByScheduler, &name
		c.answer.add(f)
	}
}
