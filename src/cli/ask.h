#pragma once
/*
 * Asking a person, on the terminal, whether a program may run. The terminal is /dev/tty, since
 * standard input and output may be anything else. Questions wait in line; the command's loop goes
 * on meanwhile.
 */
#include <stdbool.h>
#include <stdint.h>

struct gb_job;
struct question;

struct asker {
    int tty;                /* -1: not opened yet */
    struct question *first; /* the one that is on the terminal, then those that wait */
    char line[1024];        /* what was typed of the answer */
    unsigned len;
    bool has_asked;             /* a question was on the terminal, with all that was found */
    void (*before)(void *data); /* called before anything is written, or NULL */
    void *data;
};

#define ASKER_EMPTY ((struct asker){ .tty = -1 })

/* Put a question of the engine's in line. `number` is that of the line which the request came in,
 * or 0 where there is only one request. */
void ask_add(struct asker *a, struct gb_job *job, const char *question, uint64_t number);

/* See whether there was an answer, and pass it on. A signal that asks us to stop takes the
 * questions away; the jobs are left to whoever asked, to cancel. */
void ask_look(struct asker *a);

/* How long a step of the engine may take: until the next look, or for ever (-1). */
int ask_step_ms(const struct asker *a);

/* The job is over: whatever it asked. */
void ask_forget(struct asker *a, const struct gb_job *job);

/* For auto_asker. */
void ask_done(struct asker *a);

#define auto_asker __attribute__((cleanup(ask_done)))
