// Package config holds the arguments of Loadline's scheduler plugins as the
// code uses them: parsed, defaulted and valid. What users write is in the
// versioned packages below; Load turns one into the other.
package config

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/config/v1alpha1"
)

// DilationArgs are the arguments of the Dilation plugin.
type DilationArgs struct {
	// Requests say how a pod that no WorkloadProfile matches gets its loading
	// vector from its resource requests.
	Requests []RequestRule
	// SyncTimeoutSeconds is how long the plugin waits at start-up for the
	// profiles to be read, at least 0. After that scheduling begins without
	// them, and they count from when they arrive.
	SyncTimeoutSeconds int32
	// Objective says which nodes score best.
	Objective v1alpha1.Objective
	// PackingMaxDilation is how much pods may be dilated on a node that is filled, more
	// than 1. It matters for the objective Packing alone.
	PackingMaxDilation float64
	// GuardMode holds for the bounds of pods in namespaces that do not say.
	GuardMode v1alpha1.GuardMode
	// Limits are what WorkloadProfiles may ask for at most.
	Limits Limits
	// HoldMaxDilation is how much a pod may be dilated where it need not wait, more than
	// 1; 0 if none waits.
	HoldMaxDilation float64
	// HoldMaxWait is how long a pod waits, 0 for as long as it takes.
	HoldMaxWait time.Duration
	// EventsPerSecond is how many pods per second get an event when they are placed, at
	// least 0.
	EventsPerSecond int32
}

// Limits are what the operator of a cluster lets WorkloadProfiles ask for at most: what goes
// beyond a limit counts as the limit. The zero value has no limits.
type Limits struct {
	// MinMaxDilation is the lowest sla.maxDilation that counts, more than 1; 0 for none.
	MinMaxDilation float64
	// MaxImportance is the largest importance that counts, from 1 to 100; 0 for none.
	MaxImportance float64
}

// RequestRule derives the demand at one resource from one kind of request. A
// pod that requests r has ⌈r/PerThread⌉ threads there, which together are busy
// for Utilization · r/PerThread of the time.
type RequestRule struct {
	// Resource is the resource of the loading vector, such as cpu.
	Resource string
	// Request is the resource that pods request, such as cpu or
	// nvidia.com/gpu.
	Request corev1.ResourceName
	// PerThread is the amount of the request that makes one thread, more
	// than 0.
	PerThread float64
	// Utilization is the fraction of its request that a pod is taken to use,
	// more than 0 and at most 1.
	Utilization float64
	// Minimum is the request that a pod is taken to make at least, 0 or more; of cpu no more than its limit.
	Minimum float64
}
