package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPublicAuthoritiesAreTrustedWithoutFiles runs itself where there are no files with
// certificates, as in the image.
func TestPublicAuthoritiesAreTrustedWithoutFiles(t *testing.T) {
	t.Parallel()
	const inside = "LOADLINE_TEST_WITHOUT_CERTIFICATES"
	if os.Getenv(inside) != "" {
		pool, err := x509.SystemCertPool()
		if err != nil || pool.Equal(x509.NewCertPool()) {
			t.Errorf("no authority is trusted: %v", err)
		}
		return
	}
	absent := filepath.Join(t.TempDir(), "absent")
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), inside+"=yes", "SSL_CERT_FILE="+absent, "SSL_CERT_DIR="+absent)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
