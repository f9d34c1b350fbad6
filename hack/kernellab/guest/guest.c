// Guest is the first and only program of the kernel lab's virtual machine. It mounts what it needs, runs the pods of each line of
// /mixes, writes what they took to the second serial port, and powers off.
//
// It is C and not Go: threads of a Go runtime (its monitor, its collector, its poller) would run beside the pods, and bursts of 0.2 ms
// would not end where they should.
//
// The first line of /mixes is CGROUP SETTLE FACTOR GROUPS: the version of control groups (1 or 2), how many seconds to wait after
// booting, how many times longer than it chooses the scheduler's slices and granularities are to be, and the path of a pod's control
// group, which has the number of the pod where it has a format of printf. Groups above the first such part are shared, those below have
// the weight and quota of the pod, too. Then a line for each mix, NAME SECONDS POD…, where POD is
// weight:quota:spare:loading:burst:threads:kind:forks:seed
//
//	weight   cpu.weight (1 to 10000), or cpu.shares of version 1
//	quota    thousandths of a core per period of 100 ms, 0 for none
//	spare    thousandths of a core that a period may use beyond its quota if earlier ones left them (cpu.max.burst)
//	loading  part of a thread's time alone in which it computes; 1 never sleeps
//	burst    mean length of a burst, in milliseconds of computing
//	threads  single-threaded processes, which the scheduler takes for threads
//	kind     e for exponential bursts and sleeps, c for constant ones
//	forks    1 if a child process computes each burst
//
// For each pod it prints NAME,POD,BURSTS,OWN,COMPUTED,RUN,WAIT,SLICES,PERIODS,THROTTLED,HELD: how many bursts ended within the SECONDS,
// how many seconds a thread that never waits would take for what the threads did, and for the part of it that is computing; how long
// they ran and waited for a processor and how often they got one (schedstat); in how many periods of the quota the pod ran and was
// throttled, and for how many seconds.
//
// If there is a program /gauge, it observes each mix, but for the last second: "gauge once". What it says is printed after the mix, each
// line after "gauge,NAME,".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAXPODS 64
#define MAXTHREADS 64
#define STACK (1 << 17)
#define LOOK 200   // turns of the loop between two looks at the clock, 100 µs
#define PERIOD 1e5 // of a quota, in µs: the kubelet's
#define LEAD 0.5   // seconds between the start of a mix's processes and of its window
#define PATH 512   // room for the path of a control group

struct pod {
	int weight, quota, spare, threads, forks;
	double loading, burst;
	char kind;
	long seed;
};

// account is what a thread did.
struct account {
	long bursts;
	double own, computed, run, wait, slices;
};

// thread is a process of a pod, and the window in which its work counts.
struct thread {
	const struct pod *pod;
	double start, end, burst, took; // the burst is that of its child
	long seed;
	const char *group;
	char *stack; // its child has half of the stack
};

static int version;		// of control groups
static char pattern[PATH / 2];	// of the path of a pod's
static const char *tree = "/sys/fs/cgroup";
static double turn = 1; // seconds of one turn of the loop
static FILE *results;	// the second serial port
static struct account accounts[MAXPODS * MAXTHREADS];
static struct thread threads[MAXPODS * MAXTHREADS];

static void stop(void) {
	sync();
	reboot(RB_POWER_OFF);
	for (;;) pause();
}

static void fail(const char *what) {
	fprintf(results ? results : stderr, "error,%s: %s\n", what, strerror(errno));
	if (results) {
		fflush(results);
		tcdrain(fileno(results));
	}
	if (getpid() == 1) stop();
	_exit(1);
}

