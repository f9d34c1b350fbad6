package measurement

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// condense returns a string that identifies a question: the template of the target's pods, nil
// without a target; the measurement's spec, except where and how often; and the declared servers of
// the class of nodes, by resource. The labels of the template are left out, since the copies do not
// have them and a Job has a new one of its own each time.
func condense(m *v1alpha1.Measurement, template *corev1.PodTemplateSpec, servers map[string]int) (string, error) {
	how := m.DeepCopy()
	how.Nodes, how.ValidSeconds = nil, nil
	what := template.DeepCopy()
	if what != nil {
		what.ObjectMeta = metav1.ObjectMeta{Annotations: what.Annotations}
	}
	text, err := json.Marshal([]any{how, what, servers})
	if err != nil {
		return "", fmt.Errorf("condensing the measurement: %w", err)
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:16]), nil
}

// setQuestions sets the question for each class of nodes, if there is a template.
func (in *input) setQuestions() error {
	if in.noTemplate != "" {
		return nil
	}
	for _, n := range in.nodes {
		if in.questions[n.class] != "" {
			continue
		}
		question, err := condense(in.profile.Spec.Measurement, in.template, n.declared)
		if err != nil {
			return err
		}
		in.questions[n.class] = question
	}
	return nil
}
