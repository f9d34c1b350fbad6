// Pods runs mixes of pods on the kernel that it finds: control groups with the weights and quotas that a kubelet writes,
// and in each of them threads that compute for a burst and sleep, in turns.
//
//	pods GROUP <mixes
//
// GROUP is the folder of a control group that has the processors of the mixes and whose subtree has the controller cpu. A line of
// mixes is NAME SECONDS POD…, where POD is weight:quota:loading:burst:threads:kind:seed
//
//	weight   cpu.weight, 1 to 10000            burst    mean length of a burst, in ms
//	quota    thousandths of a core, 0 for none threads  single-threaded processes, which the scheduler takes for threads
//	loading  part of a thread's time alone in which it computes; 1 never sleeps
//	kind     exponential or constant bursts and sleeps, e or c
//
// A burst ends when its thread has used that much processor time, so that the speed of the processor, which a busy hyper-thread
// beside it changes, does not count. For each pod a line NAME,POD,BURSTS,STRETCH says how many bursts ended in the window, and how
// many times longer the window was than what was done in it takes a thread that never waits. What a thread did is known to within
// CHECK at both ends of the window, whatever it was doing there.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTLE 0.6 // seconds before a window begins
#define MAXPODS 64
#define TURNS 4000 // of the loop between two looks at the clock: some 10 µs

struct pod {
	int weight, quota, threads;
	double loading, burst;
	char kind;
	long seed;
};

// report is what a thread did in the window.
struct report {
	int pod, bursts;
	double own; // seconds that it takes a thread that never waits
};

static double clocked(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void sleep_until(double when) {
	struct timespec t = {(time_t)when, (long)((when - (time_t)when) * 1e9)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
}

static void fail(const char *what) {
	perror(what);
	exit(1);
}

static void put(const char *folder, const char *file, const char *text) {
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, file);
	int f = open(path, O_WRONLY);
	if (f < 0 || write(f, text, strlen(text)) < 0) fail(path);
	close(f);
}

static double draw(double mean, char kind) { return kind == 'e' ? -mean * log(1 - drand48()) : mean; }

// run computes and sleeps in turns until the window is over.
static struct report run(const struct pod *p, double start, const double window[2]) {
	double burst = p->burst * 1e-3, pause = burst * (1 - p->loading) / p->loading;
	double done = 0, mark[2];
	int edge = 0, bursts = 0, asleep = drand48() >= p->loading;
	double first = p->kind == 'c' ? drand48() : 1; // the rest of a period that is under way
	sleep_until(start);
	for (volatile unsigned long sink = 0;; asleep = pause > 0 && !asleep, first = 1) {
		double length = first * draw(asleep ? pause : burst, p->kind);
		if (asleep) {
			double from = clocked(CLOCK_MONOTONIC);
			for (; edge < 2 && window[edge] < from + length; edge++) {
				sleep_until(window[edge]);
				mark[edge] = done + fmax(0, window[edge] - from);
			}
			if (edge == 2) break;
			sleep_until(from + length);
		} else {
			double from = clocked(CLOCK_THREAD_CPUTIME_ID), used = 0;
			while (used < length && edge < 2) {
				for (int i = 0; i < TURNS; i++) sink += i;
				used = clocked(CLOCK_THREAD_CPUTIME_ID) - from;
				double now = clocked(CLOCK_MONOTONIC);
				for (; edge < 2 && now >= window[edge]; edge++) mark[edge] = done + used;
			}
			if (edge == 2) break;
			bursts += edge;
			length = used;
		}
		done += length;
	}
	return (struct report){.bursts = bursts, .own = mark[1] - mark[0]};
}

static int parse(char *text, struct pod *p) {
	return sscanf(text, "%d:%d:%lf:%lf:%d:%c:%ld", &p->weight, &p->quota, &p->loading, &p->burst, &p->threads, &p->kind, &p->seed) == 7;
}

// limit gives a control group the weight and the quota of a pod, by the files of version 2, or of version 1 where it is of that one.
static void limit(const char *folder, const struct pod *p) {
	char text[512];
	snprintf(text, sizeof text, "%s/cpu.shares", folder);
	int first = !access(text, F_OK);
	snprintf(text, sizeof text, "%d", first ? p->weight * 1024 / 100 : p->weight);
	put(folder, first ? "cpu.shares" : "cpu.weight", text);
	if (!p->quota) return;
	snprintf(text, sizeof text, first ? "%d" : "%d 100000", p->quota * 100);
	put(folder, first ? "cpu.cfs_quota_us" : "cpu.max", text);
}

static void measure(const char *group, const char *name, double seconds, char **texts, int pods) {
	struct pod pod[MAXPODS];
	char folder[MAXPODS][256], text[64];
	int channel[2];
	if (pipe(channel)) fail("pipe");
	double start = clocked(CLOCK_MONOTONIC) + 0.15, window[2] = {start + SETTLE, start + SETTLE + seconds};
	for (int i = 0; i < pods; i++) {
		struct pod *p = &pod[i];
		if (!parse(texts[i], p)) fprintf(stderr, "%s: %s is no pod\n", name, texts[i]), exit(2);
		snprintf(folder[i], sizeof folder[i], "%s/pod%d", group, i);
		if (mkdir(folder[i], 0755) && errno != EEXIST) fail(folder[i]);
		limit(folder[i], p);
		for (int k = 0; k < p->threads; k++) {
			pid_t child = fork();
			if (child < 0) fail("fork");
			if (child) continue;
			snprintf(text, sizeof text, "%d", getpid());
			put(folder[i], "cgroup.procs", text);
			srand48(p->seed * 1009 + k);
			struct report r = run(p, start, window);
			r.pod = i;
			_exit(write(channel[1], &r, sizeof r) != sizeof r);
		}
	}
	close(channel[1]);
	if (clocked(CLOCK_MONOTONIC) > start) fprintf(stderr, "%s: its threads were not there in time\n", name);
	double own[MAXPODS] = {0};
	int bursts[MAXPODS] = {0};
	for (struct report r; read(channel[0], &r, sizeof r) == sizeof r;) own[r.pod] += r.own, bursts[r.pod] += r.bursts;
	close(channel[0]);
	while (wait(NULL) > 0) continue;
	for (int i = 0; i < pods; i++) {
		printf("%s,%d,%d,%.5f\n", name, i + 1, bursts[i], pod[i].threads * seconds / own[i]);
		while (rmdir(folder[i]) && errno == EBUSY) usleep(1000);
	}
	fflush(stdout);
}

int main(int count, char **arguments) {
	if (count != 2) return fprintf(stderr, "want the folder of a control group\n"), 2;
	char line[8192];
	while (fgets(line, sizeof line, stdin)) {
		char *name = strtok(line, " \n"), *seconds = strtok(NULL, " \n"), *pods[MAXPODS];
		int n = 0;
		for (char *s; n < MAXPODS && (s = strtok(NULL, " \n")); n++) pods[n] = s;
		measure(arguments[1], name, strtod(seconds, NULL), pods, n);
	}
	return 0;
}
