package comparison

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/hack/local"
)

// Scheduler is a real scheduler.
type Scheduler struct {
	// Name is that in the table.
	Name string
	// Profiles are those of its configuration, in YAML, and SchedulerName that of the first, which pods name.
	Profiles, SchedulerName string
}

// The names of the two schedulers that are not only a configuration of kube-scheduler.
const (
	// Loadline is configured as it is shipped.
	Loadline = "loadline"
	// Trimaran is a program of its own, which asks a load watcher.
	Trimaran = "trimaran"
)

//go:embed schedulers/*.yaml
var configurations embed.FS

// SchedulerNamed returns a scheduler by its name: [Loadline], that of a file in the folder schedulers, or the path of any
// such file, which ends in .yaml.
func SchedulerNamed(root, name string) (*Scheduler, error) {
	profiles, err := profilesOf(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("scheduler %q: is neither %s, nor in hack/comparison/schedulers, nor a file: %w", name, Loadline, err)
	}
	if err != nil {
		return nil, fmt.Errorf("scheduler %q: %w", name, err)
	}
	var content struct {
		Profiles []struct{ SchedulerName string }
	}
	if err := yaml.Unmarshal([]byte(profiles), &content); err != nil {
		return nil, fmt.Errorf("scheduler %q: %w", name, err)
	}
	if len(content.Profiles) == 0 || content.Profiles[0].SchedulerName == "" {
		return nil, fmt.Errorf("scheduler %q: profiles[0].schedulerName: is missing", name)
	}
	return &Scheduler{strings.TrimSuffix(filepath.Base(name), ".yaml"), profiles, content.Profiles[0].SchedulerName}, nil
}

func profilesOf(root, name string) (string, error) {
	if name == Loadline {
		return local.ShippedProfiles(root)
	}
	if strings.HasSuffix(name, ".yaml") {
		content, err := os.ReadFile(name)
		return string(content), err
	}
	content, err := configurations.ReadFile("schedulers/" + name + ".yaml")
	return string(content), err
}
