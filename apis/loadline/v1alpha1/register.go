package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the API.
var GroupVersion = schema.GroupVersion{Group: "loadline.dev", Version: "v1alpha1"}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&WorkloadProfile{}, &WorkloadProfileList{},
		&NodeProfile{}, &NodeProfileList{},
		&TraceReplay{}, &TraceReplayList{},
		&PoolPlan{}, &PoolPlanList{},
		&ShareTree{}, &ShareTreeList{},
		&RemediationPolicy{}, &RemediationPolicyList{},
		&Remediation{}, &RemediationList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
