#ifndef STREAM_DETECTOR_H
#define STREAM_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DETECTOR_STREAMS 16

/*
 * Which of a file's streams a read continues: pure, no time, no lock. A stream
 * is a position that moves forward. It begins as a candidate, with any read
 * that continues nothing, and is proven by a read at offset 0 or by one that
 * goes on exactly where the candidate ended. Reads of a proven stream may
 * arrive out of order by `slack` bytes (the kernel's read-ahead window),
 * repeat, or jump forward within what is under way ahead, as long as it reads
 * at least half of what it passes: a strided reader is not a stream. Streams
 * that turn out to be one become one.
 */
struct detector_stream {
	bool used;
	bool proven;
	uint64_t start;	   /* Where it began. */
	uint64_t next;	   /* End of the furthest read. */
	uint64_t passed;   /* Bytes that `next` moved over lately, */
	uint64_t covered;  /* and how many of them were read. */
	uint64_t last_use; /* Of the detector's count of reads. */
};

struct detector {
	struct detector_stream streams[DETECTOR_STREAMS];
	uint64_t reads;
	uint64_t slack;
};

void detector_init(struct detector *detector, uint64_t slack);

struct detector_verdict {
	size_t stream;	 /* Index of the stream the read now belongs to. */
	bool sequential; /* It is a read of a proven stream. */
	bool fresh;	 /* The slot was taken anew: its window restarts. */
};

/* `jump` is how far beyond `next` a read of that stream may begin and still be
 * its continuation (what is under way ahead of it), per stream. */
struct detector_verdict detector_read(struct detector *detector,
		uint64_t offset, uint64_t length,
		const uint64_t jump[DETECTOR_STREAMS]);

#endif
