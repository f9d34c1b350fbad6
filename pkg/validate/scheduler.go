package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/pkg/evaluate/installation"
)

// schedulerKind is the kind of a scheduler's configuration.
const schedulerKind = "KubeSchedulerConfiguration"

// plugins are ours. The kind of the arguments of one is its name with Args behind it.
var plugins = []string{installation.DilationPlugin, installation.SLAOrderPlugin}

// readArguments returns how the arguments of our plugins are read, nil for others.
func readArguments(plugin string) func(runtime.Object) error {
	switch plugin {
	case installation.DilationPlugin:
		return func(o runtime.Object) error { _, err := config.LoadDilationArgs(o); return err }
	case installation.SLAOrderPlugin:
		return func(o runtime.Object) error { _, err := config.LoadSLAOrderArgs(o); return err }
	default:
		return nil
	}
}

// scheduler checks what a scheduler's configuration says of our plugins, and reports whether the value is such a
// configuration. Other plugins are not checked.
func (c *checker) scheduler(v *value) bool {
	fields, _ := v.json.(map[string]any)
	name := nameOf(fields)
	plugin, isArguments := strings.CutSuffix(name.Kind, "Args")
	switch {
	case isArguments && readArguments(plugin) != nil && fields["apiVersion"] == configv1alpha1.GroupVersion.String():
		c.arguments(v, name, nil, readArguments(plugin))
	case name.Kind == schedulerKind:
		c.configuration(v, name)
	default:
		return false
	}
	c.answer.Objects++
	return true
}

// configuration checks a KubeSchedulerConfiguration.
func (c *checker) configuration(v *value, name ObjectName) {
	if version, read := v.json.(map[string]any)["apiVersion"], kubeschedulerv1.SchemeGroupVersion.String(); version != read { //nolint:errcheck // nameOf found a kind in it
		c.reportScheduler(v, name, path{"apiVersion"}, Error, "the scheduler reads "+read)
		return
	}
	text, err := json.Marshal(v.json)
	if err != nil {
		return // the document was read from JSON
	}
	var written kubeschedulerv1.KubeSchedulerConfiguration
	var decoder decode.Decoder
	if err := decoder.Object(text, &written); err != nil {
		c.refusedByScheduler(v, name, nil, err)
		return
	}
	enables := false
	for i := range written.Profiles {
		p := &written.Profiles[i]
		enables = enables || Enables(p, installation.DilationPlugin)
		c.misspelt(v, name, p.Plugins, path{"profiles", i, "plugins"})
		for k := range p.PluginConfig {
			c.pluginConfig(v, name, p, k, path{"profiles", i, "pluginConfig", k})
		}
	}
	if !enables {
		c.reportScheduler(v, name, path{"profiles"}, Warning,
			"no profile enables the plugin "+installation.DilationPlugin+": the scheduler would not go by how much pods slow each other down")
	}
}

// pluginConfig checks the arguments of a plugin of ours, and that the profile enables it.
func (c *checker) pluginConfig(v *value, name ObjectName, p *kubeschedulerv1.KubeSchedulerProfile, k int, at path) {
	plugin := p.PluginConfig[k].Name
	read := readArguments(plugin)
	switch near := closest(plugin, plugins); {
	case read == nil && near != "":
		c.reportScheduler(v, name, at.child("name"), Warning, fmt.Sprintf("there is no plugin %s, and nothing reads its arguments: write name: %s", plugin, near))
	case read == nil:
	default:
		c.arguments(v, name, at.child("args"), read)
		if !Enables(p, plugin) {
			c.reportScheduler(v, name, at, Warning, "the profile does not enable the plugin "+plugin+", so nothing reads its arguments")
		}
	}
}

// Enables reports whether a profile of a scheduler's configuration enables a plugin of ours at the extension points that it
// is for: as one plugin for all of them, or to score nodes, or to sort the queue.
func Enables(p *kubeschedulerv1.KubeSchedulerProfile, plugin string) bool {
	if p.Plugins == nil {
		return false
	}
	is := func(p kubeschedulerv1.Plugin) bool { return p.Name == plugin }
	off := func(p kubeschedulerv1.Plugin) bool { return p.Name == plugin || p.Name == "*" }
	own := p.Plugins.Score
	if plugin == installation.SLAOrderPlugin {
		own = p.Plugins.QueueSort
	}
	return slices.ContainsFunc(own.Enabled, is) || slices.ContainsFunc(p.Plugins.MultiPoint.Enabled, is) && !slices.ContainsFunc(own.Disabled, off)
}

// misspelt finds plugins whose names are nearly those of ours: the scheduler has none of that name.
func (c *checker) misspelt(v *value, name ObjectName, enabled *kubeschedulerv1.Plugins, at path) {
	if enabled == nil {
		return
	}
	for _, point := range []struct {
		name string
		set  *kubeschedulerv1.PluginSet
	}{
		{"multiPoint", &enabled.MultiPoint},
		{"queueSort", &enabled.QueueSort},
		{"filter", &enabled.Filter},
		{"preScore", &enabled.PreScore},
		{"score", &enabled.Score},
		{"reserve", &enabled.Reserve},
	} {
		for i, p := range point.set.Enabled {
			if near := closest(p.Name, plugins); near != "" && !slices.Contains(plugins, p.Name) {
				c.reportScheduler(v, name, slices.Concat(at, path{point.name, "enabled", i, "name"}), Error,
					fmt.Sprintf("there is no plugin %s, for which the scheduler ends when it starts: write name: %s", p.Name, near))
			}
		}
	}
}

// arguments checks the arguments of a plugin of ours, which are at a path of a value.
func (c *checker) arguments(v *value, name ObjectName, at path, read func(runtime.Object) error) {
	args, _ := at.in(v.json)
	text, err := json.Marshal(args)
	if err == nil {
		err = read(&runtime.Unknown{Raw: text})
	}
	c.refusedByScheduler(v, name, at, err)
}

// refusedByScheduler adds the problems for which the scheduler ends when it starts, below a path of a value.
func (c *checker) refusedByScheduler(v *value, name ObjectName, at path, err error) {
	if err == nil {
		return
	}
	for _, each := range errorsIn(err) {
		below, problem := path(nil), each.Error()
		if wrong, is := errors.AsType[*field.Error](each); is {
			below, problem = parsePath(wrong.Field), detail(wrong)
		}
		c.reportScheduler(v, name, slices.Concat(at, below), Error, problem)
	}
}

// reportScheduler adds the scheduler's problem with a field.
func (c *checker) reportScheduler(v *value, name ObjectName, at path, level, problem string) {
	f := v.at(at, problem)
	f.By, f.Object, f.Level = ByScheduler, &name, level
	c.answer.add(f)
}
