#pragma once
/*
 * The end of a program: what CPython's own finalisation does that a program can see.
 *
 * A guest never finalises its interpreter, which would cost as much as ten small programs. It joins
 * threads, calls exit handlers and flushes the standard streams. Where the program left objects
 * that act when they are destroyed (an open file, a suspended generator, a class with __del__), it
 * also destroys the program's modules.
 */

/* Learn what the end of an empty program looks like. The zygote calls it for all its guests. */
void finish_prepare(void);

/* Remember which modules are loaded: those that come later are the program's. */
void finish_begin(void);

/* Look for work as finish_program() does. A guest that warms up has the pages for it afterwards. */
void finish_warm_up(void);

/* Write what the standard streams hold. */
void finish_flush(void);

/* Do all of it. The caller has let go of every object of the program, __main__ included. What
 * finalisers print goes to the program's streams. */
void finish_program(void);

/* The end of a session's cell: files that stay open are flushed. The caller reads what the cell
 * wrote, and a checkpoint holds no text that another copy of the process writes as well. */
void finish_cell(void);
