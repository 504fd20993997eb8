#pragma once
/*
 * What lies in a directory, by whatever name. A path lies in it if the way to it goes through the
 * directory, through a link that is kept there, or through a place where a part of it is mounted
 * again; directories are compared by device and inode, not by their names.
 */
#include <stdbool.h>

struct cover;

/* Of a directory, by its absolute path without links, and all that is mounted below it. NULL when
 * memory ran out. */
struct cover *cover_new(const char *dir);
struct cover *cover_free(struct cover *c); /* accepts NULL */

/* Does the path lie in it, or would it, if it were there? A file that has several names is taken to
 * have one there, if that is possible. What cannot be looked at for too many links lies in it. */
bool cover_has(const struct cover *c, const char *path);

/* The same for what is executed: several names are usual, and do not count. */
bool cover_has_program(const struct cover *c, const char *path);
