#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "fakes.h"
#include "front/front.h"

#define SOCKET_BYTES (1 << 20)

/* Not Criterion's: the stress program uses this too. */
static void check(bool holds, const char *what)
{
	if (!holds) {
		(void)fprintf(stderr, "wire: not so: %s\n", what);
		abort();
	}
}

static int render(void *context, struct strbuf *out)
{
	return strbuf_add_text(out, "{\"text\": \"of the test\"}\n");
}

static void on_ready(void *context)
{
	((struct wire *)context)->ready++;
}

static void on_stop(void *context)
{
	((struct wire *)context)->stopped++;
	fakes_release(-EIO);
}

static void *run(void *context)
{
	struct wire *wire = context;

	wire->result = front_run(wire->front);
	return NULL;
}

static void shake_hands(struct wire *wire)
{
	struct fuse_init_in in = {
			.major = 7,
			.minor = 31,
			.max_readahead = 1 << 20,
			.flags = FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS |
				 FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |
				 FUSE_MAX_PAGES | FUSE_AUTO_INVAL_DATA |
				 FUSE_EXPLICIT_INVAL_DATA | FUSE_SPLICE_WRITE |
				 FUSE_SPLICE_MOVE | FUSE_SPLICE_READ |
				 FUSE_BIG_WRITES,
	};
	struct wire_reply reply;

	wire_ask(wire, FUSE_INIT, 0, &in, sizeof(in), &reply);
	check(reply.error == 0, "no error");
	memcpy(&wire->init, reply.data, sizeof(wire->init));
}

void wire_start(struct wire *wire)
{
	int fds[2];
	int bytes = SOCKET_BYTES;
	char mountpoint[32];
	char message[256];

	memset(wire, 0, sizeof(*wire));
	/* libfuse warns when the test hangs up. */
	check(log_open(LOG_SINK_STDERR, LOG_ERROR, NULL) == 0, "a log");
	check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0,
			"a pair of sockets");
	for (int i = 0; i < 2; i++) {
		(void)setsockopt(fds[i], SOL_SOCKET, SO_SNDBUFFORCE, &bytes,
				sizeof(bytes));
	}
	wire->fd = fds[1];
	(void)snprintf(mountpoint, sizeof(mountpoint), "/dev/fd/%d", fds[0]);
	struct front_settings settings = {
			.counters = &wire->counters,
			.source = "s3://bucket/prefix",
			.mountpoint = mountpoint,
			.max_read = 1 << 20,
			.uid = 11,
			.gid = 22,
			.file_mode = 0440,
			.dir_mode = 0550,
			.thread_count = 4,
			.render_stats = render,
			.render_metrics = render,
			.on_ready = on_ready,
			.on_stop = on_stop,
			.context = wire,
	};
	check(front_create(&settings, &wire->front, message, sizeof(message)) ==
					0,
			message);
	check(pthread_create(&wire->thread, NULL, run, wire) == 0, "a thread");
	shake_hands(wire);
}

void wire_join(struct wire *wire)
{
	if (!wire->joined) {
		check(pthread_join(wire->thread, NULL) == 0, "joined");
		wire->joined = true;
	}
}

void wire_end(struct wire *wire)
{
	(void)close(wire->fd);
	wire_join(wire);
	front_destroy(wire->front);
}

uint64_t wire_send(struct wire *wire, uint32_t opcode, uint64_t inode,
		const void *data, size_t length)
{
	_Alignas(8) char packet[4096];
	struct fuse_in_header header = {
			.len = (uint32_t)(sizeof(header) + length),
			.opcode = opcode,
			.unique = wire->unique += 2,
			.nodeid = inode,
			.pid = (uint32_t)getpid(),
	};

	check(header.len <= sizeof(packet), "a packet that fits");
	memcpy(packet, &header, sizeof(header));
	if (length > 0) {
		memcpy(packet + sizeof(header), data, length);
	}
	check(write(wire->fd, packet, header.len) == header.len, "sent");
	return header.unique;
}

bool wire_receive(struct wire *wire, struct wire_reply *out, int timeout_ms)
{
	struct pollfd ready = {.fd = wire->fd, .events = POLLIN};
	struct fuse_out_header header;
	struct iovec parts[2] = {{&header, sizeof(header)},
			{out->data, sizeof(out->data)}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	if (poll(&ready, 1, timeout_ms) != 1) {
		return false;
	}
	ssize_t length = recvmsg(wire->fd, &message, 0);
	check(length >= (ssize_t)sizeof(header) && header.len == length,
			"a whole message");
	out->error = header.error;
	out->unique = header.unique;
	out->length = (size_t)length - sizeof(header);
	return true;
}

void wire_ask(struct wire *wire, uint32_t opcode, uint64_t inode,
		const void *data, size_t length, struct wire_reply *out)
{
	uint64_t unique = wire_send(wire, opcode, inode, data, length);

	check(wire_receive(wire, out, 5000), "an answer comes");
	check(out->unique == unique, "the answer is to this request");
}

void wire_lookup(struct wire *wire, uint64_t parent, const char *name,
		struct wire_reply *out)
{
	wire_ask(wire, FUSE_LOOKUP, parent, name, strlen(name) + 1, out);
}

uint64_t wire_open(struct wire *wire, uint64_t inode)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	struct fuse_open_out opened;
	struct wire_reply reply;

	wire_ask(wire, FUSE_OPEN, inode, &in, sizeof(in), &reply);
	check(reply.error == 0, "no error");
	memcpy(&opened, reply.data, sizeof(opened));
	return opened.fh;
}

uint64_t wire_send_read(struct wire *wire, uint64_t inode, uint64_t handle,
		uint64_t offset, uint32_t size)
{
	struct fuse_read_in in = {.fh = handle, .offset = offset, .size = size};

	return wire_send(wire, FUSE_READ, inode, &in, sizeof(in));
}

void wire_read(struct wire *wire, uint64_t inode, uint64_t handle,
		uint64_t offset, uint32_t size, struct wire_reply *out)
{
	struct fuse_read_in in = {.fh = handle, .offset = offset, .size = size};

	wire_ask(wire, FUSE_READ, inode, &in, sizeof(in), out);
}

void wire_release(struct wire *wire, uint64_t inode, uint64_t handle)
{
	struct fuse_release_in in = {.fh = handle};
	struct wire_reply reply;

	wire_ask(wire, FUSE_RELEASE, inode, &in, sizeof(in), &reply);
	check(reply.error == 0, "no error");
}
