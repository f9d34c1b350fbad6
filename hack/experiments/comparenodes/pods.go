package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/program"
	"loadline.dev/loadline/hack/experiments/start"
)

// image is the program that pods run.
const image = "workload"

// findGoRoot returns the folder with the standard library, for compilers.
func findGoRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("finding the standard library: %w", err)
	}
	return filepath.EvalSymlinks(strings.TrimSpace(string(out)))
}

// podOf returns a pod that runs a program as a schedule says, and requests a number of thousandths of a core.
func (c *comparer) podOf(p *Program, milli int, when program.Schedule) *corev1.Pod {
	c.pods++
	t := start.Template(p.Name, []string{
		image, "--kind", string(p.Kind), "--size", strconv.Itoa(p.Size), "--think", p.Think.String(),
		"--clients", strconv.Itoa(p.Clients), "--seed", strconv.FormatUint(p.Seed, 10), "--folder", job.Scratch,
		"--start", moment(when.Start), "--from", moment(when.From), "--to", moment(when.To),
	})
	memory := resource.MustParse("512Mi")
	container := &t.Spec.Containers[0]
	container.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(milli), resource.DecimalSI), corev1.ResourceMemory: memory},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: memory},
	}
	if p.Kind == program.Compiler {
		const volume, goRoot = "go-root", "/go-root"
		container.Env = []corev1.EnvVar{{Name: "GOROOT", Value: goRoot}}
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: goRoot, ReadOnly: true})
		t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: c.goRoot},
		}})
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: start.Namespace, Name: fmt.Sprintf("%s-%d", p.Name, c.pods), Labels: t.Labels}, Spec: t.Spec}
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// accountsOf reads the accounts that pods left.
func accountsOf(pods []*corev1.Pod, words []string) ([]*program.Account, error) {
	accounts := make([]*program.Account, len(pods))
	for i, word := range words {
		var err error
		if accounts[i], err = program.Parse(word); err != nil {
			return nil, fmt.Errorf("pod %s: %w", pods[i].Name, err)
		}
	}
	return accounts, nil
}
