package main

import (
	"bufio"
	"context"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// logs counts the lines that Loadline's programs print.
type logs struct {
	api kubernetes.Interface

	mu        sync.Mutex
	followed  map[instance]*atomic.Int64
	following map[instance]bool
}

// instance is a container of Loadline since it was started.
type instance struct {
	part, namespace, pod, id string
}

func newLogs(api kubernetes.Interface) *logs {
	return &logs{api: api, followed: map[instance]*atomic.Int64{}, following: map[instance]bool{}}
}

// follow begins to follow the logs of those containers of pods that are not followed, until they end or ctx does. Of the first ones that are
// followed, what they have printed before is left out.
func (l *logs) follow(ctx context.Context, pods []corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := len(l.followed) == 0
	for i := range pods {
		for k := range pods[i].Status.ContainerStatuses {
			status := &pods[i].Status.ContainerStatuses[k]
			of := instance{part: partOfPod(&pods[i]), namespace: pods[i].Namespace, pod: pods[i].Name, id: status.ContainerID}
			if status.State.Running == nil || l.following[of] {
				continue
			}
			options := &corev1.PodLogOptions{Container: status.Name, Follow: true}
			if first || l.followed[of] != nil { // the stream has broken: what was printed meanwhile is missed
				options.TailLines = new(int64(0))
			}
			if l.followed[of] == nil {
				l.followed[of] = &atomic.Int64{}
			}
			l.following[of] = true
			go l.count(ctx, of, options, l.followed[of])
		}
	}
}

// count counts the lines of a container until its log ends.
func (l *logs) count(ctx context.Context, of instance, options *corev1.PodLogOptions, lines *atomic.Int64) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.following, of)
	}()
	stream, err := l.api.CoreV1().Pods(of.namespace).GetLogs(of.pod, options).Stream(ctx)
	if err != nil {
		return // it is tried again with the next sample
	}
	defer stream.Close()
	reader := bufio.NewReader(stream)
	for {
		_, prefix, err := reader.ReadLine()
		if err != nil {
			return
		}
		if !prefix {
			lines.Add(1)
		}
	}
}

// lines returns how many lines each container has printed.
func (l *logs) lines() map[instance]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[instance]float64{}
	for of, n := range l.followed {
		all[of] = float64(n.Load())
	}
	return all
}
