#include "bucket_private.h"

static void fill(struct bucket *bucket, uint64_t now_ms)
{
	if (now_ms <= bucket->filled_ms) {
		return;
	}
	const uint64_t passed_ms = now_ms - bucket->filled_ms;
	bucket->filled_ms = now_ms;
	bucket_give(bucket, (double)passed_ms * bucket->per_ms);
}

void bucket_init(struct bucket *bucket, double capacity, double per_second,
		uint64_t now_ms)
{
	*bucket = (struct bucket){
			.level = capacity,
			.capacity = capacity,
			.per_ms = per_second / 1000,
			.filled_ms = now_ms,
	};
}

bool bucket_has(struct bucket *bucket, double least, uint64_t now_ms)
{
	fill(bucket, now_ms);
	return bucket->level > least;
}

void bucket_take(struct bucket *bucket, double amount)
{
	bucket->level -= amount;
}

void bucket_give(struct bucket *bucket, double amount)
{
	bucket->level += amount;
	if (bucket->level > bucket->capacity) {
		bucket->level = bucket->capacity;
	}
}

uint64_t bucket_wait_ms(struct bucket *bucket, double least, uint64_t now_ms)
{
	if (bucket_has(bucket, least, now_ms)) {
		return 0;
	}
	return (uint64_t)((least - bucket->level) / bucket->per_ms) + 1;
}
