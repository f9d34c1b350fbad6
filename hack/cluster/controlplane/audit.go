package controlplane

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

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
	rules := auditPolicy
	if options.AuditPolicy != "" {
		if rules, err = os.ReadFile(options.AuditPolicy); err != nil {
			return nil, err
		}
	}
	policy := f.secret("audit-policy.yaml")
	err = errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, nil, 0o644),
		os.WriteFile(policy, rules, 0o600),
	)
	return []string{
		"--audit-policy-file=" + policy,
		"--audit-log-path=" + path,
		"--audit-log-maxsize=4096", // MiB: one file, as good as always
	}, err
}
