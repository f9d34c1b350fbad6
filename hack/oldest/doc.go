// Package oldest tests that the objects which charts/loadline/values-insight-only.yaml installs use only groups, versions and fields
// that the oldest Kubernetes which the gauges run on has. That is the one whose API its module pins.
package oldest
