package job

import (
	"strings"
	"testing"
	"time"
)

// The vectors that the kinds are named after, and bursts that are neither so short that
// the kernel does not take turns nor so long that few fit in.
func TestSyntheticJobsAreWhatTheyAreCalled(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		if k.compresses {
			continue
		}
		for _, burst := range []time.Duration{k.cpu, k.io} {
			if burst != 0 && (burst < 20*ms || burst > 50*ms) {
				t.Errorf("%s has bursts of %v", k.Name, burst)
			}
		}
	}
	command := strings.Join(Job{Of("cpu-60-io-40"), 6, 3}.Command(Speeds{CPU: 5000, IO: 2000.5}, Device{Job: DiskWrite}), " ")
	for _, part := range []string{"--demand cpu=36ms,disk-write=24ms", "--units-per-second cpu=5000,disk-write=2000.5", "--rounds 100 ", "--seed 3 "} {
		if !strings.Contains(command, part) {
			t.Errorf("%q lacks %q", command, part)
		}
	}
	command = strings.Join(Job{Of("filecomp"), 6, 3}.Command(Speeds{Files: 150}, Device{Job: Network, Peer: "10.0.0.1:7077"}), " ")
	if !strings.HasPrefix(command, "filecomp --files 900 --seed 3 --peer 10.0.0.1:7077") {
		t.Errorf("%q", command)
	}
}
