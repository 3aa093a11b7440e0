#ifndef MAIN_OPTION_HELP_H
#define MAIN_OPTION_HELP_H

struct strbuf;

/* The text of --help, from the option table. Check out->failed. */
void option_help(struct strbuf *out);

#endif
