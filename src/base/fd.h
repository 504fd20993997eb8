#pragma once
/* Descriptors: sockets that carry descriptors, sealed memory files, whole reads and writes.
 * All return -errno on failure and retry EINTR; every descriptor made is close-on-exec. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#define FD_PASS_MAX 8

/* Send one message with up to FD_PASS_MAX descriptors. Never raises SIGPIPE. Returns 0. */
int fd_send(int sock, const void *data, size_t len, const int *fds, size_t n_fds);

/* The same on a stream socket, of as much as there is room for. Returns how much that was, or
 * -errno; the descriptors came with its first byte. */
ssize_t fd_send_some(int sock, const void *data, size_t len, const int *fds, size_t n_fds);

/* A piece of what is to be sent. iovec has no const; sendmsg() writes through none. */
struct iovec fd_piece(const void *data, size_t len);

/* A head and what it is the head of, on a stream socket and all of it: in one piece where there is
 * room, so that who reads is woken once. The descriptors come with the head. */
int fd_send_both(int sock, const void *head, size_t head_len, const void *data, size_t len,
                 const int *fds, size_t n_fds);

/* Send all of it on a stream socket, in as many pieces as it takes. Never raises SIGPIPE. */
int fd_send_all(int sock, const void *data, size_t len);

/* Receive one message. *n_fds is the room in fds and then the number received; the rest are
 * closed. Returns the length, 0 at end of file. */
ssize_t fd_recv(int sock, void *data, size_t len, int *fds, size_t *n_fds);

/* A sealed, read-only memory file with this content: what a box may hold without being able to
 * change it under us. Returns the descriptor. */
int fd_sealed(const char *name, const void *data, size_t len);

/* The same, to be taken back: fd_take_back() closes it and frees the memory, whoever still holds
 * the file. What a guest was given is then empty, and not the guest's to keep. */
int fd_lent(const char *name, const void *data, size_t len);
void fd_take_back(int *fd);

/* Read or write exactly `len` bytes. A short read gives -EPIPE. Return 0. */
int fd_read_all(int fd, void *data, size_t len);
int fd_write_all(int fd, const void *data, size_t len);

/* Read at most `max` bytes of a small file (of /proc, say) into `data` and end them with a NUL:
 * `data` has room for max + 1. Returns the length. */
ssize_t fd_slurp_at(int dirfd, const char *path, char *data, size_t max);

/* Write a string to a file that exists (of /proc, say). Returns 0. */
int fd_write_file_at(int dirfd, const char *path, const char *text);

/* A directory to read; -1 for anything else. Never follows a link. With `unlock` its owner's
 * permissions are set first, should it have been shut. */
int fd_open_subdir(int dirfd, const char *name, bool unlock);

/* A directory by its absolute path, in which there may be no link: for paths that were resolved
 * before, and that nobody is to bend since. Returns the descriptor, to be read, or -errno. */
int fd_open_plain_dir(const char *path);

/* The same below `dirfd`: never out of it, never through a link, never onto another file system. */
int fd_open_beneath(int dirfd, const char *path, int flags, unsigned mode);

/* The directory below `dirfd` that the last part of a relative path is in, each made where it is
 * missing, none of them through a link. Returns a descriptor, and the last part, or -errno. */
int fd_open_parent(int dirfd, const char *path, const char **ret_name);

/* Remove what is in the directory, however deep, without following a link; not the directory
 * itself. Best effort: what cannot be removed stays. */
void fd_empty_dir(int dirfd);

/* The same bit by bit. A step removes no more than *budget entries, from which it takes what it
 * used; true when there is nothing more to do. */
struct fd_emptying {
    int here, left;
    size_t depth;
};
void fd_empty_begin(struct fd_emptying *e, int dirfd);
bool fd_empty_step(struct fd_emptying *e, size_t *budget);
void fd_empty_done(struct fd_emptying *e);
