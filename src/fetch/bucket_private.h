#ifndef FETCH_BUCKET_PRIVATE_H
#define FETCH_BUCKET_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A token bucket: the bytes a second of a mount, and the retries of an
 * endpoint. Pure: the clock is given. The level may go below 0, so that one
 * large request is paid for by the time after it.
 */
struct bucket {
	double level;
	double capacity;
	double per_ms;
	uint64_t filled_ms;
};

/* Full at first. */
void bucket_init(struct bucket *bucket, double capacity, double per_second,
		uint64_t now_ms);
/* True when more than `least` is there. */
bool bucket_has(struct bucket *bucket, double least, uint64_t now_ms);
void bucket_take(struct bucket *bucket, double amount);
void bucket_give(struct bucket *bucket, double amount);
/* Until bucket_has(least); 0: now. */
uint64_t bucket_wait_ms(struct bucket *bucket, double least, uint64_t now_ms);

#endif
