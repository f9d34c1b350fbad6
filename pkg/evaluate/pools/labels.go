package pools

import corev1 "k8s.io/api/core/v1"

// Labels returns the labels of namespaces by their names, as an [Input] has them; nil if there are no namespaces: then they are not known.
func Labels(namespaces []corev1.Namespace) map[string]map[string]string {
	if len(namespaces) == 0 {
		return nil
	}
	of := make(map[string]map[string]string, len(namespaces))
	for i := range namespaces {
		of[namespaces[i].Name] = namespaces[i].Labels
	}
	return of
}
