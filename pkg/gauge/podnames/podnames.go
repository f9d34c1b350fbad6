// Package podnames finds the names of a node's pods by their UIDs. It takes them from the names of the folders in which
// the kubelet keeps the logs of pods, <namespace>_<name>_<uid>, so that no right in the API is needed. It lists that one
// folder, and opens nothing in it.
package podnames

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// MaxEntries bounds the entries of the folder that are read. A node runs some hundred pods, and the kubelet removes the
// logs of those that are gone.
const MaxEntries = 10_000

// Folder is the folder of the pods' logs. It may be used by one goroutine at a time.
type Folder struct {
	path  string
	known map[string]pod
	err   error
}

// pod is the name of a pod.
type pod struct{ namespace, name string }

// At returns the folder at a path, in most cases /var/log/pods. It is read when a name is first asked for.
func At(path string) *Folder { return &Folder{path: path} }

// ForInterval returns a function that returns the namespace and the name of the pod with a UID, which are empty where the
// folder does not say. The function lists the folder when it is asked for a UID that was not there before, and once at
// most: ask for a function for each interval.
func (f *Folder) ForInterval() func(uid string) (namespace, name string) {
	listed := false
	return func(uid string) (string, string) {
		found, is := f.known[uid]
		if !is && !listed {
			listed = true
			f.list()
			found = f.known[uid]
		}
		return found.namespace, found.name
	}
}

// Err returns why the folder could not be listed when that was last tried, or nil. The names that were known before are
// kept then.
func (f *Folder) Err() error { return f.err }

// list takes the names from the folder.
func (f *Folder) list() {
	names, err := entries(f.path)
	if err != nil {
		f.err = fmt.Errorf("the names of pods: %w", err)
		return
	}
	f.err = nil
	f.known = make(map[string]pod, len(names))
	for _, name := range names {
		if uid, found, ok := parse(name); ok {
			f.known[uid] = found
		}
	}
}

// entries returns the names of the entries of a folder, MaxEntries at most.
func entries(path string) ([]string, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close() //nolint:errcheck // it was only read
	names, err := folder.Readdirnames(MaxEntries)
	if err != nil && !errors.Is(err, io.EOF) { // io.EOF: it is empty
		return nil, err
	}
	return names, nil
}

// parse splits the name of a folder, and reports whether it is one that the kubelet makes. None of the three parts can have
// an underscore.
func parse(folder string) (uid string, found pod, ok bool) {
	parts := strings.Split(folder, "_")
	if len(parts) != 3 {
		return "", pod{}, false
	}
	namespace, name, uid := parts[0], parts[1], parts[2]
	return uid, pod{namespace, name}, usage.IsPodName(namespace, name) && usage.IsUID(uid)
}
