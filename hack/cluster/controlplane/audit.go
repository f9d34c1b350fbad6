package controlplane

import (
	"errors"
	"os"
	"path/filepath"
)

// auditPolicy has the API server note who asks what of it, and how it answers, as far as service accounts are concerned:
// that is, what runs in pods. Watches are noted when they begin.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
`

// auditFlags make an empty file of options.AuditLog, and return the flags with which the API server fills it. There are
// none when there is no such file.
func auditFlags(f folder, options Options) ([]string, error) {
	if options.AuditLog == "" {
		return nil, nil
	}
	path, err := filepath.Abs(options.AuditLog)
	if err != nil {
		return nil, err
	}
	policy := f.secret("audit-policy.yaml")
	err = errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, nil, 0o644),
		os.WriteFile(policy, []byte(auditPolicy), 0o600),
	)
	return []string{
		"--audit-policy-file=" + policy,
		"--audit-log-path=" + path,
		"--audit-log-maxsize=4096", // MiB: one file, as good as always
	}, err
}
