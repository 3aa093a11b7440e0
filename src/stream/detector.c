#include "stream/detector.h"

/* `passed` and `covered` are halved beyond this: old virtue does not count. */
#define COVER_MEMORY ((uint64_t)16 << 20)
/* A candidate's age counts so many times: random reads make one each and must
 * not push out streams that are read now and then. */
#define CANDIDATE_AGE 4

void detector_init(struct detector *detector, uint64_t slack)
{
	*detector = (struct detector){.slack = slack};
}

/* Whether a proven stream goes on with [offset, offset + length). */
static bool continues(const struct detector_stream *stream, uint64_t slack,
		uint64_t offset, uint64_t length, uint64_t jump)
{
	uint64_t end = offset + length;

	if (offset <= stream->next) {
		uint64_t behind = stream->next - offset;
		return behind <= slack && offset >= stream->start;
	}
	if (offset - stream->next > jump) {
		return false;
	}
	uint64_t passed = stream->passed + (end - stream->next);
	return (stream->covered + length) * 2 >= passed;
}

/* Whether a candidate is proven by it: exactly its end, no repetition. */
static bool proves(const struct detector_stream *stream, uint64_t offset,
		uint64_t length)
{
	return offset > stream->start && offset <= stream->next &&
	       offset + length > stream->next;
}

static bool repeats(const struct detector_stream *stream, uint64_t offset,
		uint64_t length)
{
	return offset >= stream->start && offset + length <= stream->next;
}

static void advance(struct detector_stream *stream, uint64_t offset,
		uint64_t length)
{
	uint64_t end = offset + length;

	if (end > stream->next) {
		stream->passed += end - stream->next;
		stream->next = end;
	}
	stream->covered += length;
	if (stream->covered > stream->passed) {
		stream->covered = stream->passed;
	}
	if (stream->passed > COVER_MEMORY) {
		stream->passed /= 2;
		stream->covered /= 2;
	}
}

/* Whether `other` is a part of `stream`, which has reached its start: reads
 * that came out of order. A proven one that is further ahead than reads may
 * lag behind is another reader. */
static bool is_part(const struct detector_stream *stream,
		const struct detector_stream *other, uint64_t slack)
{
	if (!other->used || other == stream || other->start < stream->start ||
			other->start > stream->next) {
		return false;
	}
	return !other->proven || other->next <= stream->next + slack;
}

static bool absorb_one(
		struct detector *detector, struct detector_stream *stream)
{
	for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
		struct detector_stream *other = &detector->streams[i];

		if (!is_part(stream, other, detector->slack)) {
			continue;
		}
		other->used = false;
		if (other->next > stream->next) {
			advance(stream, stream->next,
					other->next - stream->next);
		}
		return true;
	}
	return false;
}

static uint64_t age_of(const struct detector *detector,
		const struct detector_stream *stream)
{
	uint64_t age = detector->reads - stream->last_use;

	return stream->proven ? age : age * CANDIDATE_AGE;
}

static size_t free_slot(const struct detector *detector)
{
	size_t oldest = 0;

	for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
		const struct detector_stream *stream = &detector->streams[i];

		if (!stream->used) {
			return i;
		}
		if (age_of(detector, stream) >
				age_of(detector, &detector->streams[oldest])) {
			oldest = i;
		}
	}
	return oldest;
}

/* The stream that the read belongs to, proven ones first, the nearest of
 * them; DETECTOR_STREAMS: none. */
static size_t find(const struct detector *detector, uint64_t offset,
		uint64_t length, const uint64_t jump[DETECTOR_STREAMS])
{
	size_t found = DETECTOR_STREAMS;
	uint64_t nearest = UINT64_MAX;

	for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
		const struct detector_stream *stream = &detector->streams[i];
		uint64_t distance = offset > stream->next
						    ? offset - stream->next
						    : stream->next - offset;
		if (!stream->used || !stream->proven || distance >= nearest ||
				!continues(stream, detector->slack, offset,
						length, jump[i])) {
			continue;
		}
		nearest = distance;
		found = i;
	}
	for (size_t i = 0; found == DETECTOR_STREAMS && i < DETECTOR_STREAMS;
			i++) {
		const struct detector_stream *stream = &detector->streams[i];

		if (stream->used && !stream->proven &&
				(proves(stream, offset, length) ||
						repeats(stream, offset,
								length))) {
			found = i;
		}
	}
	return found;
}

struct detector_verdict detector_read(struct detector *detector,
		uint64_t offset, uint64_t length,
		const uint64_t jump[DETECTOR_STREAMS])
{
	size_t slot = find(detector, offset, length, jump);
	bool fresh = slot == DETECTOR_STREAMS;

	detector->reads++;
	if (fresh) {
		slot = free_slot(detector);
		detector->streams[slot] = (struct detector_stream){
				.used = true,
				.proven = offset == 0,
				.start = offset,
				.next = offset,
		};
	}
	struct detector_stream *stream = &detector->streams[slot];
	stream->proven |= !fresh && proves(stream, offset, length);
	stream->last_use = detector->reads;
	advance(stream, offset, length);
	while (stream->proven && absorb_one(detector, stream)) {
		/* It may reach others now. */
	}
	return (struct detector_verdict){
			.stream = slot,
			.sequential = stream->proven,
			.fresh = fresh,
	};
}
