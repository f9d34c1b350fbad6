package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

func TestACertificateOfOurOwnIsValidAndReplacedInTime(t *testing.T) {
	t.Parallel()
	now := testingclock.NewFakePassiveClock(noon)
	certificate := SelfSigned("node-1", now)
	get := func() *tls.Certificate {
		t.Helper()
		c, err := certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if at := now.Now(); at.Before(c.Leaf.NotBefore) || at.After(c.Leaf.NotAfter) {
			t.Errorf("at %v it is valid from %v to %v", at, c.Leaf.NotBefore, c.Leaf.NotAfter)
		}
		return c
	}
	first := get()
	if err := first.Leaf.VerifyHostname("node-1"); err != nil {
		t.Error(err)
	}
	if get() != first {
		t.Error("it is made anew at once")
	}
	for _, later := range []time.Duration{validity / 2, validity, 10 * validity, -10 * validity} { // the last: the clock was set
		now.SetTime(noon.Add(later))
		if second := get(); second.Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) == 0 {
			t.Errorf("after %v it is the same", later)
		}
	}
}

// writePair writes a certificate for a name and its key.
func writePair(t *testing.T, certificateFile, keyFile, name string) {
	t.Helper()
	made, err := selfSign(name, noon)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certificateFile: {Type: "CERTIFICATE", Bytes: made.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACertificateOfFilesIsReadAgainWhenItIsReplaced(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), testingclock.NewFakePassiveClock(noon)
	certificateFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if _, err := FromFiles(certificateFile, keyFile, now); err == nil {
		t.Error("files that are not there are no error")
	}
	writePair(t, certificateFile, keyFile, "old")
	certificate, err := FromFiles(certificateFile, keyFile, now)
	if err != nil {
		t.Fatal(err)
	}
	want := func(name string) {
		t.Helper()
		if c, err := certificate(nil); err != nil || c.Leaf.Subject.CommonName != name {
			t.Errorf("got the certificate of %v, %v, want that of %s", c.Leaf.Subject, err, name)
		}
	}
	writePair(t, certificateFile, keyFile, "new")
	want("old")
	now.SetTime(noon.Add(rereadAfter))
	want("new")
	if err := os.WriteFile(keyFile, []byte("half of a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	now.SetTime(noon.Add(2 * rereadAfter))
	want("new")
}
