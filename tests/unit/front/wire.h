#ifndef FRONT_WIRE_H
#define FRONT_WIRE_H

#include <linux/fuse.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"

struct front;

/*
 * The kernel's side of a session, played by the test: front gets a socket as
 * its /dev/fd/N, and each packet is a message of the FUSE protocol.
 */
struct wire {
	int fd; /* The kernel's end. */
	struct front *front;
	pthread_t thread;
	struct counters counters;
	struct fuse_init_out init;
	uint64_t unique;
	_Atomic unsigned ready, stopped;
	bool joined;
	int result; /* Of front_run. */
};

#define WIRE_REPLY_MAX 70000

struct wire_reply {
	int error; /* As on the wire: 0 or a negative errno. */
	uint64_t unique;
	size_t length;
	_Alignas(8) char data[WIRE_REPLY_MAX];
};

void wire_start(struct wire *wire);
/* Hangs up, as an unmount does, and waits for the end. */
void wire_end(struct wire *wire);
/* Waits until front_run has returned. */
void wire_join(struct wire *wire);

/* Sends a request; its number. */
uint64_t wire_send(struct wire *wire, uint32_t opcode, uint64_t inode,
		const void *data, size_t length);
/* The next message: false when none comes within `timeout_ms`. */
bool wire_receive(struct wire *wire, struct wire_reply *out, int timeout_ms);
/* Both; the answer must be to this request. */
void wire_ask(struct wire *wire, uint32_t opcode, uint64_t inode,
		const void *data, size_t length, struct wire_reply *out);

/* Requests with their arguments. */
void wire_lookup(struct wire *wire, uint64_t parent, const char *name,
		struct wire_reply *out);
uint64_t wire_open(struct wire *wire, uint64_t inode); /* The handle. */
void wire_read(struct wire *wire, uint64_t inode, uint64_t handle,
		uint64_t offset, uint32_t size, struct wire_reply *out);
uint64_t wire_send_read(struct wire *wire, uint64_t inode, uint64_t handle,
		uint64_t offset, uint32_t size);
void wire_release(struct wire *wire, uint64_t inode, uint64_t handle);

#endif
