/*
 * glovebox.h - run model-written code in a box that the kernel holds shut.
 *
 * The life of an engine:
 *   1. gb_engine_new()   with a configuration (JSON, may be NULL); starts to warm an interpreter.
 *   2. gb_run()          one request in, one result out, blocking; or
 *      gb_start()        the same without blocking: gb_step() drives it, callbacks tell about it.
 *   3. gb_engine_free()  ends every box and the interpreter, and waits until they are gone.
 *
 * Requests, results and configuration are JSON text (docs/library.md lists the keys).
 * An engine belongs to one thread at a time; different engines are independent. The library keeps
 * no global state, never calls exit() and never writes to the program's streams. It makes child
 * processes and waits for exactly those: a program that sets SIGCHLD to SIG_IGN, or that waits
 * for any child, may see them.
 */
#ifndef GLOVEBOX_H
#define GLOVEBOX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GB_API __attribute__((visibility("default")))

struct gb_engine;
struct gb_job;
struct gb_call;

/* Which of the guest's streams a piece of output came from. */
enum gb_stream {
    GB_STDOUT = 1,
    GB_STDERR = 2
};

/*
 * What a job tells about itself. Every member may be NULL. Callbacks are called from inside
 * gb_step(), gb_run() and gb_engine_free() only; they may call gb_start(), gb_cancel(),
 * gb_interrupt(), gb_approve() and whatever is about tools, but not gb_step(), gb_run() or
 * gb_engine_free().
 */
struct gb_callbacks {
    size_t size; /* sizeof(struct gb_callbacks), so that members can be added later */
    void *data;  /* handed back as the first argument */
    /* A piece of the guest's output, as it came: not NUL-terminated, not checked to be UTF-8. */
    void (*output)(void *data, struct gb_job *job, enum gb_stream stream, const char *bytes,
                   size_t len);
    /* The result. `result` is valid until the callback returns, and so is `job`. Called once. */
    void (*done)(void *data, struct gb_job *job, const char *result);
    /*
     * Shall this program run? Called where "approve" says to ask, when the code has passed the
     * check and the review; nothing of it has run. `question` is a JSON object: the code, what was
     * found in it, where it would run. Answer with gb_approve(), from in here or later; until then
     * the program waits, however long. Without this callback such programs are rejected.
     */
    void (*approve)(void *data, struct gb_job *job, const char *question);
    /*
     * The program displayed something, as it came. `forms` is a JSON array: the same thing in one
     * or several forms, {"mime", "data"} each, as the result's "outputs" will have them.
     */
    void (*display)(void *data, struct gb_job *job, const char *forms);
    /*
     * The program calls a tool that has no command. `args` is a JSON object that was checked
     * against the tool's parameters; it is valid until the callback returns. Answer with
     * gb_tool_result() or gb_tool_error(), once, from in here or later; the program goes on
     * meanwhile if it can, and may call others. Without this callback such calls fail.
     */
    void (*tool)(void *data, struct gb_job *job, struct gb_call *call, const char *name,
                 const char *args);
    /* Nobody waits for that call any more: the program gave it up or ended, or the tool's time is
     * up. Stop working for it if you can. It must still be answered, which then does nothing but
     * free it; those that never are stay until the engine is freed. */
    void (*tool_cancelled)(void *data, struct gb_job *job, struct gb_call *call);
    /*
     * May this shell command run? Called once the rules have let it pass, where it would start, and
     * from inside gb_start(), unlike the others: it must call nothing of the library. Returns NULL,
     * or why not, which is copied: the command is then rejected.
     */
    const char *(*command)(void *data, const char *command, const char *workdir);
};

/* "major.minor.patch" */
GB_API const char *gb_version(void);

/*
 * Make an engine. `config` is a JSON object or NULL for the defaults. Returns 0 and the engine in
 * *ret, or -1 and, if `ret_error` is not NULL, a JSON object {"type", "message", "hint"} in
 * *ret_error that the caller frees.
 */
GB_API int gb_engine_new(const char *config, struct gb_engine **ret, char **ret_error);

/* End everything that the engine runs, wait for it, and free the engine. Accepts NULL.
 * Jobs that are still running end as "cancelled": their done callback is called. */
GB_API struct gb_engine *gb_engine_free(struct gb_engine *engine);

/* Run one request and wait for its result, which the caller frees. Whatever goes wrong is a
 * result (status "failed"); NULL only when memory ran out. */
