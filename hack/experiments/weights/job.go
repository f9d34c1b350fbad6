package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manyThreads matches how many threads there are.
var manyThreads = regexp.MustCompile(`^x[1-9]\d*$`)

// cycle is how long a synthetic job computes and sleeps per turn, on average, unless it says otherwise.
const cycle = 50 * time.Millisecond

// job is a pod of a mix, made from a text such as
//
//	500m cpu              requests 500m and computes all the time; 0 is BestEffort
//	500m 60%              computes for 30 ms and sleeps for 20 ms, in turns
//	500m 60%/200ms exp    does so in cycles of 200 ms, in times that are exponentially distributed
//	500m cpu x2           in two threads
//	100m+50m cpu          in two containers
//	100m limit=300m cpu   has a limit
//	=300m cpu             is Guaranteed
//	500m nginx            runs a real program
type job struct {
	text        string
	requests    []string // of each container
	limit       string   // of each container; "" is none
	guaranteed  bool
	threads     int // of each container
	burst, idle time.Duration
	exponential bool
	program     string // "" for a synthetic job
}

// parseJob reads a text as above.
func parseJob(text string) (j job, err error) {
	fields := strings.Fields(text)
	const least = 2 // what it requests and what it does
	if len(fields) < least {
		return j, fmt.Errorf("%q: want a request and what the pod does", text)
	}
	j = job{text: text, threads: 1}
	request, guaranteed := strings.CutPrefix(fields[0], "=")
	j.guaranteed = guaranteed
	j.requests = strings.Split(request, "+")
	if guaranteed {
		j.limit = request
	}
	for _, field := range fields[1:] {
		if err := j.set(field); err != nil {
			return j, fmt.Errorf("%q: %w", text, err)
		}
	}
	for _, quantity := range append(slices.Clone(j.requests), j.limit) {
		if _, err := resource.ParseQuantity(quantity); err != nil && quantity != "" {
			return j, fmt.Errorf("%q: %q: %w", text, quantity, err)
		}
	}
	return j, nil
}

func (j *job) set(field string) error {
	load, length, long := strings.Cut(field, "/")
	switch {
	case field == "cpu":
		j.burst = cycle
	case field == "exp":
		j.exponential = true
	case strings.HasPrefix(field, "limit="):
		j.limit = strings.TrimPrefix(field, "limit=")
	case manyThreads.MatchString(field):
		threads, err := strconv.Atoi(field[1:])
		j.threads = threads
		return err
	case strings.HasSuffix(load, "%"):
		percent, err := strconv.ParseFloat(strings.TrimSuffix(load, "%"), 64)
		if err != nil {
			return err
		}
		all := cycle
		if long {
			if all, err = time.ParseDuration(length); err != nil {
				return err
			}
		}
		const hundred = 100
		j.burst = time.Duration(percent / hundred * float64(all))
		j.idle = all - j.burst
	default:
		if _, known := programs()[field]; !known {
			return fmt.Errorf("%q is neither a load nor a program", field)
		}
		j.program = field
	}
	return nil
}

// mix is pods that run together.
type mix []job

func parseMix(text string) (mix, error) {
	var m mix
	for part := range strings.SplitSeq(text, ", ") {
		j, err := parseJob(part)
		if err != nil {
			return nil, err
		}
		m = append(m, j)
	}
	return m, nil
}

// String returns the text that the mix is made from.
func (m mix) String() string {
	var texts []string
	for i := range m {
		texts = append(texts, m[i].text)
	}
	return strings.Join(texts, ", ")
}

// loading returns the fraction of its own time that a thread of a synthetic job computes.
func (j *job) loading() float64 { return j.burst.Seconds() / (j.burst + j.idle).Seconds() }

// alone returns the job as it is to be measured alone: as it is where its own limit holds it back, else without what it
// requests, which does not matter then.
func (j *job) alone() string {
	if j.limit != "" {
		return j.text
	}
	containers := strings.Repeat("+100m", len(j.requests))[1:]
	_, load, _ := strings.Cut(j.text, " ")
	return containers + " " + load
}

// pod returns the pod, without commands. Its containers are named by their place.
func (j *job) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Labels: map[string]string{label: "true"}},
		Spec: corev1.PodSpec{
			NodeName: node, RestartPolicy: corev1.RestartPolicyNever,
			AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(0)),
		},
	}
	memory := resource.MustParse("256Mi")
	for i, request := range j.requests {
		c := corev1.Container{Name: fmt.Sprintf("container-%d", i+1), Image: "loadline/steady:dev", ImagePullPolicy: corev1.PullNever}
		if cpu := resource.MustParse(request); !cpu.IsZero() {
			c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: cpu}
		}
		if j.limit != "" {
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(j.limit)}
		}
		if j.guaranteed {
			c.Resources.Requests[corev1.ResourceMemory], c.Resources.Limits[corev1.ResourceMemory] = memory, memory
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
	}
	return pod
}
