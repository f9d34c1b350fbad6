package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// PrometheusVariable is the environment variable that names the prometheus to
// start.
const PrometheusVariable = "LOADLINE_PROMETHEUS"

// findPrometheus returns the path of a prometheus: the one that the environment
// names, the one that make builds, or the one on PATH.
func findPrometheus(root string) (string, error) {
	if path := os.Getenv(PrometheusVariable); path != "" {
		return path, nil
	}
	if built := filepath.Join(root, "bin", "tools", "prometheus"); exists(built) {
		return built, nil
	}
	path, err := exec.LookPath("prometheus")
	if err != nil {
		return "", fmt.Errorf("there is no prometheus: run make prometheus, install one, or name one in %s: %w", PrometheusVariable, err)
	}
	return path, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// StartPrometheus starts a Prometheus that scrapes an address (HOST:PORT) in an
// interval, and waits until it is ready. It keeps its files in dir.
func StartPrometheus(ctx context.Context, root, dir string, interval time.Duration, address string) (*Process, error) {
	binary, err := findPrometheus(root)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "prometheus.yaml")
	content := fmt.Sprintf(`global: {scrape_interval: %[1]s, scrape_timeout: %[1]s}
scrape_configs:
- job_name: test
  static_configs: [{targets: [%[2]q]}]
`, interval, address)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(config, []byte(content), 0o600)); err != nil {
		return nil, fmt.Errorf("writing the configuration of Prometheus: %w", err)
	}
	return startOnFreePort(ctx, "http", "/-/ready", binary, func(port string) []string {
		return []string{
			"--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "data"),
			"--web.listen-address", "127.0.0.1:" + port, "--log.level", "warn",
		}
	})
}
