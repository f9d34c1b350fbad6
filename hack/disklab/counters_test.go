package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeviceOfDiskstats(t *testing.T) {
	t.Parallel()
	const text = `   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11
 254       0 vda 173878 20658 7340850 70980 50726 215493 27160448 54543 0 29140 132880 21492 71 10915424 7304 17 51
   8       0 sda 100 0 800 50 10 0 80 20 0 60 70
`
	got, err := parseDevice(text, "254:0")
	want := device{
		Reads: 173878, ReadBytes: 7340850 * 512, ReadSeconds: 70.980, Writes: 50726, WriteBytes: 27160448 * 512, WriteSeconds: 54.543,
		Flushes: 17, FlushSeconds: 0.051, Busy: 29.140, Queued: 132.880,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("err %v, device (-want +got):\n%s", err, diff)
	}
	got, err = parseDevice(text, "8:0") // as of kernels that count neither discards nor flushes
	want = device{Reads: 100, ReadBytes: 800 * 512, ReadSeconds: 0.05, Writes: 10, WriteBytes: 80 * 512, WriteSeconds: 0.02, Busy: 0.06, Queued: 0.07}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("of an older kernel: err %v, device (-want +got):\n%s", err, diff)
	}
	if _, err := parseDevice(text, "254:1"); err == nil {
		t.Error("a device that is not there has no error")
	}
	if _, err := parseDevice("254 0 vda a b c d e f g h i j k\n", "254:0"); err == nil {
		t.Error("what are no numbers have no error")
	}
}

func TestWhatGroupsWereServed(t *testing.T) {
	t.Parallel()
	const operations = "7:0 Read 9\n7:0 Write 9\n254:0 Read 3034\n254:0 Write 12\n254:0 Sync 3034\n254:0 Total 3046\nTotal 3046\n"
	const bytes = "254:0 Read 12427264\n254:0 Write 49152\nTotal 12476416\n"
	want := served{Reads: 3034, Writes: 12, ReadBytes: 12427264, WriteBytes: 49152}
	if diff := cmp.Diff(want, parseServed1(operations, bytes, "254:0")); diff != "" {
		t.Errorf("version 1 (-want +got):\n%s", diff)
	}
	const stat = "7:0 rbytes=1 wbytes=1 rios=1 wios=1 dbytes=0 dios=0\n254:0 rbytes=12427264 wbytes=49152 rios=3034 wios=12 dbytes=0 dios=0\n"
	if diff := cmp.Diff(want, parseServed2(stat, "254:0")); diff != "" {
		t.Errorf("version 2 (-want +got):\n%s", diff)
	}
	if got := parseServed1("Total 0\n", "Total 0\n", "254:0"); got != (served{}) {
		t.Errorf("a group that did nothing was served %+v", got)
	}
}

func TestStallOfPressure(t *testing.T) {
	t.Parallel()
	got := parseStall("some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=250000\n")
	if want := (stall{Some: 1.5, Full: 0.25}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := parseStall(""); got != (stall{}) {
		t.Errorf("without the file: got %+v", got)
	}
}

func TestBusyProcessorsAreThoseOfProgramsAndTheKernel(t *testing.T) {
	t.Parallel()
	seconds, processors := parseBusy("cpu  100 20 30 4000 500 60 70 80\ncpu0 50 10 15 2000 250 30 35 40\ncpu1 50 10 15 2000 250 30 35 40\nintr 5\n")
	if seconds != 1.5 || processors != 2 {
		t.Errorf("got %v CPU-seconds of %d processors, want 1.5 of 2", seconds, processors)
	}
}

func TestNoiseIsWhatNoPodDid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		device       device
		pods         served
		kernelWrites bool
		want         float64
	}{
		"nothing":                              {device{}, served{}, false, 0},
		"the pods alone":                       {device{Reads: 1000, Writes: 500}, served{Reads: 1000, Writes: 500}, false, 0},
		"a tenth is others'":                   {device{Reads: 1000, Writes: 1000}, served{Reads: 1000, Writes: 800}, false, 0.1},
		"the kernel's journal on an idle disk": {device{Writes: 30}, served{}, false, 0},
		"writes of the kernel for pods":        {device{Reads: 1000, Writes: 5000}, served{Reads: 1000, Writes: 10}, true, 0},
		"reads beside them":                    {device{Reads: 1000, Writes: 5000}, served{Reads: 500, Writes: 10}, true, 0.5},
		"requests that were merged":            {device{Reads: 100}, served{Reads: 1000}, false, 0},
	} {
		if got := foreignOperations(c.device, c.pods, c.kernelWrites, 2); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if (noise{Operations: 0.05, CPU: 0.1}).spoils(0.1) || !(noise{Operations: 0.06}).spoils(0.1) || !(noise{CPU: 0.11}).spoils(0.1) {
		t.Error("a run is noisy with more than 5 % foreign operations or 10 % foreign CPU time, and else not")
	}
}
