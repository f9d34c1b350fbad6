package linuxsched_test

import (
	"fmt"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

// A web server beside a backup, on two processors and a disk.
func ExampleMachine_Dilations() {
	machine := linuxsched.Machine{Kernel: linuxsched.Linux6_12(), CPUs: 2, Stations: []linuxsched.Station{{Discipline: linuxsched.FIFO}}}
	server, backup := linuxsched.Pod{Group: linuxsched.Group{Weight: 100}}, linuxsched.Pod{Group: linuxsched.Group{Weight: 10}}
	for i := range 4 { // each computes for 2 ms in 10, and reads for 1 ms
		server.Threads = append(server.Threads, linuxsched.Rounds(10*time.Millisecond, []float64{0.2, 0.1}, linuxsched.Exponential, uint64(i)))
	}
	for i := range 2 {
		backup.Threads = append(backup.Threads, linuxsched.Rounds(20*time.Millisecond, []float64{0.5, 0.5}, linuxsched.Exponential, uint64(10+i)))
	}
	dilations, err := machine.Dilations([]linuxsched.Pod{server, backup}, time.Second, 100*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("server %.1f, backup %.1f\n", dilations[0], dilations[1])
	// Output: server 1.9, backup 1.2
}
