/*
 * Memory put away.
 *
 * A fork copies page tables entry by entry, and the end of a process takes them apart the same
 * way: for an interpreter with some modules in it that is a fifth of what a box costs, and a small
 * program uses a tenth of these pages. So a zygote that will make many guests puts its memory into
 * a file that is mapped privately in the memory's place. Of a file, a fork copies the entries of
 * those pages that were used since. What the zygote runs next, once, decides what every guest
 * begins with; all else a guest finds when it needs it.
 *
 * The file is sealed before anybody uses it: no process can write to it, and so none to what
 * another sees. What a process writes to its memory is its own, as ever.
 */
#pragma once

/* Before anything is preloaded: from now on it is known which memory is the interpreter's. */
void away_watch(void);

/* When everything is loaded. For a process with one thread; without effect where it cannot be
 * done. */
void away_put(void);

/* Nothing will be put away any more. */
void away_unwatch(void);
