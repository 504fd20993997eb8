#pragma once
/* What is generated from the tables of commands and options, besides --help. */
#include <stdio.h>

struct option_spec;

/* What every exit status means, for the help and the manual; ended by meaning NULL. */
struct exit_meaning {
    const char *status;
    const char *meaning;
};
extern const struct exit_meaning exit_meanings[];

/* The manual, glovebox(1), as roff. */
void page_manual(FILE *f);

/* Completion for "bash", "zsh" or "fish". */
void page_completion(FILE *f, const char *shell);
