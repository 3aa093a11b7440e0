#ifndef STREAM_SHARE_PRIVATE_H
#define STREAM_SHARE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What the streams of all files have in common: how many of them are being
 * read, for their shares of memory, and how sequential the reads are.
 *
 * A stream counts as active in the period of its last read and in the next
 * one: many files may stay open that nobody reads.
 */
struct share {
	pthread_mutex_t lock;
	/* Guarded by lock. */
	uint64_t period;
	uint64_t active, active_before; /* In this period and the one before. */
	/* A moving average, 65536 is all. */
	_Atomic uint32_t sequential;
};

void share_init(struct share *share);
void share_finish(struct share *share);

/* The number of the period that a time belongs to; never 0. */
uint64_t share_period(uint64_t now_ms);
/* A stream is read for the first time in `period`. */
void share_note_active(struct share *share, uint64_t period);
/* At least 1. */
uint64_t share_streams(struct share *share);

void share_note_read(struct share *share, bool sequential);
unsigned share_sequential_percent(const struct share *share);

#endif
