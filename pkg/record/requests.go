package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// columns names requested resources, which are sorted, as a trace does: what
// stands behind the slash, in lower case and with - for all that a DNS label may
// not have. The domain goes in front, as in nvidia-com-gpu, where two resources
// would have one name. A resource of which no label can be made has no column.
func columns(resources []corev1.ResourceName) map[corev1.ResourceName]string {
	alike := map[string]int{}
	for _, r := range resources {
		alike[label(behindSlash(r))]++
	}
	names, taken := map[corev1.ResourceName]string{}, map[string]bool{}
	for _, r := range resources {
		for _, name := range []string{label(behindSlash(r)), label(string(r))} {
			unique := alike[name] <= 1 || name == string(r) // cpu is cpu, whatever example.com/cpu is
			if unique && !taken[name] && len(validation.IsDNS1035Label(name)) == 0 {
				names[r], taken[name] = name, true
				break
			}
		}
	}
	return names
}

func behindSlash(r corev1.ResourceName) string {
	return string(r)[strings.LastIndex(string(r), "/")+1:]
}

func label(name string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(name)), "-")
}

// inOrder returns resources in the order of their columns: cpu and memory first.
func inOrder(set map[corev1.ResourceName]bool) []corev1.ResourceName {
	rank := func(r corev1.ResourceName) int {
		return slices.Index([]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU}, r)
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b corev1.ResourceName) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b))
	})
}
