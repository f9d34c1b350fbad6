package observation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observations"
)

// modes says, by the names of namespaces, whether their workloads get profiles that follow the observations.
type modes struct {
	named     map[string]string
	otherwise string
}

// modeOf returns the mode of a namespace.
func (m *modes) modeOf(namespace string) string {
	if m == nil {
		return v1alpha1.ModeOff
	}
	if mode, is := m.named[namespace]; is {
		return mode
	}
	return m.otherwise
}

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles,verbs=create;patch;delete

// readModes returns the modes of all namespaces by their labels. A label with another value gets an event, and
// means off.
func (c *Controller) readModes(ctx context.Context) (*modes, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := c.Client.List(ctx, list, client.HasLabels{v1alpha1.ObservedProfilesLabel}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	m := &modes{named: map[string]string{}, otherwise: cmp.Or(c.ObservedProfiles, v1alpha1.ModeOff)}
	wrong := map[string]string{}
	for i := range list.Items {
		n := &list.Items[i]
		mode := n.Labels[v1alpha1.ObservedProfilesLabel]
		if !IsMode(mode) {
			wrong[n.Name] = mode
			if c.wrong[n.Name] != mode {
				about := &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: n.Name, UID: n.UID}
				c.Recorder.Eventf(about, nil, corev1.EventTypeWarning, "InvalidLabel", "ReadLabel", "label %s: %q is not one of %s, %s and %s; no profiles are made",
					v1alpha1.ObservedProfilesLabel, mode, v1alpha1.ModeOff, v1alpha1.ModeAdvise, v1alpha1.ModeApply)
			}
			mode = v1alpha1.ModeOff
		}
		m.named[n.Name] = mode
	}
	c.wrong = wrong
	return m, nil
}

// IsMode reports whether a text says how the workloads of a namespace get profiles that follow the observations.
func IsMode(mode string) bool {
	return mode == v1alpha1.ModeOff || mode == v1alpha1.ModeAdvise || mode == v1alpha1.ModeApply
}

// keepUp makes, changes and deletes the profiles that follow the observations, as the labels of their namespaces ask for. One
// that cannot be written keeps no other from being written.
func (c *Controller) keepUp(ctx context.Context, profiles []v1alpha1.WorkloadProfile, now time.Time) error {
	modes, err := c.readModes(ctx)
	if err != nil {
		return err
	}
	c.modes.Store(modes)
	snapshot := c.index.Snapshot()
	changes, err := observations.Upkeep(&observations.UpkeepInput{
		Mode: modes.modeOf, Profiles: profiles, Unprofiled: c.longUnprofiled(now), Now: now,
		Follows: func(pod *corev1.Pod) bool { return snapshot.Workload(pod) != nil },
		Pods: func(namespace string) ([]corev1.Pod, error) {
			return c.Sites.Pods.RunningInNamespace(ctx, namespace)
		},
	})
	if err != nil {
		return err
	}
	for workload, problem := range changes.Problems {
		c.log.V(1).Info("A workload gets no profile by what is observed", "workload", workload, "reason", problem)
	}
	before := make(map[types.NamespacedName]*v1alpha1.WorkloadProfile, len(profiles))
	for i := range profiles {
		before[client.ObjectKeyFromObject(&profiles[i])] = &profiles[i]
	}
	var errs []error
	for _, p := range changes.Create {
		errs = append(errs, written("making", p, client.IgnoreAlreadyExists(c.Client.Create(ctx, p))))
	}
	for _, p := range changes.Update {
		patch := client.MergeFromWithOptions(before[client.ObjectKeyFromObject(p)], client.MergeFromWithOptimisticLock{})
		errs = append(errs, written("changing", p, c.Client.Patch(ctx, p, patch)))
	}
	for _, p := range changes.Delete {
		unchanged := client.Preconditions{UID: &p.UID, ResourceVersion: &p.ResourceVersion}
		errs = append(errs, written("deleting", p, client.IgnoreNotFound(c.Client.Delete(ctx, p, unchanged))))
	}
	return errors.Join(errs...)
}

// written returns an error that names the failed write. A conflict is none: the next round reads the profile in its state
// then; nor is a namespace that is being deleted.
func written(doing string, p *v1alpha1.WorkloadProfile, err error) error {
	if err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return fmt.Errorf("%s profile %s/%s: %w", doing, p.Namespace, p.Name, err)
}

// longUnprofiled returns the workloads without a profile that were observed for long enough to have one.
func (c *Controller) longUnprofiled(now time.Time) []string {
	var all []string
	for key, s := range c.unprofiled.Summaries(now) {
		if s.CPU.Enough() {
			all = append(all, key.Profile.Name)
		}
	}
	return all
}

// unprofiledKey is the key of a workload without a profile, on nodes of any class.
func unprofiledKey(namespace, workload string) observations.Key {
	return observations.Key{Profile: types.NamespacedName{Namespace: namespace, Name: workload}}
}

// recommend returns the recommendation for the pods of a profile on the nodes of a class, given the observations of them
// there. It has a demand at the disk only if the disks of these nodes are known: the model would take any other for one that serves a request
// at a time.
func (c *Controller) recommend(p *v1alpha1.WorkloadProfile, v *observations.Verdict, withDisk bool, now time.Time) *v1alpha1.RecommendedLoading {
	key := observations.Key{Profile: client.ObjectKeyFromObject(p), Class: v.Class}
	before := recommendedIn(p, v.Class)
	if before != nil && now.Sub(c.recommended[key]) < recommendEvery {
		return before
	}
	start, known := c.start(p, before)
	if !known {
		return before
	}
	c.recommended[key] = now
	next := observations.Recommend(start, &v.Summary)
	r := &v1alpha1.RecommendedLoading{CPULoading: rounded(next.CPULoading), Threads: new(int32(next.Threads))}
	if withDisk && next.HasDisk {
		r.DiskLoading = rounded(next.DiskLoading)
	}
	return r
}

// start returns the recommendation to go on from: the last one, one of another class of nodes, else the loading that the
// scheduler assumes of pods without a profile.
func (c *Controller) start(p *v1alpha1.WorkloadProfile, before *v1alpha1.RecommendedLoading) (observations.Recommended, bool) {
	for i := 0; before == nil && i < len(p.Status.Observations); i++ {
		before = p.Status.Observations[i].Recommended
	}
	if before == nil || before.CPULoading == nil || before.Threads == nil {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		prior, known := c.priors[client.ObjectKeyFromObject(p)]
		return prior, known
	}
	r := observations.Recommended{CPULoading: before.CPULoading.AsApproximateFloat64(), Threads: int(*before.Threads)}
	if before.DiskLoading != nil {
		r.DiskLoading, r.HasDisk = before.DiskLoading.AsApproximateFloat64(), true
	}
	return r, true
}

// recommendedIn returns the recommendation of a profile for the nodes of a class.
func recommendedIn(p *v1alpha1.WorkloadProfile, class string) *v1alpha1.RecommendedLoading {
	for i := range p.Status.Observations {
		if o := &p.Status.Observations[i]; o.NodeProfile == class {
			return o.Recommended
		}
	}
	return nil
}
