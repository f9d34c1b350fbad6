package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// machinery are the cgroups, of version 1 and 2, of the programs that make up the cluster: see hack/cluster.
var machinery = []string{"/sys/fs/cgroup/cpu/loadline/machinery", "/sys/fs/cgroup/loadline/machinery"}

// clusterPrograms are those that may be stopped for a while, by their names in the kernel.
var clusterPrograms = []string{
	"etcd", "kube-apiserver", "kube-controller", "kube-scheduler", "kubelet", "kube-proxy", "containerd",
}

// pause stops the programs of the cluster, which share the cores of a node that has all of the machine's, and returns
// what lets them go on. Nodes are missed after 40 s only.
func pause() (resume func() error, err error) {
	var stopped []int
	resume = func() error {
		var errs []error
		for _, pid := range stopped {
			if err := syscall.Kill(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) {
				errs = append(errs, err)
			}
		}
		stopped = nil
		return errors.Join(errs...)
	}
	for _, group := range machinery {
		procs, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, resume())
		}
		for text := range strings.FieldsSeq(string(procs)) {
			pid, err := strconv.Atoi(text)
			if err != nil {
				return nil, errors.Join(err, resume())
			}
			name, err := os.ReadFile("/proc/" + text + "/comm")
			if err != nil || !slices.Contains(clusterPrograms, strings.TrimSpace(string(name))) {
				continue // it has ended, or is none
			}
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				return nil, errors.Join(err, resume())
			}
			stopped = append(stopped, pid)
		}
	}
	return resume, nil
}