GB_API char *gb_run(struct gb_engine *engine, const char *request);

/* Start one request. The job is the engine's; it ends when its done callback returns. NULL only
 * when memory ran out or the engine is being freed. The done callback is never called from inside
 * gb_start(). */
GB_API struct gb_job *gb_start(struct gb_engine *engine, const char *request,
                               const struct gb_callbacks *callbacks);

/* Kill a job's box. Its result will be "cancelled" unless it had ended already. */
GB_API void gb_cancel(struct gb_job *job);

/* Ask a session's cell to stop: it gets a KeyboardInterrupt, and the session keeps what it did.
 * Code that does not heed it goes on. Does nothing for a job outside sessions, or one that does not
 * run yet. */
GB_API void gb_interrupt(struct gb_job *job);

/* Answer a job that asked: 1 lets it run, 0 rejects it, -1 rejects it because nobody could be
 * asked. `reason` is for the result and may be NULL. Returns 0, or -1 when the job waits for no
 * answer. */
GB_API int gb_approve(struct gb_job *job, int yes, const char *reason);

/*
 * The tools that programs may call (docs/tools.md lists the keys of one). They can be changed at
 * any time; a job has those that there were when it was started. gb_tools_set() replaces all of
 * them by a JSON list, or an object by name; NULL for none. gb_tool_add() adds one, or replaces
 * that of the same name; gb_tool_remove() removes one. All return 0, or -1, nothing having changed,
 * with an error as gb_engine_new() has it. gb_tools() is the list, which the caller frees.
 */
GB_API int gb_tools_set(struct gb_engine *engine, const char *tools, char **ret_error);
GB_API int gb_tool_add(struct gb_engine *engine, const char *tool, char **ret_error);
GB_API int gb_tool_remove(struct gb_engine *engine, const char *name, char **ret_error);
GB_API char *gb_tools(const struct gb_engine *engine);

/* Answer a call of a tool: with any JSON value (NULL is null), or with a failure, which is an
 * exception in the program. The call is gone when this returns, and must not be used again. Returns
 * 0, or -1 when nobody waited for it or the result is not JSON that can be delivered. */
GB_API int gb_tool_result(struct gb_call *call, const char *result);
GB_API int gb_tool_error(struct gb_call *call, const char *type, const char *message);

/* Text that tells a model how to write programs for this engine as it is configured now, or, if
 * `request` is not NULL, for that request. The caller frees it; NULL only when memory ran out. */
GB_API char *gb_instructions(struct gb_engine *engine, const char *request);

/* Handle what is pending, waiting up to `timeout_ms` for something to happen (0 does not wait,
 * -1 waits as long as it takes). Returns how many jobs are not done yet. */
GB_API int gb_step(struct gb_engine *engine, int timeout_ms);

/* Make a gb_step() that waits return. May be called from any thread and from a signal handler. */
GB_API void gb_wake(struct gb_engine *engine);

/* How many boxes stand ready for the next request. */
GB_API int gb_waiting(const struct gb_engine *engine);

/* The resolved plan for a request, as JSON: what would be mounted, limited and forbidden.
 * Runs nothing of the request. The caller frees it; NULL only when memory ran out. */
GB_API char *gb_explain(struct gb_engine *engine, const char *request);

/* What this host allows, what is missing, why, and what would fix it, with a self-test from
 * inside a box, as JSON. The caller frees it; NULL only when memory ran out. */
GB_API char *gb_doctor(struct gb_engine *engine);

/* What a shell finds where its commands run: which shell, version, system, directory, and which of
 * "tools" there are, with their versions, as JSON, with a "text" about it for a model
 * (docs/shell.md). `options` is a JSON object or NULL: "tools" (names), "timeout" (seconds for
 * each), "request" (keys that the commands will have). Blocks like gb_run(). The caller frees it;
 * NULL only when memory ran out. */
GB_API char *gb_probe(struct gb_engine *engine, const char *options);

/* Is the audit file at `path` what its writers wrote (docs/audit.md)? As JSON: "ok", "problems" and
 * more, or "error" when the file cannot be read. `expect` is the hash of a line that must be in it,
 * or NULL. The caller frees it; NULL only when memory ran out. */
GB_API char *gb_audit_verify(const char *path, const char *expect);

#ifdef __cplusplus
}
#endif

#endif /* GLOVEBOX_H */
