package verb

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/report/chart"
)

// Pair reads NAME=VALUE, neither of them empty. The error shows an example.
func Pair(text, example string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" || value == "" {
		return "", "", fmt.Errorf("write NAME=VALUE, such as %s", example)
	}
	return name, value, nil
}

// Number reads a number as Kubernetes writes it. The error shows an example.
func Number(text, example string) (*resource.Quantity, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number such as %s", text, example)
	}
	return &q, nil
}

// CheckChart refuses a file that no chart can be drawn to, before the work; an empty
// path is that of a chart which is not asked for.
func CheckChart(flag, path string) error {
	if path == "" {
		return nil
	}
	if _, err := chart.FormatOf(path); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// Counted writes how many there are of something.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
