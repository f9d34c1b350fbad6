package runqueue

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

func TestARefusalNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string // in the error; none: it is a fault of ours
	}{
		"a process without the rights": {unix.EPERM, "CAP_BPF and CAP_PERFMON"},
		"a kernel without eBPF":        {unix.ENOSYS, "CONFIG_BPF_EVENTS"},
		"a kernel without types":       {ebpf.ErrNotSupported, "/sys/kernel/btf/vmlinux"},
		"a program that is wrong":      {errors.Join(unix.EACCES, &ebpf.VerifierError{Cause: unix.EACCES}), ""},
		"too little memory":            {unix.ENOMEM, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := refused(fmt.Errorf("load the program: %w", test.err))
			if errors.Is(got, ErrUnavailable) != (test.want != "") || !strings.Contains(got.Error(), test.want) {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
}
