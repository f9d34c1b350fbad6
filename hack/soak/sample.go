package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/hack/processes"
)

// sample is what was sampled at a time: values, and counts since the beginning, by the names of their series.
type sample struct {
	Seconds  float64            `json:"seconds"` // since the beginning
	Values   map[string]float64 `json:"values"`
	Counters map[string]float64 `json:"counters"`
}

// sampler samples Loadline on a cluster.
type sampler struct {
	cluster  *cluster
	began    time.Time
	token    string
	client   *http.Client
	requests *requests
	logs     *logs
	numbers  map[string]int // of the pods of each part that have a number, by part
	names    map[string]string
	// problems are what could not be sampled, with how often.
	problems map[string]int
	counted  int // samples
}

func newSampler(ctx context.Context, c *cluster, auditLog string, lasts time.Duration) (*sampler, error) {
	s := &sampler{
		cluster: c, began: time.Now(), requests: newRequests(auditLog), logs: newLogs(c.api), numbers: map[string]int{}, names: map[string]string{}, problems: map[string]int{},
		client: &http.Client{Timeout: brief, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // their own certificates, in the cluster's own network
		}},
	}
	var err error
	s.token, err = c.token(ctx, own, "reader", "", lasts+time.Hour)
	return s, err
}

// instance returns what a pod is called in the names of series: gauges by their nodes, and others by the order in which they were seen.
// A container that was started again is another instance.
func (s *sampler) instance(pod *corev1.Pod, restarts int32) string {
	called := s.names[string(pod.UID)]
	if called == "" {
		part := partOfPod(pod)
		s.numbers[part]++
		called = strconv.Itoa(s.numbers[part])
		if part == "gauge" {
			called = pod.Spec.NodeName
		}
		if taken := slices.Contains(slices.Collect(maps.Values(s.names)), part+"|"+called); taken {
			called += " (" + pod.Name + ")"
		}
		called = part + "|" + called
		s.names[string(pod.UID)] = called
	}
	_, called, _ = strings.Cut(called, "|")
	if restarts > 0 {
		called += fmt.Sprintf(" after restart %d", restarts)
	}
	return called
}

// sizeEvery is after how many samples the size of the database is read: the metrics of the API server are large.
const sizeEvery = 6

// sample samples everything. What cannot be sampled is missing, and counted as a problem.
func (s *sampler) sample(ctx context.Context) *sample {
	to := &sample{Seconds: time.Since(s.began).Seconds(), Values: map[string]float64{}, Counters: map[string]float64{}}
	pods, err := s.cluster.programs(ctx)
	s.note("the pods of Loadline", err)
	s.note("processes", s.sampleProcesses(pods, to))
	s.sampleMetrics(ctx, pods, to)
	s.logs.follow(ctx, pods)
	for pod, lines := range s.logs.lines() {
		to.Counters[name(pod.part, "", "log lines")] += lines
	}
	s.note("the audit log", s.requests.follow())
	maps.Copy(to.Counters, s.requests.counts)
	s.note("objects", s.sampleObjects(ctx, to))
	if s.counted%sizeEvery == 0 {
		text, err := s.cluster.api.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
		s.note("the metrics of the API server", err)
		if size := storageSize(text); size > 0 {
			to.Values[name("cluster", "", "database")] = size
		}
	}
	s.counted++
	return to
}

// note counts a problem, if there is one.
func (s *sampler) note(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.problems[what+": "+err.Error()]++
	}
}

// sampleProcesses samples what the processes of pods take.
func (s *sampler) sampleProcesses(pods []corev1.Pod, to *sample) error {
	parts := make([]string, len(pods))
	for i := range pods {
		parts[i] = "pod" + string(pods[i].UID)
	}
	found, err := processes.InCgroups(parts)
	if err != nil {
		return err
	}
	var errs []error
	for i := range pods {
		if len(pods[i].Status.ContainerStatuses) == 0 {
			continue
		}
		for _, id := range found[parts[i]] {
			program, err := processes.Program(id)
			if err != nil || !strings.Contains(program, "loadline") { // it has ended, or holds the pod
				continue
			}
			errs = append(errs, sampleProcess(id, partOfPod(&pods[i]), s.instance(&pods[i], pods[i].Status.ContainerStatuses[0].RestartCount), to))
		}
	}
	return errors.Join(errs...)
}

func sampleProcess(id int, part, instance string, to *sample) error {
	memory, err := processes.Memory(id)
	if err != nil {
		return err
	}
	files, err := processes.Files(id)
	if err != nil {
		return err
	}
	busy, err := processes.Processor(id)
	if err != nil {
		return err
	}
	to.Values[name(part, instance, "resident memory")] = float64(memory.All) * 1024
	to.Values[name(part, instance, "open files")] = float64(files)
	to.Counters[name(part, instance, "processor time")] = busy.Seconds()
	return nil
}

// sampleMetrics samples the metrics of all programs that serve them.
func (s *sampler) sampleMetrics(ctx context.Context, pods []corev1.Pod, to *sample) {
	answers := make([]map[string]float64, len(pods))
	errs := make([]error, len(pods))
	group := errgroup.Group{}
	group.SetLimit(4)
	for i := range pods {
		if port := metricsPort(&pods[i]); port != "" && pods[i].Status.PodIP != "" && len(pods[i].Status.ContainerStatuses) > 0 {
			group.Go(func() error {
				text, err := s.get(ctx, "https://"+net.JoinHostPort(pods[i].Status.PodIP, port)+"/metrics")
				if err == nil {
					answers[i], err = readMetrics(text)
				}
				errs[i] = err
				return nil
			})
		}
	}
	_ = group.Wait() // errors are in errs
	for i := range pods {
		s.note("metrics of "+partOfPod(&pods[i]), errs[i])
		for what, value := range answers[i] {
			to.Values[name(partOfPod(&pods[i]), s.instance(&pods[i], pods[i].Status.ContainerStatuses[0].RestartCount), what)] = value
		}
	}
}

// metricsPort returns the port at which a pod of Loadline serves metrics; empty for none.
func metricsPort(pod *corev1.Pod) string {
	wanted := map[string]string{"manager": "metrics", "scheduler": "https", "gauge": "https"}[partOfPod(pod)]
	for _, port := range pod.Spec.Containers[0].Ports {
		if wanted != "" && port.Name == wanted {
			return strconv.Itoa(int(port.ContainerPort))
		}
	}
	return ""
}

// get returns what is at a URL, with the token of the reader.
func (s *sampler) get(ctx context.Context, url string) (content []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if content, err = io.ReadAll(response.Body); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %.200s", url, response.Status, content)
	}
	return content, err
}
