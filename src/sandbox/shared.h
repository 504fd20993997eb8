#pragma once
/*
 * Shared anonymous memory of a box, by what it could hold.
 *
 * The kernel keeps all pages of such a mapping while any page of it is mapped anywhere, in
 * whichever process; /proc shows how much is mapped, and not how large it was made. So init hears
 * of each one before it is made (notice.h) and keeps a book:
 *
 *   - What was asked for since the book was last balanced stands together, with its sizes. A look
 *     at /proc/PID/maps finds the inodes that live; each is one of these, nobody can say which, so
 *     as many of the largest count as there are inodes, and as there are calls that init has
 *     allowed and that may not have been made yet.
 *   - When no such call is left, the book is balanced: the inodes found become a batch, with the
 *     largest sizes among them. Of a batch in which some have gone, the largest sizes stay.
 *
 * That is never less than what is held. It is exact where one thread makes mappings, since a thread
 * that asks again has made the one before.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SHARED_MAX = 1024, /* inodes alive at once; more are refused */
};

struct shared_found {
    uint64_t inode;
    uint64_t bytes; /* the most that one process has mapped of it */
};

/* `tid` asks for a mapping: what it was allowed before has been made. */
void shared_hear(pid_t tid);

/* Must a look come before this one is allowed? Where the book may say too much, where it is full,
 * and once in the beginning: what the zygote left is not the box's. */
bool shared_needs_look(uint64_t bytes, uint64_t limit);

/* May `tid` have so much? If so, it is noted. */
bool shared_allow(pid_t tid, uint64_t bytes, uint64_t limit);

/* Has anything been asked for that may live? */
bool shared_is_used(void);

/* order: before /proc is read, so that whatever was made by then is found. */
void shared_begin_look(void);

/* What was found. `is_all` is false if some process hides its mappings, and then nothing that is in
 * the book can have gone. */
void shared_end_look(const struct shared_found *found, size_t n, bool is_all);

/* What all of it could hold. */
uint64_t shared_bytes(void);
