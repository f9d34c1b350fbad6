package validate

import (
	"encoding/json"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
)

// The kinds of a scheduler's configuration that hold arguments of our plugin.
const (
	schedulerKind = "KubeSchedulerConfiguration"
	argsKind      = "DilationArgs"
	plugin        = "Dilation"
)

// scheduler checks what a scheduler's configuration says of our plugin, and reports
// whether the value is such a configuration. What it says of others is not checked.
func (c *checker) scheduler(v *value) bool {
	fields, _ := v.json.(map[string]any)
	name := nameOf(fields)
	switch {
	case name.Kind == argsKind && fields["apiVersion"] == configv1alpha1.GroupVersion.String():
		c.arguments(v, name, nil)
	case name.Kind == schedulerKind:
		profiles, _ := fields["profiles"].([]any)
		for i := range profiles {
			plugins, _ := path{"profiles", i, "pluginConfig"}.in(fields)
			list, _ := plugins.([]any)
			for k, one := range list {
				if called, _ := (path{"name"}).in(one); called == plugin {
					c.arguments(v, name, path{"profiles", i, "pluginConfig", k, "args"})
				}
			}
		}
	default:
		return false
	}
	c.answer.Objects++
	return true
}

// arguments checks the arguments of our plugin, which are at a path of a value.
func (c *checker) arguments(v *value, name ObjectName, at path) {
	args, _ := at.in(v.json)
	text, err := json.Marshal(args)
	if err == nil {
		_, err = config.LoadDilationArgs(&runtime.Unknown{Raw: text})
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
		c.answer.Findings = append(c.answer.Findings, f)
	}
}
