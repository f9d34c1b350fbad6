// Package runqueue observes on a live kernel, by eBPF, who keeps threads waiting for processors: for how long threads of one control
// group could run and waited while those of another ran on their processor, and for how long their own limit held them back. The
// kernel accounts how long a thread waits, not for which other; this is the truth for what predictions and findings say of that. It
// shares nothing with them.
//
// # How
//
// Programs at the scheduler's tracepoints (sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task) write an event each into a
// ring buffer, from which a ledger is kept here: a thread waits from when it is woken, or preempted, until it is switched to, and
// whatever its processor runs meanwhile keeps it waiting. That is the definition of package linuxsched, too. A group whose limit
// stopped it waits for that limit first, for as long as the kernel's own sum says. The programs are written in the assembler of
// github.com/cilium/ebpf and take the layout of the kernel's structures from its type information (BTF), so that no compiler for eBPF
// is needed.
//
// # What it takes
//
// Linux 6.0 or later with BTF (/sys/kernel/btf/vmlinux), and the capabilities CAP_BPF and CAP_PERFMON. [Start] says what is missing.
// A switch and the wake-up before it take 1.3 µs longer, what the observer does with them included. Events that find the buffer full are
// counted, and then there is no account.
//
// # What it does not see
//
// What interrupts and the hypervisor take, which counts as running of what they interrupt. Threads that wait when it starts, until
// they have run once.
package runqueue
