// Pace is a plugin of QEMU that lets the processors of an emulated machine run side by side in virtual time: each takes a nanosecond per
// instruction, none is ahead of another one by more than a quantum, and time passes at once while all of them are idle. What the
// machine measures hardly depends on what else its host does. QEMU itself has this for one processor (-icount); several take turns
// there at the one clock. Its plugins may "control time" since version 9.1, but an accelerator that translates (TCG) has no clock that
// can be set until version 11.1 at least, so that they can only hold processors up.
//
// So the plugin gives the accelerator its clock: it sets what AccelOpsClass calls get_virtual_clock, set_virtual_clock and
// get_elapsed_ticks (include/system/accel-ops.h), whose places in the class are those of QEMU 10.0, and refuses a QEMU in which this has
// no effect. Timers run where a processor ends a quantum, under QEMU's lock, as they do in its main loop.
//
//	-accel tcg,thread=multi -plugin libpace.so,quantum=50000
//
// When QEMU ends it prints for how many quanta a processor did not wait for another one, which its host had stopped for 30 ms.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// What the plugin uses of include/qemu/qemu-plugin.h.
#define EXPORT __attribute__((visibility("default")))
#define API_VERSION 4
enum { INLINE_ADD_U64 = 0, CB_NO_REGS = 0, COND_GE = 7 };
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_scoreboard;
typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_init_cb(plugin_id id, void (*call)(plugin_id, unsigned int));
void qemu_plugin_register_vcpu_idle_cb(plugin_id id, void (*call)(plugin_id, unsigned int));
void qemu_plugin_register_vcpu_resume_cb(plugin_id id, void (*call)(plugin_id, unsigned int));
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*call)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(plugin_id id, void (*call)(plugin_id, void *), void *data);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb, int op, qemu_plugin_u64 entry, uint64_t value);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, void (*call)(unsigned int, void *), int flags, int condition,
					       qemu_plugin_u64 entry, uint64_t value, void *data);

// What it uses of QEMU itself, which exports all functions to its modules.
enum { QEMU_CLOCK_VIRTUAL = 1, QEMU_TIMER_ATTR_ALL = -1 };
enum { GET_VIRTUAL_CLOCK = 0xc0, SET_VIRTUAL_CLOCK = 0xc8, GET_ELAPSED_TICKS = 0xd0 };
char *cpus_get_accel(void);
int64_t cpus_get_virtual_clock(void);
int64_t cpus_get_elapsed_ticks(void);
void *qemu_get_cpu(int index);
bool cpu_thread_is_idle(void *cpu);
void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool qemu_clock_run_timers(int type);
int64_t qemu_clock_deadline_ns_all(int type, int attributes);

#define MAX 16	     // processors: those that a scoreboard has room for at first
#define PATIENCE 100 // looks at another processor before it is left behind
#define LOOK 300000  // nanoseconds of the host between two looks

// processor is one that has run since at until then, and since then as many instructions as *since.
struct processor {
	_Atomic int64_t then;
	uint64_t *since;
	bool running;
};

static struct processor processors[MAX];
static int count; // of processors
static uint64_t quantum = 50000;
static struct qemu_plugin_scoreboard *board;
static _Atomic int64_t clock_now; // of the last processor that runs
static long quanta, left_behind;
static __thread struct processor *own; // that the thread emulates

// mutex guards all but then and clock_now. It is never held by a thread that waits for QEMU's lock.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

static int64_t get_clock(void) {
	int64_t now = clock_now, mine = own ? own->then + (int64_t)*own->since : 0;
	return mine > now ? mine : now;
}

static void set_clock(int64_t time) { (void)time; }

// wait_a_look waits until another processor moves, or for a moment.
static void wait_a_look(void) {
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK;
	if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
	pthread_cond_timedwait(&moved, &mutex, &until);
}

// wake lets a processor run that was idle.
static void wake(struct processor *p) {
	p->running = true;
	if (p->then < clock_now) p->then = clock_now;
}

// sum_up adds what a processor has run since then.
static void sum_up(struct processor *p) {
	p->then += (int64_t)*p->since;
	*p->since = 0;
}

// advance sets the clock to where the last processor is that runs, and returns where; -1 if none runs.
static int64_t advance(void) {
	int64_t last = -1;
	for (struct processor *p = processors; p < processors + count; p++)
		if (p->running && (last < 0 || p->then < last)) last = p->then;
	if (last > clock_now) clock_now = last;
	pthread_cond_broadcast(&moved);
	return last;
}

