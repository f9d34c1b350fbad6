package reading

import (
	"errors"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// parses checks the properties of each parser for any text: it does not panic, names a line within the text, and
// returns no time below 0.
func parses(f *testing.F, parse func(text []byte) ([]time.Duration, error)) {
	f.Helper()
	f.Add([]byte{})
	f.Add([]byte("\n"))
	f.Add([]byte("99999999999999999999 99999999999999999999 99999999999999999999"))
	f.Fuzz(func(t *testing.T, text []byte) {
		times, err := parse(text)
		if err != nil {
			var at *lineError
			if !errors.As(err, &at) || at.line < 1 || at.line > 2+len(text) {
				t.Errorf("%v names no line of the text", err)
			}
			return
		}
		for _, value := range times {
			if value < 0 && value != Unknown {
				t.Errorf("%q has a time of %v", text, value)
			}
		}
	})
}

func FuzzSchedstat(f *testing.F) {
	f.Add([]byte("83204 239844 2\n"))
	f.Add([]byte("9223372036854775807 9223372036854775808 2\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		var task Task
		err := task.schedstat(text)
		return []time.Duration{task.Run, task.Wait, time.Duration(task.Slices)}, err
	})
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("7 (a) R 1 (\nb) S 1 7 7 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 10000 3 3 18446744073709551615 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0 25 0 0\n"))
	f.Add([]byte("7 () ) R"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		var task Task
		err := task.stat(text)
		return []time.Duration{task.Start, task.Blocked, time.Duration(task.CPU), time.Duration(task.Parent)}, err
	})
}

func FuzzSched(f *testing.F) {
	f.Add([]byte("a (7, #threads: 1)\n---\nnr_voluntary_switches                        :                  102\nnr_involuntary_switches : 23\n"))
	f.Add([]byte("\nnr_voluntary_switches : 9223372036854775808"))
	f.Add([]byte("a\nse.nr_migrations : 7\nnr_voluntary_switches : 1\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		var task Task
		err := task.sched(text)
		return []time.Duration{max(0, time.Duration(task.Sleeps)), max(0, time.Duration(task.Moves))}, err
	})
}

func FuzzCPUStat(f *testing.F) {
	f.Add([]byte("usage_usec 5000000\nuser_usec 1\nnr_throttled 3\nthrottled_usec 700000\n"))
	f.Add([]byte("nr_periods 1\nnr_throttled 1\nthrottled_time 77\n"))
	f.Add([]byte("usage_usec \nusage_usec 9223372036854775807"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		a, err := cpuStat(text)
		return []time.Duration{a.used, a.throttled, time.Duration(a.periods), time.Duration(a.throttledPeriods)}, err
	})
}

