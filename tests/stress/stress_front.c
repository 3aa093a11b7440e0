/*
 * A session under load, over a socket and fakes: the test is the kernel. Many
 * requests wait at once, other threads complete them, signals come for some,
 * files are closed while their reads wait, and at the end SIGTERM comes in the
 * middle. Every request must be answered exactly once, with the right bytes or
 * the error of the end.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fakes.h"
#include "wire.h"

#define ROUNDS 3
#define REQUESTS 6000
#define OUTSTANDING_MAX 48
#define COMPLETERS 2
#define READ_BYTES 2048

struct pending {
	uint64_t unique; /* 0: free. */
	uint32_t opcode;
	uint64_t offset;
};

static struct wire wire;
static struct wire_reply reply;
static struct pending pending[OUTSTANDING_MAX];
static size_t pending_count;
static atomic_bool completing;
static unsigned seed = 1;

static void fail(const char *what)
{
	(void)fprintf(stderr, "stress_front: %s\n", what);
	abort();
}

static unsigned draw(unsigned limit)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % limit;
}

static void *complete(void *context)
{
	struct timespec pause = {.tv_nsec = 50000};

	while (atomic_load(&completing)) {
		fakes_release(0);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

static struct pending *find(uint64_t unique)
{
	for (size_t i = 0; i < OUTSTANDING_MAX; i++) {
		if (pending[i].unique == unique) {
			return &pending[i];
		}
	}
	return NULL;
}

static void check_read(const struct pending *request)
{
	if (reply.length != READ_BYTES) {
		fail("a read of another length");
	}
	for (size_t i = 0; i < READ_BYTES; i++) {
		if ((uint8_t)reply.data[i] != fakes_byte(request->offset + i)) {
			fail("a wrong byte");
		}
	}
}

/* Takes one answer, if there is one, against the list of what was asked. */
static bool take_answer(int timeout_ms)
{
	if (!wire_receive(&wire, &reply, timeout_ms)) {
		return false;
	}
	if (reply.error == -EAGAIN) {
		return true; /* To an interrupt that came too late. */
	}
	struct pending *request = find(reply.unique);
	if (request == NULL || reply.unique == 0) {
		fail("an answer that nobody waits for");
	}
	if (reply.error != 0 && reply.error != -EIO) {
		fail("an unexpected error");
	}
	if (reply.error == 0 && request->opcode == FUSE_READ) {
		check_read(request);
	}
	request->unique = 0;
	pending_count--;
	return true;
}

/* As wire_ask, while answers to other requests arrive. */
static void ask(uint32_t opcode, uint64_t inode, const void *data,
		size_t length, void *out, size_t out_length)
{
	uint64_t unique = wire_send(&wire, opcode, inode, data, length);
	struct pending *slot = find(0);

	if (slot == NULL) {
		fail("no free slot");
	}
	*slot = (struct pending){.unique = unique, .opcode = opcode};
	pending_count++;
	do {
		if (!take_answer(5000)) {
			fail("no answer");
		}
	} while (reply.unique != unique);
	if (reply.error != 0) {
		fail("an open or a release failed");
	}
	if (out_length > 0) {
		memcpy(out, reply.data, out_length);
	}
}

static void send_one(uint64_t handle)
{
	struct pending *slot = find(0);

	if (draw(4) == 0) {
		slot->opcode = FUSE_LOOKUP;
		slot->unique = wire_send(&wire, FUSE_LOOKUP, 1, "big", 4);
	} else {
		slot->opcode = FUSE_READ;
		slot->offset = draw(FAKE_BIG_SIZE - READ_BYTES);
		slot->unique = wire_send_read(&wire, FAKE_BIG, handle,
				slot->offset, READ_BYTES);
	}
	pending_count++;
	if (draw(3) == 0) {
		struct fuse_interrupt_in in = {
				.unique = pending[draw(OUTSTANDING_MAX)]
							  .unique};
		if (in.unique != 0) {
			(void)wire_send(&wire, FUSE_INTERRUPT, 0, &in,
					sizeof(in));
		}
	}
}

static uint64_t open_big(void)
{
	struct fuse_open_in in = {0};
	struct fuse_open_out out;

	ask(FUSE_OPEN, FAKE_BIG, &in, sizeof(in), &out, sizeof(out));
	return out.fh;
}

static void release_big(uint64_t handle)
{
	struct fuse_release_in in = {.fh = handle};

	ask(FUSE_RELEASE, FAKE_BIG, &in, sizeof(in), NULL, 0);
}

static void run_requests(void)
{
	uint64_t handle = open_big();

	for (unsigned i = 0; i < REQUESTS; i++) {
		while (pending_count > OUTSTANDING_MAX - 8) {
			if (!take_answer(5000)) {
				fail("a request is never answered");
			}
		}
		/* All its reads have been read by then, not answered. */
		if (draw(200) == 0) {
			uint64_t next = open_big();
			while (pending_count > 0) {
				if (!take_answer(5000)) {
					fail("a request is never answered");
				}
			}
			release_big(handle);
			handle = next;
		}
		send_one(handle);
		fakes.complete_early = draw(8) == 0;
	}
}

static void expect_nothing_left(void)
{
	/* A lookup of "big" that was answered is the kernel's. */
	if (fakes.open_streams != 0 || fakes.unreleased_reads != 0 ||
			fakes.opens != fakes.closes || wire.result != 0 ||
			wire.stopped != 1) {
		fail("something is left behind");
	}
}

static void run_round(void)
{
	pthread_t threads[COMPLETERS];

	fakes_reset();
	memset(pending, 0, sizeof(pending));
	pending_count = 0;
	wire_start(&wire);
	fakes.hold = true;
	atomic_store(&completing, true);
	for (size_t i = 0; i < COMPLETERS; i++) {
		if (pthread_create(&threads[i], NULL, complete, NULL) != 0) {
			fail("no thread");
		}
	}
	run_requests();
	if (kill(getpid(), SIGTERM) != 0) {
		fail("no signal");
	}
	/* Those that the session has read are answered; others it leaves. */
	while (take_answer(200)) {
	}
	wire_join(&wire);
	(void)alarm(0);
	atomic_store(&completing, false);
	for (size_t i = 0; i < COMPLETERS; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	wire_end(&wire);
	expect_nothing_left();
}

/* libfuse stores what INIT agreed on while other workers look at it. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:do_init\n";
}

int main(void)
{
	sigset_t set;

	/* Threads of the test leave the signal to the session's own. */
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < ROUNDS; i++) {
		run_round();
	}
	return 0;
}
