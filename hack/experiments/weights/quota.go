package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"loadline.dev/loadline/hack/experiments/weights/account"
)

// quotaRoot is the hierarchy of the controller of quotas, in version 1 of cgroups.
const quotaRoot = "/sys/fs/cgroup/cpu"

// mostShares is the largest weight there is, so that other processes matter little.
const mostShares = 262144

// period is how long a quota lasts, as the kubelet sets it.
const period = 100 * time.Millisecond

// quotaSettings are loadings and limits.
var quotaSettings = []struct{ loading, limit float64 }{{0.2, 0.3}, {0.5, 0.4}}

// distributions are those of bursts.
var distributions = []string{"constant", exponential}

const exponential = "exponential"

// leastCycles is how many bursts are measured at least.
const leastCycles = 12

// quotaBursts are lengths of bursts.
var quotaBursts = []time.Duration{
	time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond,
	300 * time.Millisecond,
}

// measureQuotas runs processes alone in cgroups with a quota and writes by how much longer they took.
func measureQuotas(ctx context.Context, o *options) (err error) {
	file, err := os.Create(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := csv.NewWriter(file)
	if err := out.Write([]string{"loading", "limit", "burst_ms", "distribution", "stretch"}); err != nil {
		return err
	}
	for _, s := range quotaSettings {
		for _, burst := range quotaBursts {
			idle := time.Duration(float64(burst) * (1/s.loading - 1))
			window := max(o.window, leastCycles*(burst+idle))
			stretches := make([]float64, len(distributions))
			group, running := errgroup.WithContext(ctx)
			for i, distribution := range distributions { // at the same time, for which there are cores
				group.Go(func() (err error) {
					stretches[i], err = throttled(running, window, s.limit, burst, idle, distribution)
					return err
				})
			}
			if err := group.Wait(); err != nil {
				return err
			}
			for i, distribution := range distributions {
				fmt.Fprintf(os.Stderr, "loading %v limit %v burst %v %s: %.3f\n", s.loading, s.limit, burst, distribution, stretches[i])
				err = out.Write([]string{
					number(s.loading), number(s.limit), strconv.FormatInt(burst.Milliseconds(), 10), distribution, number(stretches[i]),
				})
				if err != nil {
					return err
				}
			}
			out.Flush()
		}
	}
	return out.Error()
}

// throttled runs a process in a cgroup with a quota.
func throttled(ctx context.Context, window time.Duration, limit float64, burst, idle time.Duration, distribution string) (stretch float64, err error) {
	group := filepath.Join(quotaRoot, fmt.Sprintf("loadline-quota-%d-%s", os.Getpid(), distribution))
	if err := os.Mkdir(group, 0o755); err != nil {
		return 0, fmt.Errorf("%w (run as root, with cgroups of version 1)", err)
	}
	defer func() { err = errors.Join(err, os.Remove(group)) }()
	for name, value := range map[string]int64{
		"cpu.shares": mostShares, "cpu.cfs_period_us": period.Microseconds(), "cpu.cfs_quota_us": int64(limit * float64(period.Microseconds())),
	} {
		if err := os.WriteFile(filepath.Join(group, name), []byte(strconv.FormatInt(value, 10)), 0o644); err != nil {
			return 0, err
		}
	}
	report, err := os.CreateTemp("", "steady")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, report.Close(), os.Remove(report.Name())) }()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	from := time.Now().Add(2 * time.Second)
	to := from.Add(window)
	steady := exec.CommandContext(ctx, filepath.Join(filepath.Dir(self), "steady"),
		"--from", from.Format(time.RFC3339Nano), "--to", to.Format(time.RFC3339Nano), "--end", to.Format(time.RFC3339Nano),
		"--burst", burst.String(), "--idle", idle.String(), fmt.Sprintf("--exponential=%v", distribution == exponential), "--report", report.Name())
	steady.Stderr = os.Stderr
	if err := steady.Start(); err != nil {
		return 0, err
	}
	procs := filepath.Join(group, "cgroup.procs")
	err = os.WriteFile(procs, []byte(strconv.Itoa(steady.Process.Pid)), 0o644)
	if err := errors.Join(err, steady.Wait()); err != nil {
		return 0, err
	}
	content, err := os.ReadFile(report.Name())
	if err != nil {
		return 0, err
	}
	var a account.Account
	if err := json.Unmarshal(content, &a); err != nil {
		return 0, err
	}
	return 1 / a.Pace(), nil
}
