package v1alpha1

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	defaultSyncTimeoutSeconds = 30
	defaultHoldMaxWaitSeconds = 300
	defaultEventsPerSecond    = 5
	defaultPackingMaxDilation = "1.2"
	defaultMinMaxDilation     = "1.05"
	defaultMaxImportance      = "10"
	defaultDiscipline         = "PDP"
	defaultMaxWaitSeconds     = 600
	defaultWindowSeconds      = 3600
)

// SetDefaults fills in what the user left out.
func (a *DilationArgs) SetDefaults() {
	if a.Requests == nil {
		a.Requests = []RequestRule{{Resource: string(corev1.ResourceCPU)}}
	}
	for i := range a.Requests {
		a.Requests[i].setDefaults()
	}
	if a.SyncTimeoutSeconds == nil {
		a.SyncTimeoutSeconds = new(int32(defaultSyncTimeoutSeconds))
	}
	if a.EventsPerSecond == nil {
		a.EventsPerSecond = new(int32(defaultEventsPerSecond))
	}
	a.Objective = cmp.Or(a.Objective, ObjectiveTotal)
	a.Packing = cmp.Or(a.Packing, &Packing{})
	if a.Packing.MaxDilation == nil {
		a.Packing.MaxDilation = new(resource.MustParse(defaultPackingMaxDilation))
	}
	a.Guard = cmp.Or(a.Guard, &Guard{})
	a.Guard.Mode = cmp.Or(a.Guard.Mode, GuardOff)
	a.Limits = cmp.Or(a.Limits, &Limits{})
	if a.Limits.MinMaxDilation == nil {
		a.Limits.MinMaxDilation = new(resource.MustParse(defaultMinMaxDilation))
	}
	if a.Limits.MaxImportance == nil {
		a.Limits.MaxImportance = new(resource.MustParse(defaultMaxImportance))
	}
	if a.Hold != nil && a.Hold.MaxWaitSeconds == nil {
		a.Hold.MaxWaitSeconds = new(int32(defaultHoldMaxWaitSeconds))
	}
}

func (r *RequestRule) setDefaults() {
	if r.Request == "" {
		r.Request = corev1.ResourceName(r.Resource)
	}
	if r.PerThread == nil {
		r.PerThread = new(resource.MustParse("1"))
	}
	if r.Utilization == nil {
		r.Utilization = new(resource.MustParse("1"))
	}
	if r.Minimum == nil {
		r.Minimum = new(resource.Quantity)
		if r.Request == corev1.ResourceCPU {
			r.Minimum = new(resource.MustParse("100m"))
		}
	}
}

// SetDefaults fills in what the user left out.
func (a *SLAOrderArgs) SetDefaults() {
	if a.Discipline == "" {
		a.Discipline = defaultDiscipline
	}
	if a.MaxWaitSeconds == nil {
		a.MaxWaitSeconds = new(int32(defaultMaxWaitSeconds))
	}
	if a.WindowSeconds == nil {
		a.WindowSeconds = new(int32(defaultWindowSeconds))
	}
	if a.SyncTimeoutSeconds == nil {
		a.SyncTimeoutSeconds = new(int32(defaultSyncTimeoutSeconds))
	}
}