static double clocked(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double now(void) { return clocked(CLOCK_MONOTONIC); }

static void sleep_for(double seconds) {
	struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	nanosleep(&t, NULL);
}

static void sleep_until(double when) {
	struct timespec t = {(time_t)when, (long)((when - (time_t)when) * 1e9)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
}

// spin takes a number of turns. An emulator makes nothing of instructions that do nothing, but its clock counts them.
static void spin(long turns) {
	for (; turns > 0; turns--) __asm__ volatile(".rept 498\n\tnop\n\t.endr");
}

// put writes a formatted text to a file.
__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *format, ...) {
	char text[64];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	int file = open(path, O_WRONLY);
	if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
	close(file);
}

static const char *in(const char *folder, const char *file) {
	static char path[PATH + 64];
	snprintf(path, sizeof path, "%s/%s", folder, file);
	return path;
}

// value returns the number that follows a key in a file of keys and numbers, 0 if there is none.
static double value(const char *path, const char *key) {
	char word[64];
	double number, found = 0;
	FILE *file = fopen(path, "r");
	if (!file) fail(path);
	while (fscanf(file, "%63s %lf", word, &number) == 2)
		if (!strcmp(word, key)) found = number;
	fclose(file);
	return found;
}

static double draw(double mean, char kind, unsigned short state[3]) { return kind == 'e' ? -mean * log(1 - erand48(state)) : mean; }

// add adds what the kernel says of this process to an account.
static void add(struct account *a) {
	char text[128] = "", *at = text;
	int file = open("/proc/self/schedstat", O_RDONLY);
	if (file < 0 || read(file, text, sizeof text - 1) <= 0) fail("/proc/self/schedstat");
	close(file);
	strtod(at, &at); // the time run as of the last tick: the clock is exact
	double wait = strtod(at, &at), slices = strtod(at, &at);
	a->run += clocked(CLOCK_PROCESS_CPUTIME_ID), a->wait += wait * 1e-9, a->slices += slices;
}

// compute takes as many turns as a burst of some seconds has, unless the window ends before. It returns the seconds of its turns.
static double compute(double burst, double end) {
	long turns = lround(burst / turn), taken = 0;
	while (taken < turns && now() < end) {
		long next = turns - taken < LOOK ? turns - taken : LOOK;
		spin(next);
		taken += next;
	}
	return taken * turn;
}

// be_child is the process that computes a burst.
static int be_child(void *argument) {
	struct thread *t = argument;
	struct account *a = &accounts[t - threads];
	t->took = compute(t->burst, t->end);
	add(a);
	_exit(0);
}

// compute_in_child is compute in a child process, whose run and wait count as those of its parent.
static double compute_in_child(struct thread *t, double burst) {
	t->burst = burst;
	pid_t child = clone(be_child, t->stack + STACK / 2, CLONE_VM | SIGCHLD, t);
	if (child < 0) fail("clone");
	waitpid(child, NULL, 0);
	return t->took;
}

// run computes and sleeps in turns while the window lasts.
static void run(struct thread *t, struct account *a) {
	const struct pod *p = t->pod;
	unsigned short state[3] = {0x330e, t->seed & 0xffff, t->seed >> 16 & 0xffff};
	double burst = p->burst * 1e-3, pause = burst * (1 - p->loading) / p->loading;
	int asleep = erand48(state) >= p->loading;
	double first = p->kind == 'c' ? erand48(state) : 1; // the rest of the period that is under way
	sleep_until(t->start);
	struct account idle = {0};
	add(&idle);
	for (; now() < t->end; asleep = pause > 0 && !asleep, first = 1) {
		double length = first * draw(asleep ? pause : burst, p->kind, state);
		if (asleep) {
			double left = fmax(0, t->end - now());
			sleep_for(fmin(length, left));
			a->own += fmin(length, left);
			continue;
		}
		double took = p->forks ? compute_in_child(t, length) : compute(length, t->end);
		a->own += took, a->computed += took;
		a->bursts += now() < t->end;
	}
	add(a);
	a->run -= idle.run, a->wait -= idle.wait, a->slices -= idle.slices;
}

static int parse(const char *text, struct pod *p) {
	return sscanf(text, "%d:%d:%d:%lf:%lf:%d:%c:%d:%ld", &p->weight, &p->quota, &p->spare, &p->loading, &p->burst, &p->threads, &p->kind,
		      &p->forks, &p->seed) == 9 && p->threads >= 1 && p->threads <= MAXTHREADS;
}

// set_group gives a control group the weight and the quota of a pod.
static void set_group(const char *group, const struct pod *p) {
	if (version == 1) {
		put(in(group, "cpu.shares"), "%d", p->weight);
		if (p->quota) put(in(group, "cpu.cfs_quota_us"), "%.0f", p->quota * PERIOD / 1000);
		if (p->spare) put(in(group, "cpu.cfs_burst_us"), "%.0f", p->spare * PERIOD / 1000);
		return;
	}
	put(in(group, "cpu.weight"), "%d", p->weight);
	if (p->quota) put(in(group, "cpu.max"), "%.0f %.0f", p->quota * PERIOD / 1000, PERIOD);
	if (p->spare) put(in(group, "cpu.max.burst"), "%.0f", p->spare * PERIOD / 1000);
}

// make_groups makes the control groups down to that of a pod, whose path it returns.
static const char *make_groups(int number, const struct pod *p) {
	static char path[PATH];
	char format[PATH], *rest = format, *part;
	int shared = 1;
	strcpy(format, pattern);
	strcpy(path, tree);
	while ((part = strsep(&rest, "/"))) {
		shared = shared && !strchr(part, '%');
		if (version == 2) put(in(path, "cgroup.subtree_control"), "+cpu");
		size_t length = strlen(path);
		path[length++] = '/';
		snprintf(path + length, sizeof path - length, part, number);
		if (mkdir(path, 0755) && !(shared && errno == EEXIST)) fail(path);
		if (!shared) set_group(path, p);
	}
	return path;
}

// remove_groups removes those of a pod: the part of the pattern with its number, and those below.
static void remove_groups(char *path) {
	for (const char *part = strchr(pattern, '%'); part; part = strchr(part + 1, '/')) {
		if (rmdir(path)) fail(path);
		*strrchr(path, '/') = 0;
	}
}

// be_thread is the process of a thread.
static int be_thread(void *argument) {
	struct thread *t = argument;
	char procs[PATH + 64];
	snprintf(procs, sizeof procs, "%s/cgroup.procs", t->group);
	put(procs, "%d", (int)syscall(SYS_getpid));
	run(t, &accounts[t - threads]);
	_exit(0);
}

// start_threads starts the processes of a pod, which wait for the window to begin. They share one address space, since an emulator
// takes long to switch between several; to the scheduler they are processes like others.
static void start_threads(const char *group, int pod, const struct pod *p, double start, double end) {
	for (int k = 0; k < p->threads; k++) {
		struct thread *t = &threads[pod * MAXTHREADS + k];
		*t = (struct thread){.pod = p, .start = start, .end = end, .seed = p->seed + 1000003L * k, .group = group, .stack = t->stack};
		if (!t->stack) t->stack = malloc(STACK);
		if (!t->stack || clone(be_thread, t->stack + STACK, CLONE_VM | SIGCHLD, t) < 0) fail("clone");
	}
}

// start_gauge starts /gauge, if there is one, to observe a window but for its last second. It returns whether there is one.
static int start_gauge(double start, double seconds) {
	if (access("/gauge", X_OK)) return 0;
	pid_t child = fork();
	if (child < 0) fail("fork");
	if (child) return 1;
	char interval[32];
	snprintf(interval, sizeof interval, "--interval=%.3fs", seconds - 1);
	int file = open("/observed", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0) fail("/observed");
	sleep_until(start);
	execl("/gauge", "gauge", "once", interval, "--pod-logs=", "--node-name=lab", NULL);
	fail("/gauge");
	return 1;
}

// print_gauge prints what a gauge has said of a mix.
static void print_gauge(const char *mix) {
	char line[1024];
	FILE *file = fopen("/observed", "r");
	if (!file) fail("/observed");
	while (fgets(line, sizeof line, file)) fprintf(results, "gauge,%s,%s", mix, line);
	fclose(file);
}

// run_mix runs the pods of a line and prints what they took.
static void run_mix(char *line) {
	char *name = strtok(line, " \n"), *seconds = strtok(NULL, " \n"), groups[MAXPODS][PATH];
	struct pod pods[MAXPODS];
	int n = 0;
	for (char *text; (text = strtok(NULL, " \n")); n++) {
		errno = EINVAL;
		if (n == MAXPODS || !parse(text, &pods[n])) fail(text);
	}
	memset(accounts, 0, sizeof accounts);
	double start = now() + LEAD, end = start + strtod(seconds, NULL);
	for (int k = 0; k < n; k++) {
		strcpy(groups[k], make_groups(k + 1, &pods[k]));
		start_threads(groups[k], k, &pods[k], start, end);
	}
	int observed = start_gauge(start, end - start);
	while (wait(NULL) > 0 || errno == EINTR) continue;
	for (int k = 0; k < n; k++) {
		struct account sum = {0};
		for (int thread = 0; thread < pods[k].threads; thread++) {
			struct account *a = &accounts[k * MAXTHREADS + thread];
			sum.bursts += a->bursts, sum.own += a->own, sum.computed += a->computed, sum.run += a->run, sum.wait += a->wait, sum.slices += a->slices;
		}
		const char *stat = in(groups[k], "cpu.stat");
		double held = version == 1 ? value(stat, "throttled_time") * 1e-9 : value(stat, "throttled_usec") * 1e-6;
		fprintf(results, "%s,%d,%ld,%.6f,%.6f,%.6f,%.6f,%.0f,%.0f,%.0f,%.6f\n", name, k + 1, sum.bursts, sum.own, sum.computed, sum.run, sum.wait, sum.slices,
			value(stat, "nr_periods"), value(stat, "nr_throttled"), held);
		remove_groups(groups[k]);
	}
	if (observed) print_gauge(name);
	fflush(results);
}

static void mount_all(void) {
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sysfs", "/sys", "sysfs", 0, NULL)) fail("mount");
	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY) fail("/dev");
	struct termios raw;
	results = fopen("/dev/ttyS1", "w");
	if (!results || tcgetattr(fileno(results), &raw)) fail("/dev/ttyS1");
	cfmakeraw(&raw);
	tcsetattr(fileno(results), TCSANOW, &raw);
}

