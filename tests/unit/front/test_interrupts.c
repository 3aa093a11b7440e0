#include <criterion/criterion.h>

#include "front/interrupts_private.h"

#define STATUS(shared, own)                                                    \
	"Name:\tcat\nUmask:\t0022\nState:\tS (sleeping)\nSigQ:\t1/31372\n"     \
	"SigPnd:\t" own "\nShdPnd:\t" shared "\nSigBlk:\t0000000000000100\n"   \
	"SigCgt:\t0000000000000100\n"

#define NONE "0000000000000000"
#define KILL "0000000000000100"

Test(interrupts, a_pending_kill_is_seen_in_either_mask)
{
	cr_expect(interrupts_status_says_killed(STATUS(NONE, KILL)));
	cr_expect(interrupts_status_says_killed(STATUS(KILL, NONE)));
	cr_expect(interrupts_status_says_killed(
			STATUS("0000000000004102", NONE)));
}

Test(interrupts, other_signals_and_other_masks_are_no_kill)
{
	cr_expect_not(interrupts_status_says_killed(STATUS(NONE, NONE)));
	/* SIGTERM, SIGALRM, SIGURG; all but SIGKILL. */
	cr_expect_not(interrupts_status_says_killed(
			STATUS("0000000000406000", NONE)));
	cr_expect_not(interrupts_status_says_killed(
			STATUS("fffffffffffffeff", "fffffffffffffeff")));
}

Test(interrupts, a_text_without_masks_is_no_kill)
{
	cr_expect_not(interrupts_status_says_killed(""));
	cr_expect_not(interrupts_status_says_killed("SigPnd:\t" KILL "\n"));
	cr_expect_not(interrupts_status_says_killed("Name:\tx\nSigPnd:"));
}
