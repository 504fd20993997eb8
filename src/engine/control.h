#pragma once
/*
 * What controls glovebox: its own files, configuration, token, state, audit, and the programs that
 * it runs outside any box. None of it may lie in a directory that boxes can write to, since a
 * program could then decide what holds the next one. One table has all of it; a file that is added
 * to what glovebox reads or writes belongs into it.
 */
#include "base/err.h"
#include "engine/config.h"
#include "sandbox/mounts.h"

/* Refuses a mount that is rw and has any of it inside, by whatever name. */
int control_guard(const struct config *config, const struct mounts *mounts,
                  struct gb_err *err) gb_nodiscard;

/* Note a program that will be run outside any box, with its arguments (ended by NULL), and the
 * directory that it is run in, or NULL. Fails where a configured mount has it inside. */
int control_add_program(struct config *config, char *const *argv, const char *dir,
                        struct gb_err *err) gb_nodiscard;
