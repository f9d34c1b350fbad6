package calibration

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// failures remembers which calibrations failed, so that they are not tried again at
// once. The zero value remembers none.
type failures struct {
	mu     sync.Mutex
	byName map[string]ofProfile
}

// ofProfile are the failures of a profile, by resource.
type ofProfile struct {
	uid types.UID
	all map[string]failure
}

// of returns the failures of a profile, by resource.
func (f *failures) of(profile *v1alpha1.NodeProfile) map[string]failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.byName[profile.Name]; known.uid == profile.UID {
		return maps.Clone(known.all)
	}
	return nil
}

// set replaces the failures of a profile.
func (f *failures) set(profile *v1alpha1.NodeProfile, all map[string]failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byName == nil {
		f.byName = map[string]ofProfile{}
	}
	f.byName[profile.Name] = ofProfile{profile.UID, all}
}

// forget forgets those of a profile that is gone.
func (f *failures) forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byName, name)
}
