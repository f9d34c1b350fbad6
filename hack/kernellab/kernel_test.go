package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEveryKernelHasItsPackagesPinned(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(kernels) {
		name, _, _ := strings.Cut(line, ",")
		if name == "kernel" {
			continue
		}
		packages, err := packagesOf(kernels, name)
		if err != nil || len(packages) == 0 {
			t.Errorf("kernel %s: %v, %v", name, packages, err)
		}
		for _, p := range packages {
			if !strings.HasPrefix(p.path, "pool/") || !strings.HasSuffix(p.path, ".deb") || len(p.sha256) != 64 {
				t.Errorf("kernel %s: %+v", name, p)
			}
		}
	}
	if _, err := packagesOf(kernels, "2.6"); err == nil || !strings.HasPrefix(err.Error(), `kernel: "2.6" is none of 6.1, `) {
		t.Errorf("the error of an unknown one is %v", err)
	}
}

func TestAPackageIsDownloadedOnceAndOnlyIfItIsTheRightOne(t *testing.T) {
	t.Parallel()
	const content = "a package"
	var asked atomic.Int32
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/debian/pool/there.deb" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, content)
	}))
	defer mirror.Close()
	folder := t.TempDir()
	sum := sha256Of(nil) // of something else
	right := debianPackage{"pool/there.deb", sha256Of([]byte(content))}
	for range 2 {
		file, err := right.fetch(t.Context(), mirror.URL+"/debian/", folder)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); string(got) != content || err != nil {
			t.Errorf("the file has %q, %v", got, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the mirror was asked %d times", n)
	}
	_, err := debianPackage{"pool/there.deb", sum}.fetch(t.Context(), mirror.URL+"/debian", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "/debian/pool/there.deb: its SHA-256 is ") || !strings.HasSuffix(err.Error(), "not "+sum) {
		t.Errorf("the error of another package is %v", err)
	}
	_, err = debianPackage{"pool/gone.deb", sum}.fetch(t.Context(), mirror.URL+"/debian", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "/debian/pool/gone.deb: 404 Not Found (a mirror drops a version after a while") {
		t.Errorf("the error of a version that is gone is %v", err)
	}
}

func TestTicksAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	if hz, err := hertz([]byte("CONFIG_HZ_1000=y\nCONFIG_HZ=1000\n# CONFIG_HZ_250 is not set\n")); hz != 1000 || err != nil {
		t.Errorf("%d, %v", hz, err)
	}
	if _, err := hertz([]byte("CONFIG_HZ_1000=y\n")); err == nil {
		t.Error("there is no error without CONFIG_HZ")
	}
}
