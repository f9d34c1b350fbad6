package trace

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func at(seconds float64) Moment { return Moment{At: seconds, Happened: true} }

func TestOpenbPodsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	want := []openbPod{
		{
			Name: "a", CPUMilli: 12000, MemoryMiB: 16384, GPUs: 1, GPUMilli: 460, GPUSpec: "T4|P100",
			QoS: "LS", Phase: "Running", Deleted: at(20), Scheduled: at(0),
		},
		{Name: "b", CPUMilli: 1000, QoS: "BE", Phase: "Pending", Created: 5},
	}
	const rows = "a,12000,16384,1,460,T4|P100,LS,Running,0,20,0\n" + "b,1000,0,0,0,,BE,Pending,5,,\n"
	for name, csv := range map[string]string{
		"as published":              podHeader + rows,
		"with a byte order mark":    "\ufeff" + podHeader + rows,
		"with CRLF":                 strings.ReplaceAll(podHeader+rows, "\n", "\r\n"),
		"without the last line end": strings.TrimSuffix(podHeader+rows, "\n"),
		"with blank lines":          podHeader + rows + "\n \r\n\n",
		"with quotes":               podHeader + strings.ReplaceAll(rows, "LS", `"LS"`),
		"with gzip":                 string(gzipped(t, []byte(podHeader+rows))),
		"with other columns and order": "zone,scheduled_time,deletion_time,creation_time,pod_phase,qos,gpu_spec,gpu_milli,num_gpu,memory_mib,cpu_milli,name\n" +
			"z,0,20,0,Running,LS,T4|P100,460,1,16384,12000,a\nz,,,5,Pending,BE,,0,0,0,1000,b\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readPods(csv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("pods differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABadPodIsReportedWithItsPlaceAndTheRule(t *testing.T) {
	t.Parallel()
	const (
		good    = "a,1,1,1,1000,,LS,Running,10,20,15\n"
		columns = "name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, pod_phase, creation_time, deletion_time, scheduled_time"
		whole   = ": must be a whole number from 0 to "
	)
	for name, c := range map[string]struct{ csv, want string }{
		"text for a time": {
			podHeader + good + "b,1,1,1,1000,,LS,Running,x,20,15\n",
			`pods.csv, line 3: creation_time "x"` + whole + `9,223,372,036`,
		},
		"a negative request": {
			podHeader + "b,-1,1,1,1000,,LS,Running,10,20,15\n",
			`pods.csv, line 2: cpu_milli "-1"` + whole + `1,000,000,000,000`,
		},
		"not a number at all": {
			podHeader + "b,1,NaN,1,1000,,LS,Running,10,20,15\n",
			`pods.csv, line 2: memory_mib "NaN"` + whole + `1,099,511,627,776`,
		},
		"a number beyond any limit": {
			podHeader + "b,1,1,99999999999999999999,1000,,LS,Running,10,20,15\n",
			`pods.csv, line 2: num_gpu "99999999999999999999"` + whole + `1,000,000`,
		},
		"an empty number": {
			podHeader + "b,,1,1,1000,,LS,Running,10,20,15\n",
			`pods.csv, line 2: cpu_milli ""` + whole + `1,000,000,000,000`,
		},
		"more than a whole GPU": {
			podHeader + "b,1,1,1,1001,,LS,Running,10,20,15\n",
			`pods.csv, line 2: gpu_milli "1001"` + whole + `1,000`,
		},
		"no name": {
			podHeader + ",1,1,1,1000,,LS,Running,10,20,15\n",
			`pods.csv, line 2: name "": must not be empty`,
		},
		"deleted before created": {
			podHeader + "b,1,1,1,1000,,LS,Running,10,9,\n",
			`pods.csv, line 2: deletion_time "9": is before creation_time, 10`,
		},
		"scheduled before created": {
			podHeader + "b,1,1,1,1000,,LS,Running,10,20,9\n",
			`pods.csv, line 2: scheduled_time "9": is before creation_time, 10`,
		},
		"deleted before scheduled": {
			podHeader + "b,1,1,1,1000,,LS,Running,10,20,21\n",
			`pods.csv, line 2: deletion_time "20": is before scheduled_time, 21`,
		},
		"a row cut short": {
			podHeader + good + "b,1,1,1",
			`pods.csv, line 3: has 4 of 11 columns; each row must have as many as the header`,
		},
		"a row too long": {
			podHeader + "b,1,1,1,1000,,LS,Running,10,20,15,16\n",
			`pods.csv, line 2: has 12 of 11 columns; each row must have as many as the header`,
		},
		"an open quote": {
			podHeader + `"b,1,1,1,1000,,LS,Running,10,20,15` + "\n" + good,
			`pods.csv, line 2: the quotes do not match; a quoted value must end on its own line`,
		},
		"an endless line": {
			podHeader + good + strings.Repeat("b", MaxLineBytes+1),
			`pods.csv, line 3: is longer than 65,536 bytes; is this a trace?`,
		},
		"a value too long to repeat": {
			podHeader + "b," + strings.Repeat("7", 1000) + ",1,1,1000,,LS,Running,10,20,15\n",
			`pods.csv, line 2: cpu_milli "` + strings.Repeat("7", 40) + `…"` + whole + `1,000,000,000,000`,
		},
		"an empty file": {
			"",
			`pods.csv: is empty; want a header row with the columns ` + columns,
		},
		"only a header": {
			podHeader,
			`pods.csv: has a header but no rows`,
		},
		"columns missing": {
			"name,cpu_milli,memory_mib,num_gpu,gpu_spec,pod_phase,creation_time,deletion_time,scheduled_time\n" + good,
			`pods.csv, line 1: the header lacks the columns gpu_milli, qos; it must have ` + columns,
		},
		"a column twice": {
			"name," + podHeader + good,
			`pods.csv, line 1: the header has the column name twice`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readPods(c.csv)
			if err == nil {
				t.Fatal("the trace was accepted")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsBeforeTheFirstBadOneAreHandedOut(t *testing.T) {
	t.Parallel()
	const rows = "a,1,1,0,0,,LS,Running,10,20,15\n" + "b,1,1,0,0,,LS,Running,11,x,15\n" + "c,1,1,0,0,,LS,Running,12,20,15\n"
	pods, err := readPods(podHeader + rows)
	var bad *Error
	if !errors.As(err, &bad) || bad.Line != 3 || bad.Column != "deletion_time" || bad.Value != "x" {
		t.Errorf("error = %#v, want one for line 3, deletion_time, x", err)
	}
	if len(pods) != 1 || pods[0].Name != "a" {
		t.Errorf("pods = %v, want just a", pods)
	}
}

func TestATruncatedGzipStreamIsAnErrorAndNoRowIsCut(t *testing.T) {
	t.Parallel()
	whole := gzipped(t, testdata(t, "openb_pod_list_first_2000.csv"))
	for _, kept := range []int{3, 11, len(whole) / 2, len(whole) - 9, len(whole) - 1} {
		_, err := readPods(string(whole[:kept]))
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "the file is cut short") {
			t.Errorf("%d of %d bytes: error = %v, want the file is cut short", kept, len(whole), err)
		}
	}
}

func TestADamagedGzipStreamIsAnError(t *testing.T) {
	t.Parallel()
	damaged := gzipped(t, testdata(t, "openb_pod_list_first_2000.csv"))
	damaged[len(damaged)-6] ^= 1 // in the checksum
	if _, err := readPods(string(damaged)); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("error = %v, want cannot be read", err)
	}
}

func TestAnErrorOfTheInputIsPassedOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	in := io.MultiReader(strings.NewReader(podHeader+"a,1,1,0,0,,LS,Running,10,20,15\nb,1"), iotest.ErrReader(broken))
	var names []string
	var last error
	for pod, err := range openbPods(in) {
		if last = err; err == nil {
			names = append(names, pod.Name)
		}
	}
	if !errors.Is(last, broken) || len(names) != 1 {
		t.Errorf("got pods %v and error %v, want a and the error of the input", names, last)
	}
}

func TestReadingMayStopEarly(t *testing.T) {
	t.Parallel()
	for pod, err := range openbPods(strings.NewReader(podHeader + "a,1,1,0,0,,LS,Running,10,20,15\nbroken\n")) {
		if err != nil || pod.Name != "a" {
			t.Errorf("got %v, %v, want a", pod, err)
		}
		break
	}
}

func TestTheRealPodsAreAllRead(t *testing.T) {
	t.Parallel()
	pods, err := readPods(string(testdata(t, "openb_pod_list_first_2000.csv")))
	if err != nil {
		t.Fatal(err)
	}
	var pending int
	for _, pod := range pods {
		if !pod.Scheduled.Happened {
			pending++
		}
	}
	// Counted with awk in the original file.
	if len(pods) != 2000 || pending != 158 || pods[1999].Created != 10_725_805 {
		t.Errorf("got %d pods, %d pending, the last created at %.0f s, want 2000, 158, 10725805", len(pods), pending, pods[len(pods)-1].Created)
	}
}
