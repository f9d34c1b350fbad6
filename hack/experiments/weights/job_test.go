package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
)

func parsed(t *testing.T, text string) mix {
	t.Helper()
	m, err := parseMix(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPodsAreMadeFromTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		class       corev1.PodQOSClass
		burst, idle time.Duration
		threads     int
		alone       string
	}{
		"500m cpu":            {corev1.PodQOSBurstable, 50 * time.Millisecond, 0, 1, "100m cpu"},
		"0 60%":               {corev1.PodQOSBestEffort, 30 * time.Millisecond, 20 * time.Millisecond, 1, "100m 60%"},
		"50m 25%/200ms exp":   {corev1.PodQOSBurstable, 50 * time.Millisecond, 150 * time.Millisecond, 1, "100m 25%/200ms exp"},
		"=1 cpu":              {corev1.PodQOSGuaranteed, 50 * time.Millisecond, 0, 1, "=1 cpu"},
		"100m+50m cpu x2":     {corev1.PodQOSBurstable, 50 * time.Millisecond, 0, 4, "100m+100m cpu x2"},
		"100m limit=300m cpu": {corev1.PodQOSBurstable, 50 * time.Millisecond, 0, 1, "100m limit=300m cpu"},
		"50m xz":              {corev1.PodQOSBurstable, 0, 0, 1, "100m xz"},
	} {
		j, err := parseJob(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		pod := j.pod("any")
		if got := cgroup.QoS(pod); got != want.class {
			t.Errorf("%s: %v, want %v", text, got, want.class)
		}
		if err := cgroup.Validate(pod); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		threads := j.threads * len(pod.Spec.Containers)
		if j.burst != want.burst || j.idle != want.idle || threads != want.threads || j.alone() != want.alone {
			t.Errorf("%s: bursts of %v, idle %v, %d threads, alone %q; want %+v", text, j.burst, j.idle, threads, j.alone(), want)
		}
	}
}

func TestTextsThatMakeNoPodAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"500m":             "want a request and what the pod does",
		"500m tetris":      `"tetris" is neither a load nor a program`,
		"many cpu":         `"many"`,
		"100m limit=x cpu": `"x"`,
		"100m y%":          `"y"`,
		"100m 50%/long":    `"long"`,
	} {
		if _, err := parseJob(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestMixesFitOnTheirNodesAndAreManyAndDifferent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		texts    []string
		least    int // mixes
		milliCPU int64
		smallest int // pods
		largest  int
	}{
		"one core":  {oneCore(), 16, 1000, 2, 6},
		"two cores": {twoCores(), 16, 1900, 2, 8},
		"programs":  {programMixes(), 10, 1000, 2, 3},
	} {
		var sizes []int
		for _, text := range test.texts {
			m := parsed(t, text)
			if m.String() != text {
				t.Errorf("%q is written %q", text, m)
			}
			total := int64(0)
			for i := range m {
				for _, c := range m[i].pod("any").Spec.Containers {
					total += c.Resources.Requests.Cpu().MilliValue()
				}
			}
			if total > test.milliCPU {
				t.Errorf("%s: %q requests %dm of %dm", name, text, total, test.milliCPU)
			}
			sizes = append(sizes, len(m))
		}
		if len(sizes) < test.least || slices.Min(sizes) != test.smallest || slices.Max(sizes) != test.largest {
			t.Errorf("%s: %d mixes of %d to %d pods, want at least %d of %d to %d",
				name, len(sizes), slices.Min(sizes), slices.Max(sizes), test.least, test.smallest, test.largest)
		}
	}
}
