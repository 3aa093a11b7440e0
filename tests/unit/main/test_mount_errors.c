#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "main/mount_errors.h"

Test(mount_errors, causes_are_told_apart)
{
	static const struct {
		int error;
		const char *detail;
		enum mount_fault fault;
	} cases[] = {
			{0, "", MOUNT_FAULT_NONE},
			{-ENOENT, "", MOUNT_FAULT_EMPTY},
			{-ENOENT, "404 NoSuchBucket: x", MOUNT_FAULT_NO_BUCKET},
			{-EIO, "404 NoSuchBucket: x", MOUNT_FAULT_NO_BUCKET},
			{-EACCES, "403 AccessDenied: x", MOUNT_FAULT_DENIED},
			{-EACCES, "403", MOUNT_FAULT_DENIED},
			{-EACCES, "403 SignatureDoesNotMatch: x",
					MOUNT_FAULT_SECRET},
			{-EACCES, "403 InvalidAccessKeyId: x",
					MOUNT_FAULT_SECRET},
			{-EACCES, "400 ExpiredToken: x", MOUNT_FAULT_EXPIRED},
			{-EIO, "301 PermanentRedirect: x",
					MOUNT_FAULT_REDIRECT},
			{-EIO, "302: a redirect", MOUNT_FAULT_REDIRECT},
			{-EACCES, "400 AuthorizationHeaderMalformed: x",
					MOUNT_FAULT_REGION},
			{-EACCES, "403 RequestTimeTooSkewed: x",
					MOUNT_FAULT_CLOCK},
			{-EIO, "SSL certificate problem: x", MOUNT_FAULT_TLS},
			{-EIO, "Could not resolve host: x",
					MOUNT_FAULT_UNREACHABLE},
			{-ETIMEDOUT, "", MOUNT_FAULT_UNREACHABLE},
			{-EIO, "503 SlowDown: x", MOUNT_FAULT_UNREACHABLE},
			{-EIO, "405 MethodNotAllowed: x", MOUNT_FAULT_OTHER},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(mount_fault_judge(cases[i].error, cases[i].detail),
				cases[i].fault, "%d %s", cases[i].error,
				cases[i].detail);
	}
}

Test(mount_errors, waiting_helps_only_against_silence)
{
	cr_assert(mount_fault_passes(MOUNT_FAULT_UNREACHABLE));
	cr_assert_not(mount_fault_passes(MOUNT_FAULT_DENIED));
	cr_assert_not(mount_fault_passes(MOUNT_FAULT_NO_BUCKET));
	cr_assert_not(mount_fault_passes(MOUNT_FAULT_TLS));
}

static const char *text_of(enum mount_fault fault, const char *neighbours)
{
	static char message[1024];
	const struct mount_fault_facts facts = {
			.source = "s3://b/trian",
			.prefix = "trian/",
			.detail = "403 AccessDenied: no",
			.identity = "signed by AKID",
			.neighbours = neighbours,
	};

	mount_fault_text(fault, &facts, message, sizeof(message));
	return message;
}

Test(mount_errors, texts_have_the_thing_the_reason_and_the_remedy)
{
	cr_assert(strstr(text_of(MOUNT_FAULT_DENIED, ""), "s3:ListBucket") !=
			NULL);
	cr_assert(strstr(text_of(MOUNT_FAULT_DENIED, ""), "signed by AKID") !=
			NULL);
	cr_assert(strstr(text_of(MOUNT_FAULT_EMPTY, "train/, val/"),
				  "train/, val/") != NULL);
	cr_assert(strstr(text_of(MOUNT_FAULT_EMPTY, ""), "there is") == NULL);
	cr_assert(strstr(text_of(MOUNT_FAULT_TLS, ""), "ca_bundle") != NULL);
	for (int fault = MOUNT_FAULT_EMPTY; fault <= MOUNT_FAULT_OTHER;
			fault++) {
		const char *text = text_of((enum mount_fault)fault, "");

		cr_assert(strstr(text, "s3://b/trian: ") == text, "%s", text);
		cr_assert_null(strchr(text, '\n'));
	}
}
