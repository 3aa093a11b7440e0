#ifndef MAIN_ONE_LINE_H
#define MAIN_ONE_LINE_H

/* Puts '?' for each control character, in place: what people are told is one
 * line and leaves their terminal alone, whatever names are in it. */
void one_line(char *text);

/* Puts '*' over the user and password of each URL in the text, in place. */
void one_line_hide_users(char *text);

#endif
