package deployed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/text"
	"loadline.dev/loadline/pkg/validate"
)

// SchedulerConfig is the Loadline part of a KubeSchedulerConfiguration.
type SchedulerConfig struct {
	// Names are the schedulers that place pods by dilation.
	Names []string
	// args are the arguments of the plugin, per scheduler.
	args map[string]*config.DilationArgs
	// Elects reports whether replicas elect a leader, and ElectionNamespace where.
	Elects            bool
	ElectionNamespace string
}

// ElectionNamespace is where schedulers elect their leader, unless their configuration
// says otherwise.
const ElectionNamespace = "kube-system"

// ReadSchedulerConfig reads a KubeSchedulerConfiguration.
func ReadSchedulerConfig(content []byte) (*SchedulerConfig, error) {
	text, err := decode.JSON(content)
	if err != nil {
		return nil, err
	}
	var written kubeschedulerv1.KubeSchedulerConfiguration
	if err := (&decode.Decoder{Lenient: true}).Object(text, &written); err != nil {
		return nil, err
	}
	if written.Kind != "KubeSchedulerConfiguration" {
		return nil, fmt.Errorf("kind: %q is not KubeSchedulerConfiguration", written.Kind)
	}
	c := &SchedulerConfig{
		args: map[string]*config.DilationArgs{}, Elects: true, ElectionNamespace: cmp.Or(written.LeaderElection.ResourceNamespace, ElectionNamespace),
	}
	if elects := written.LeaderElection.LeaderElect; elects != nil {
		c.Elects = *elects
	}
	for i := range written.Profiles {
		p := &written.Profiles[i]
		if !validate.Enables(p, installation.DilationPlugin) {
			continue
		}
		name := corev1.DefaultSchedulerName
		if p.SchedulerName != nil {
			name = *p.SchedulerName
		}
		args, err := dilationArgs(p.PluginConfig)
		if err != nil {
			return nil, fmt.Errorf("profiles[%d]: %w", i, err)
		}
		c.Names = append(c.Names, name)
		c.args[name] = args
	}
	return c, nil
}

func dilationArgs(plugins []kubeschedulerv1.PluginConfig) (*config.DilationArgs, error) {
	for i := range plugins {
		if plugins[i].Name == installation.DilationPlugin {
			return config.LoadDilationArgs(&runtime.Unknown{Raw: plugins[i].Args.Raw})
		}
	}
	return config.LoadDilationArgs(nil)
}

// Args returns the arguments of the plugin that a scheduler goes by, the default one if it
// has no name, and those of the first scheduler for pods of another. A nil configuration
// has the defaults.
func (c *SchedulerConfig) Args(scheduler string) (*config.DilationArgs, error) {
	if c == nil || len(c.Names) == 0 {
		return config.LoadDilationArgs(nil)
	}
	if own, ok := c.args[cmp.Or(scheduler, corev1.DefaultSchedulerName)]; ok {
		return own, nil
	}
	return c.args[c.Names[0]], nil
}

// errNoScheduler says that there is no configuration to read.
var errNoScheduler = errors.New("there is no loadline-scheduler in the cluster")

// FindSchedulerConfig reads the configuration that the scheduler among some components
// has, and says where it is.
func FindSchedulerConfig(ctx context.Context, c client.Client, components []installation.Component) (*SchedulerConfig, string, error) {
	i := slices.IndexFunc(components, func(c installation.Component) bool { return c.Name == installation.Scheduler })
	if i < 0 {
		return nil, "", errNoScheduler
	}
	d := components[i].Object
	name, key, err := configFileOf(&d.Spec.Template.Spec)
	if err != nil {
		return nil, "", fmt.Errorf("the Deployment %s: %w", text.QualifiedName(d), err)
	}
	file := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: name}, file); err != nil {
		return nil, "", fmt.Errorf("reading ConfigMap %s/%s: %w", d.Namespace, name, err)
	}
	where := fmt.Sprintf("ConfigMap %s, %s", text.QualifiedName(file), key)
	content, there := file.Data[key]
	if !there {
		return nil, "", fmt.Errorf("%s: there is no such key", where)
	}
	config, err := ReadSchedulerConfig([]byte(content))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", where, err)
	}
	return config, where, nil
}

// configFileOf returns the ConfigMap, and its key, that a scheduler's --config is of.
func configFileOf(pod *corev1.PodSpec) (name, key string, err error) {
	for i := range pod.Containers {
		container := &pod.Containers[i]
		file := configFlag(slices.Concat(container.Command, container.Args))
		for _, mount := range container.VolumeMounts {
			within, mounted := strings.CutPrefix(file+"/", path.Clean(mount.MountPath)+"/")
			if !mounted {
				continue
			}
			if name, key := configMapOf(pod.Volumes, mount.Name, path.Join(mount.SubPath, within)); name != "" {
				return name, key, nil
			}
		}
	}
	return "", "", errors.New("its --config is no file of a ConfigMap")
}

// configFlag returns the value of --config.
func configFlag(args []string) string {
	for i, arg := range args {
		if file, ok := strings.CutPrefix(arg, "--config="); ok {
			return path.Clean(file)
		}
		if arg == "--config" && i+1 < len(args) {
			return path.Clean(args[i+1])
		}
	}
	return ""
}

// configMapOf returns the ConfigMap of a volume, and the key of a file in it.
func configMapOf(volumes []corev1.Volume, name, file string) (configMap, key string) {
	for i := range volumes {
		source := volumes[i].ConfigMap
		if volumes[i].Name != name || source == nil {
			continue
		}
		for _, item := range source.Items {
			if item.Path == file {
				return source.Name, item.Key
			}
		}
		return source.Name, file
	}
	return "", ""
}
