//go:build linux

package dockerd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"loadline.dev/loadline/hack/cluster/node"
)

// saveSettings writes the values of those settings that a kubelet changes, as far as the kernel has them, below the folder sys into a file, unless it is there: then it
// is of a daemon that was killed, and the values now are not the machine's own.
func saveSettings(sys, file string) error {
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	values := map[string]string{}
	for name := range node.KernelSettings { // a privileged container has no others
		value, err := os.ReadFile(filepath.Join(sys, name))
		if errors.Is(err, os.ErrNotExist) { // this kernel has no such setting
			continue
		}
		if err != nil {
			return err
		}
		values[name] = string(value)
	}
	text, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// restoreSettings gives the settings the values in a file that saveSettings has written, if there is one, and removes it.
func restoreSettings(sys, file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var values map[string]string
	if err := json.Unmarshal(text, &values); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var errs []error
	for name, value := range values {
		errs = append(errs, os.WriteFile(filepath.Join(sys, name), []byte(value), 0o644))
	}
	return errors.Join(append(errs, os.Remove(file))...)
}
