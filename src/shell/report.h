#pragma once
/*
 * What the shell in a box says at the end of a command: what its 'jobs -l' prints, "NUMBER STATUS"
 * and the directory, each ended by a NUL. A command can find out how to say the same: what is said
 * is believed as far as the number of the command that runs is there, a random one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    REPORT_MAX = 64 << 10,
    REPORT_JOBS_MAX = 32,
    REPORT_NUMBER = 16, /* hexadecimal digits */
    REPORT_LINE = 256,  /* of a job's, which has all of its command */
};

struct report_job {
    int number;
    pid_t pid;
    bool is_running; /* or stopped: it is there */
    char state[24];
    char command[96];
};

struct report {
    int status;
    char cwd[1024];
    struct report_job jobs[REPORT_JOBS_MAX];
    size_t n_jobs;
};

/* Look for the report of the command `number` in these bytes. Returns true when it is there.
 * *ret_used is how many bytes are of no use any more, either way; none where the number has yet to
 * come. */
bool report_read(const char *text, size_t len, const char *number, struct report *ret,
                 size_t *ret_used);

/* Make room where there is no report yet: of the jobs' lines, and of the one that is on its way,
 * only as much stays as is told of them. Returns how many bytes are left. */
size_t report_shorten(char *text, size_t len, const char *number);

/* The jobs in what 'jobs -l' prints. */
size_t report_jobs(const char *text, size_t len, struct report_job *ret, size_t max);
