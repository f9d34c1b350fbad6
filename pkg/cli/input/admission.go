package input

import corev1 "k8s.io/api/core/v1"

// Admission returns the kinds that say which resources the API server lets pods have.
func Admission() []Kind {
	return []Kind{
		kindOf(corev1.SchemeGroupVersion, "LimitRange", func(all *Objects) *[]corev1.LimitRange { return &all.Admission.LimitRanges }),
		kindOf(corev1.SchemeGroupVersion, "ResourceQuota", func(all *Objects) *[]corev1.ResourceQuota { return &all.Admission.Quotas }),
	}
}