// end_quantum waits until no processor is behind this one.
static void end_quantum(unsigned int index, void *data) {
	(void)data;
	pthread_mutex_lock(&mutex);
	own = &processors[index];
	own->running = true;
	sum_up(own);
	quanta++;
	for (int looks = 0;; looks++) {
		for (int i = 0; i < count; i++) // those that an interrupt has reached, but whose thread has not noticed
			if (!processors[i].running && !cpu_thread_is_idle(qemu_get_cpu(i))) wake(&processors[i]);
		if (own->then <= advance() + (int64_t)quantum / 2) break;
		if (looks == PATIENCE) {
			left_behind++;
			break;
		}
		wait_a_look();
	}
	pthread_mutex_unlock(&mutex);
	if (qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL) == 0) {
		bql_lock_impl(__FILE__, __LINE__);
		qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
		bql_unlock();
	}
}

static void become_idle(plugin_id id, unsigned int index) {
	(void)id;
	struct processor *p = &processors[index];
	pthread_mutex_lock(&mutex);
	sum_up(p);
	p->running = false;
	if (advance() < 0 && p->then > clock_now) clock_now = p->then;
	pthread_mutex_unlock(&mutex);
}

static void resume(plugin_id id, unsigned int index) {
	(void)id;
	pthread_mutex_lock(&mutex);
	own = &processors[index];
	wake(own);
	pthread_mutex_unlock(&mutex);
}

// skip_idle_time sets the clock to the next timer whenever no processor runs.
static void *skip_idle_time(void *data) {
	for (;;) {
		pthread_mutex_lock(&mutex);
		bool idle = count > 0;
		for (int i = 0; i < count; i++) idle = idle && !processors[i].running;
		if (!idle) wait_a_look();
		pthread_mutex_unlock(&mutex);
		if (!idle) continue;
		bql_lock_impl(__FILE__, __LINE__);
		for (int i = 0; i < count; i++) idle = idle && cpu_thread_is_idle(qemu_get_cpu(i));
		int64_t rest = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
		if (idle && rest >= 0) {
			clock_now += rest;
			qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
		}
		bql_unlock();
		if (!idle || rest < 0) usleep(20);
	}
	return data;
}

// set puts a function into the class of the accelerator.
static void set(size_t place, void *function) { memcpy(cpus_get_accel() + place, &function, sizeof function); }

static void begin(plugin_id id, unsigned int index) {
	(void)id;
	pthread_mutex_lock(&mutex);
	if (index >= MAX) {
		fprintf(stderr, "pace: more than %d processors\n", MAX);
		exit(1);
	}
	if ((int)index >= count) count = (int)index + 1;
	processors[index].since = qemu_plugin_scoreboard_find(board, index);
	set(GET_VIRTUAL_CLOCK, get_clock);
	set(SET_VIRTUAL_CLOCK, set_clock);
	set(GET_ELAPSED_TICKS, get_clock);
	clock_now++;
	if (cpus_get_virtual_clock() != clock_now || cpus_get_elapsed_ticks() != clock_now) {
		fprintf(stderr, "pace: this QEMU does not take its clock from where version 10.0 does\n");
		exit(1);
	}
	pthread_mutex_unlock(&mutex);
}

static void translate(plugin_id id, struct qemu_plugin_tb *block) {
	(void)id;
	qemu_plugin_u64 since = {board, 0};
	qemu_plugin_register_vcpu_tb_exec_cond_cb(block, end_quantum, CB_NO_REGS, COND_GE, since, quantum, NULL);
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, INLINE_ADD_U64, since, qemu_plugin_tb_n_insns(block));
}

static void report(plugin_id id, void *data) {
	(void)id, (void)data;
	fprintf(stderr, "pace: processors were out of step in %ld of %ld quanta\n", left_behind, quanta);
}

EXPORT int qemu_plugin_version = API_VERSION;

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
	(void)info;
	for (int i = 0; i < argc; i++)
		if (sscanf(argv[i], "quantum=%lu", &quantum) != 1 || quantum == 0) {
			fprintf(stderr, "pace: %s: want quantum=NANOSECONDS\n", argv[i]);
			return -1;
		}
	board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_init_cb(id, begin);
	qemu_plugin_register_vcpu_idle_cb(id, become_idle);
	qemu_plugin_register_vcpu_resume_cb(id, resume);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	pthread_t thread;
	return pthread_create(&thread, NULL, skip_idle_time, NULL);
}