// mount_groups mounts control groups where a node has them.
static void mount_groups(void) {
	if (version == 2) {
		if (mount("cgroup2", tree, "cgroup2", 0, NULL)) fail("control groups of version 2");
		return;
	}
	if (mount("tmpfs", tree, "tmpfs", 0, NULL)) fail("tmpfs");
	tree = "/sys/fs/cgroup/cpu,cpuacct";
	if (mkdir(tree, 0755) || mount("cgroup", tree, "cgroup", 0, "cpu,cpuacct")) fail("control groups of version 1");
}

// describe prints the kernel's version, the scheduler's base slice in nanoseconds (until Linux 6.5 its minimum granularity), after it
// and its likes were multiplied by a factor, and how long a turn is in nanoseconds.
static void describe(double factor) {
	static const char *files[] = {"latency_ns", "wakeup_granularity_ns", "min_granularity_ns", "base_slice_ns"};
	struct utsname system;
	long slice = 0;
	uname(&system);
	if (mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL)) fail("debugfs");
	for (int i = 0; i < 4; i++) {
		const char *path = in("/sys/kernel/debug/sched", files[i]);
		FILE *file = fopen(path, "r");
		if (!file) continue; // of another scheduler
		if (fscanf(file, "%ld", &slice) != 1) fail(path);
		fclose(file);
		slice = lround(slice * factor);
		if (factor != 1) put(path, "%ld", slice);
	}
	fprintf(results, "kernel,%s,%ld,%.2f\n", system.release, slice, turn * 1e9);
	fflush(results);
}

// calibrate finds how long a turn takes that nothing interrupts.
static void calibrate(void) {
	for (int i = 0; i < 200; i++) {
		double from = now();
		spin(1000);
		double took = (now() - from) / 1000;
		if (took < turn) turn = took;
	}
}

int main(void) {
	static char line[1 << 16];
	double settle, factor;
	mount_all();
	FILE *mixes = fopen("/mixes", "r");
	errno = EINVAL;
	if (!mixes || !fgets(line, sizeof line, mixes) || sscanf(line, "%d %lf %lf %255s", &version, &settle, &factor, pattern) != 4)
		fail("/mixes");
	mount_groups();
	sleep_for(settle); // a kernel is busy with itself for a while after booting
	calibrate();
	describe(factor);
	while (fgets(line, sizeof line, mixes)) run_mix(line);
	fprintf(results, "end\n");
	fflush(results);
	tcdrain(fileno(results));
	stop();
}
