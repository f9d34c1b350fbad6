// Package crd holds the CustomResourceDefinitions, so that manifests can be checked
// against them with no cluster.
package crd

import "embed"

// Files holds a CustomResourceDefinition each.
//
//go:embed loadline.dev_*.yaml
var Files embed.FS
