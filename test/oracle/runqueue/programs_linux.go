package runqueue

import (
	"slices"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Where the programs have the event that they write, on their stack: from its end, which is in R10.
const (
	eventSize      = int16(unsafe.Sizeof(event{}))
	eventAt        = int16(unsafe.Offsetof(event{}.At)) - eventSize
	eventKind      = int16(unsafe.Offsetof(event{}.Kind)) - eventSize
	eventCPU       = int16(unsafe.Offsetof(event{}.CPU)) - eventSize
	eventOne       = int16(unsafe.Offsetof(event{}.One)) - eventSize
	eventNext      = int16(unsafe.Offsetof(event{}.Next)) - eventSize
	eventPreempted = int16(unsafe.Offsetof(event{}.Preempted)) - eventSize
	eventState     = int16(unsafe.Offsetof(event{}.State)) - eventSize

	sideGroup     = int16(unsafe.Offsetof(side{}.Group))
	sideThread    = int16(unsafe.Offsetof(side{}.Thread))
	sideLimits    = int16(unsafe.Offsetof(side{}.Limits))
	sideThrottled = int16(unsafe.Offsetof(side{}.Throttled))
)

// Programs get the arguments of their tracepoint, eight bytes each, where R1 points to, which they keep in R6.
const arguments, argument = asm.R6, 8

// assembler writes the programs.
type assembler struct {
	*layout

	ring, lost *ebpf.Map // of events; of one number, of those that found the ring full
}

// programs returns the program at each tracepoint.
func (a *assembler) programs() map[string]asm.Instructions {
	const first, second, third, fourth = 0, argument, 2 * argument, 3 * argument
	wake := a.event(woken, a.thread(first, eventOne), a.cpuOf(first))
	return map[string]asm.Instructions{
		// Its arguments are whether it is a preemption, the previous thread, the next one, and the state of the previous one.
		"sched_switch": a.event(switched,
			asm.Instructions{asm.FnGetSmpProcessorId.Call(), asm.StoreMem(asm.RFP, eventCPU, asm.R0, asm.Word)},
			load(first), store(eventPreempted, asm.Word), load(fourth), store(eventState, asm.Word),
			a.thread(second, eventOne), a.limits(second, eventOne), a.thread(third, eventNext), a.limits(third, eventNext)),
		"sched_wakeup":     wake,
		"sched_wakeup_new": wake,
		// Its arguments are the thread and the processor to which it moves.
		"sched_migrate_task": a.event(migrated, a.thread(first, eventOne), load(second), store(eventCPU, asm.Word)),
	}
}

// event returns a program that writes an event of a kind.
func (a *assembler) event(k kind, parts ...asm.Instructions) asm.Instructions {
	program := asm.Instructions{asm.Mov.Reg(arguments, asm.R1), asm.Mov.Imm(asm.R1, 0)}
	for offset := -eventSize; offset < 0; offset += 8 {
		program = append(program, store(offset, asm.DWord)...)
	}
	program = append(program,
		asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, eventAt, asm.R0, asm.DWord),
		asm.StoreImm(asm.RFP, eventKind, int64(k), asm.Word),
	)
	return append(append(program, slices.Concat(parts...)...), a.output()...)
}

// output hands the event over, or counts it as lost. The observer looks for events from time to time: to be woken for each would have
// the scheduler do more than what is observed.
func (a *assembler) output() asm.Instructions {
	const noWakeup = 1 // BPF_RB_NO_WAKEUP
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, a.ring.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -int32(eventSize)),
		asm.Mov.Imm(asm.R3, int32(eventSize)), asm.Mov.Imm(asm.R4, noWakeup),
		asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.StoreImm(asm.RFP, -eventSize, 0, asm.Word), // the index of the number
		asm.LoadMapPtr(asm.R1, a.lost.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -int32(eventSize)),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("end"), asm.Return(),
	}
}

// load loads an argument into R1.
func load(from int16) asm.Instructions {
	return asm.Instructions{asm.LoadMem(asm.R1, arguments, from, asm.DWord)}
}

// store stores R1 in the event.
func store(to int16, size asm.Size) asm.Instructions {
	return asm.Instructions{asm.StoreMem(asm.RFP, to, asm.R1, size)}
}

// follow replaces the pointer in R1 by what it points to, at each offset in turn. The kernel lets programs follow pointers of its types
// unchecked: what cannot be read is 0.
func follow(offsets ...int16) (program asm.Instructions) {
	for _, offset := range offsets {
		program = append(program, asm.LoadMem(asm.R1, asm.R1, offset, asm.DWord))
	}
	return program
}

// thread fills in the thread that an argument is, and its group.
func (a *assembler) thread(from, side int16) asm.Instructions {
	return slices.Concat(
		load(from), asm.Instructions{asm.LoadMem(asm.R1, asm.R1, a.taskID, asm.Word)}, store(side+sideThread, asm.Word),
		load(from), follow(a.taskGroup, a.groupCgroup, a.cgroupNode, a.nodeID), store(side+sideGroup, asm.DWord),
	)
}

// limits fills in how the limits of a thread's group stand on its processor.
func (a *assembler) limits(from, side int16) asm.Instructions {
	return slices.Concat(
		load(from), follow(a.taskQueue), asm.Instructions{asm.LoadMem(asm.R1, asm.R1, a.queueLimits, asm.Word)}, store(side+sideLimits, asm.Word),
		load(from), follow(a.taskQueue, a.queueThrottled), store(side+sideThrottled, asm.DWord),
	)
}

// cpuOf fills in the processor in whose queue the thread is that an argument is.
func (a *assembler) cpuOf(from int16) asm.Instructions {
	return slices.Concat(load(from), asm.Instructions{asm.LoadMem(asm.R1, asm.R1, a.taskCPU, asm.Word)}, store(eventCPU, asm.Word))
}
