//go:build e2e

package install

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crash kills the program of a pod, so that it cannot announce its end. Where the
// pod does not run on this machine, it is deleted, and given no time.
func crash(t *testing.T, pod *corev1.Pod, program string) {
	t.Helper()
	pids := processes(t, pod, program)
	if len(pids) == 0 {
		t.Logf("%s does not run on this machine, and is deleted instead", pod.Name)
		must(t, cluster.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	}
	for _, pid := range pids {
		must(t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// processes returns the processes of this machine that run a program in a pod.
func processes(t *testing.T, pod *corev1.Pod, program string) []int {
	t.Helper()
	const nameLength = 15 // of what Linux tells of the name of a process
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	must(t, err)
	var pids []int
	for _, file := range files {
		dir := filepath.Dir(file)
		groups, gone := os.ReadFile(file)
		name, goneToo := os.ReadFile(filepath.Join(dir, "comm"))
		if gone != nil || goneToo != nil || !strings.Contains(string(groups), string(pod.UID)) {
			continue
		}
		if strings.TrimSpace(string(name)) == program[:min(len(program), nameLength)] {
			pid, err := strconv.Atoi(filepath.Base(dir))
			must(t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}
