package tracereplay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Keys of metadata.
const (
	// replayKey is the label of all that the controller makes, with the stem of
	// the replay's name as its value, and the annotation of pods with the name
	// itself.
	replayKey = "loadline.dev/trace-replay"
	// runsKey is the annotation of a Job's pods that lists the runs, one in a
	// line, in the order of the Job's indexes.
	runsKey = "loadline.dev/runs"
)

// maxStem leaves room for the longest suffix, that of a pod of an indexed Job
// ("-runs-3-999"), within the 63 characters of a DNS label.
const maxStem = 50

// stem returns the common prefix of the names of all objects made for a replay: the replay's own
// name where that is short enough and a DNS label, else the longest part of it that fits and a hash
// of all of it.
func stem(replay string) string {
	label := strings.ReplaceAll(replay, ".", "-")
	if label == replay && len(label) <= maxStem {
		return label
	}
	hash := sha256.Sum256([]byte(replay))
	suffix := "-" + hex.EncodeToString(hash[:4])
	return strings.TrimRight(label[:min(len(label), maxStem-len(suffix))], "-") + suffix
}

func questionName(replay string) string { return stem(replay) + "-question" }
func reportName(replay string) string   { return stem(replay) + "-report" }
func resultsName(replay string, shard int) string {
	return fmt.Sprintf("%s-results-%d", stem(replay), shard)
}

func jobName(replay string, round int) string { return fmt.Sprintf("%s-runs-%d", stem(replay), round) }

// isRound reports whether a name is that of a Job of a replay.
func isRound(replay, name string) bool {
	for round := 1; round <= maxRounds; round++ {
		if name == jobName(replay, round) {
			return true
		}
	}
	return false
}

// metadata returns the metadata of something that belongs to a replay.
func metadata(replay *v1alpha1.TraceReplay, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: replay.Namespace,
		Name:      name,
		Labels:    map[string]string{replayKey: stem(replay.Name), "app.kubernetes.io/managed-by": "loadline-manager"},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "TraceReplay", Name: replay.Name, UID: replay.UID, Controller: new(true),
		}},
	}
}

// runOf returns the run that a pod of a Job carries out, false for none.
func runOf(pod *corev1.Pod, runs []int) (int, bool) {
	var index int
	if _, err := fmt.Sscanf(pod.Annotations[batchv1.JobCompletionIndexAnnotation], "%d", &index); err != nil || index < 0 || index >= len(runs) {
		return 0, false
	}
	return runs[index], true
}
