// Package k9s tests the plugins of ui/k9s: that they are what k9s takes, that kubectl loadline takes their command lines, and that
// no name can be more to a shell than a name.
package k9s
