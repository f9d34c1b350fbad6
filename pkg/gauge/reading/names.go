package reading

import (
	"strings"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// What a directory of control groups is, by its name.
type kind int

const (
	other   kind = iota
	allPods      // holds the guaranteed pods and the classes of others
	class        // holds the pods of a class of service
	onePod
)

// directory returns the kubelet's kind of a directory, and the UID if it is a pod's. Names of the driver cgroupfs are short;
// those of systemd repeat the directories around them, and have _ in place of the - of a UID.
func directory(name string) (kind, string) {
	slice, systemd := strings.CutSuffix(name, ".slice")
	if !systemd {
		switch name {
		case "kubepods":
			return allPods, ""
		case "burstable", "besteffort", "guaranteed":
			return class, ""
		}
		if uid, ok := strings.CutPrefix(name, "pod"); ok && usage.IsUID(uid) {
			return onePod, uid
		}
		return other, ""
	}
	const pods = "kubepods"
	at := strings.LastIndex(slice, pods)
	if at < 0 || at > 0 && slice[at-1] != '-' { // a cgroupRoot comes before it: kubelet-kubepods.slice
		return other, ""
	}
	rest := slice[at+len(pods):]
	if rest == "" {
		return allPods, ""
	}
	for _, qos := range []string{"-burstable", "-besteffort", "-guaranteed"} {
		if after, ok := strings.CutPrefix(rest, qos); ok {
			rest = after
			break
		}
	}
	if rest == "" {
		return class, ""
	}
	if uid, ok := strings.CutPrefix(rest, "-pod"); ok && usage.IsUID(strings.ReplaceAll(uid, "_", "-")) {
		return onePod, strings.ReplaceAll(uid, "_", "-")
	}
	return other, ""
}

// container returns the ID of the container whose directory has a name, empty if it is none of the workload: CRI-O has a
// group for the process that watches a container, and systemd has one for its own processes.
func container(name string) string {
	name, _ = strings.CutSuffix(name, ".scope")
	if strings.HasPrefix(name, "crio-conmon-") || strings.ContainsRune(name, '.') {
		return ""
	}
	id := name[strings.LastIndexByte(name, '-')+1:]
	if !usage.IsContainerID(id) { // a pod that may make control groups gave it that name
		return ""
	}
	return id
}