func FuzzPressure(f *testing.F) {
	f.Add([]byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"))
	f.Add([]byte("full total=1\nsome total= total=1\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		some, full, err := pressure(text)
		return []time.Duration{some, full}, err
	})
}

func FuzzProcStat(f *testing.F) {
	f.Add([]byte("cpu  100 10 50 1000 20 5 5 30 7 0\ncpu0 50 5 25 500 10 3 2 15 4 0\nintr 1 2\n"))
	f.Add([]byte("cpu 1 2 3 4 5 6 7 8\ncpu7\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		cpus, busy, stolen, err := procStat(text)
		return []time.Duration{time.Duration(cpus), busy, stolen}, err
	})
}

func FuzzProcessors(f *testing.F) {
	f.Add([]byte("0-3,8\n"))
	f.Add([]byte("0\n"))
	f.Add([]byte("cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\nintr 1\n"))
	f.Add([]byte("4000000000 5000000000 \n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		first, _ := nextLine(text)
		set, listErr := processorSet(string(first))
		if list := set.List(); len(list) > 0 && (list[0] < 0 || list[len(list)-1] > maxProcessors) {
			return []time.Duration{-2}, nil
		}
		all, err := processorTimes(text)
		if err != nil {
			return nil, errors.Join(err, listErr)
		}
		_ = perProcessor(text, all)
		var times []time.Duration
		for _, p := range all {
			times = append(times, p.Busy, p.Stolen)
		}
		return times, nil
	})
}

func FuzzUptime(f *testing.F) {
	f.Add([]byte("1000.50 1800.00\n"))
	f.Add([]byte("9223372036.85\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		since, err := uptime(text)
		return []time.Duration{since}, err
	})
}

func FuzzUsage(f *testing.F) {
	f.Add([]byte("88\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		used, err := cpuacctUsage(text)
		return []time.Duration{used}, err
	})
}

func FuzzMicros(f *testing.F) {
	f.Add([]byte("30000\n"))
	f.Add([]byte("9223372036854775807\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		burst, err := micros(text)
		return []time.Duration{burst}, err
	})
}

func FuzzIDs(f *testing.F) {
	f.Add([]byte("1\n22\n333\n"))
	f.Add([]byte("1\n0\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		found, err := ids(text, nil)
		for _, id := range found {
			if id <= 0 {
				return []time.Duration{time.Duration(id)}, nil
			}
		}
		return nil, err
	})
}

func FuzzDiskStats(f *testing.F) {
	f.Add([]byte(" 254       0 vda 83994 15560 2884930 27124 35010 191351 21022232 39591 0 17884 70443 12649 71 4568592 3714 14 12 9 9\n"))
	f.Add([]byte("   8       1 sda1 1 2 3 4\n   8       0 sda 446216 784926 9550688 4382310 424847 312726 5922052 19310380 0 3376340 23705160\n"))
	f.Add([]byte("8 0 sda 18446744073709551615 1 1 1 1 1 1 1 1 1 1"))
	parses(f, func(text []byte) (times []time.Duration, err error) {
		disks, err := diskStats(text, func(name []byte) string { return string(name) })
		for i := range disks {
			d := &disks[i]
			if !usage.IsDiskName(d.Name) {
				return []time.Duration{-2}, nil
			}
			times = append(times, d.Busy, d.Queued, d.Reads.Time, d.Writes.Time, d.Flushes.Time, time.Duration(d.Reads.Bytes), time.Duration(d.Writes.Bytes))
		}
		return times, err
	})
}

// countsOf returns the counters of disks as times that must not be below 0.
func countsOf(disks []PodDisk, limits []DiskLimit) (counts []time.Duration) {
	if len(disks) > maxPodDevices || len(limits) > maxPodDevices {
		return []time.Duration{-2}
	}
	for _, d := range disks {
		counts = append(counts, time.Duration(d.ReadOperations), time.Duration(d.ReadBytes), time.Duration(d.WriteOperations), time.Duration(d.WriteBytes))
	}
	for _, l := range limits {
		counts = append(counts, time.Duration(l.ReadOperations), time.Duration(l.ReadBytes), time.Duration(l.WriteOperations), time.Duration(l.WriteBytes))
	}
	return counts
}

func FuzzIOStat(f *testing.F) {
	f.Add([]byte("254:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n7:0 7:1 \n8:0 rbytes=1 cost.usage=x\n"))
	f.Add([]byte("254:0 rios=9223372036854775807\n254:0 rios=9223372036854775807\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		var disks []PodDisk
		err := ioStat(text, &disks)
		return countsOf(disks, nil), err
	})
}

func FuzzBlkio(f *testing.F) {
	f.Add([]byte("254:0 Read 28914\n254:0 Write 1\n254:0 Sync 28915\n254:0 Total 28915\nTotal 28915\n"))
	f.Add([]byte("Total 0\n"))
	f.Add([]byte("254:0 Read x\n"))
	parses(f, func(text []byte) ([]time.Duration, error) {
		var disks []PodDisk
		err := errors.Join(blkioStat(text, false, &disks), blkioStat(text, true, &disks))
		return countsOf(disks, nil), err
	})
}

func FuzzDiskLimits(f *testing.F) {
	f.Add([]byte("8:16 rbps=2097152 wbps=max riops=max wiops=120\n"), false)
	f.Add([]byte("8:16 2097152\n8:16 1\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, version1 bool) {
		var limits []DiskLimit
		err := ioMax(text, &limits)
		if version1 {
			err = blkioLimit(text, "rbps", &limits)
		}
		var at *lineError
		if err != nil && (!errors.As(err, &at) || at.line < 1 || at.line > 1+len(text)) {
			t.Errorf("%v names no line of the text", err)
		}
		for _, n := range countsOf(nil, limits) {
			if n < 0 {
				t.Errorf("%q has a limit of %d", text, n)
			}
		}
	})
}

func FuzzSysfs(f *testing.F) {
	f.Add("none [mq-deadline] kyber", "../../devices/pci0000:00/virtio1/block/vda/vda1")
	f.Add("]x[", "block")
	f.Fuzz(func(t *testing.T, schedulers, link string) {
		if name := scheduler(schedulers); name != "" && !usage.IsScheduler(name) {
			t.Errorf("%q has the scheduler %q", schedulers, name)
		}
		for _, name := range wholeOf(link) {
			if !usage.IsDiskName(name) {
				t.Errorf("%q leads to %q", link, name)
			}
		}
	})
}

func FuzzDirectory(f *testing.F) {
	f.Add("kubepods-burstable-pod0a1b_2c.slice")
	f.Add("kubelet-kubepods.slice")
	f.Fuzz(func(t *testing.T, name string) {
		what, uid := directory(name)
		if (what == onePod) != (uid != "") || uid != "" && !usage.IsUID(uid) {
			t.Errorf("%q is %d with UID %q", name, what, uid)
		}
		_ = container(name)
	})
}
