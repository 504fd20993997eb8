#pragma once
/*
 * What a persistent bash is handed for each command, and what hands it: a builtin of ours that it
 * loads (step.c), `__gb`. On a socket that no program of a command's has come a head and strings,
 * each ended by a NUL:
 *
 *     text       evaluated first: variables to export, a directory to enter
 *     terminal   its path, or ""
 *     command    as it is: nothing of it is quoted anywhere
 *     words      the file in which the command is evaluated, and its arguments
 *
 * With the head come three descriptors, the command's standard ones, or none of them. What comes
 * back on the socket is in report.h.
 */
#include <stdint.h>

#include "shell/report.h"

enum {
    STEP_FD = 61,             /* the socket, as bash begins with it */
    STEP_FILES = STEP_FD + 3, /* descriptors that bash must be able to have */
};

struct step {
    uint32_t len;                   /* of the strings */
    uint32_t n_words;               /* 0: there is no command */
    int32_t status;                 /* what "$?" is before it */
    char number[REPORT_NUMBER + 1]; /* what its report is known by; "": nobody waits for one */
};
