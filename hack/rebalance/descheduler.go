package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// descheduler is the descheduler of Kubernetes, its own program, with the plugin LowNodeUtilization. It runs once each time.
type descheduler struct {
	program string
	// thresholds are arguments of the plugin: below and above which use of the CPU a node has too little and too much to do.
	thresholds string
	// limit is the largest number of pods that it evicts each time, 0 for any.
	limit int
}

// policy returns the configuration. Pods are evicted only where another node has room for what they request.
func (d *descheduler) policy() string {
	limit := ""
	if d.limit > 0 {
		limit = fmt.Sprintf("maxNoOfPodsToEvictTotal: %d\n", d.limit)
	}
	return limit + fmt.Sprintf(`apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
metricsProviders: [{source: KubernetesMetrics}]
profiles:
- name: rebalance
  pluginConfig:
  - {name: DefaultEvictor, args: {nodeFit: true}}
  - {name: LowNodeUtilization, args: {metricsUtilization: {source: KubernetesMetrics}, %s}}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
`, d.thresholds)
}

// evict returns the pods that it evicts of a cluster, in that order, given how many processors each keeps busy.
func (d *descheduler) evict(ctx context.Context, c *cluster, use map[int]float64) (evicted []int, err error) {
	server, err := startAPIServer(ctx, c, use)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	dir, err := os.MkdirTemp("", "loadline-rebalance-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	kubeconfig, policy := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "policy.yaml")
	if err := errors.Join(os.WriteFile(kubeconfig, []byte(server.kubeconfig()), 0o600), os.WriteFile(policy, []byte(d.policy()), 0o600)); err != nil {
		return nil, err
	}
	const qps = "5000"
	command := exec.CommandContext(ctx, d.program, "--kubeconfig", kubeconfig, "--policy-config-file", policy, "--disable-metrics", "--secure-port", "0",
		"--client-connection-qps", qps, "--client-connection-burst", qps, "--v", "1")
	log, err := command.CombinedOutput()
	if err != nil || !ran(string(log)) {
		return nil, fmt.Errorf("the descheduler has not run to its end: %w\n%s", errors.Join(err, ctx.Err()), log)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	return server.evicted, nil
}

// limitReached is what the descheduler logs as an error where it evicts no more pods because of its limit.
const limitReached = "maximum number of evicted pods per a descheduling cycle reached"

// ran reports whether the descheduler has got to the end of its work without an error, by what it logs.
func ran(log string) bool {
	if !strings.Contains(log, "Number of evictions/requests") {
		return false
	}
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "E") && !strings.Contains(line, limitReached) {
			return false
		}
	}
	return true
}
