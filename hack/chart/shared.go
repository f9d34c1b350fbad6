package main

import (
	"os"
	"path/filepath"
)

// shared are the files of config that the chart has too, by the chart's folder.
var shared = map[string][]string{
	"crd": {"crd/loadline.dev_*.yaml"},
	"rbac": {
		"rbac/role.yaml", "rbac/measurer.yaml", "rbac/replayer.yaml", "rbac/scaler.yaml", "remediation/remediator.yaml", "rbac/users.yaml", "rbac/plugin.yaml",
		"rbac/metrics-reader.yaml", "gauge/gauge.yaml", "gauge/gauge-user.yaml", "ui/ui.yaml",
	},
	"admission": {
		"admission/labels.yaml", "admission/limits.yaml", "admission/measurement.yaml", "admission/pool-placement.yaml", "admission/replay.yaml",
		"admission/remediation.yaml",
	},
}

// copyShared copies the shared files, and removes copies of what is there no more.
func copyShared(config, files string) error {
	for folder, patterns := range shared {
		to := filepath.Join(files, folder)
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		for _, pattern := range patterns {
			if err := copyAll(filepath.Join(config, pattern), to); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyAll copies the files that a pattern matches, at least one, into a folder.
func copyAll(pattern, to string) error {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return &os.PathError{Op: "copy", Path: pattern, Err: os.ErrNotExist}
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
