/*
 * What a guest says, which is hostile. A kind of frame has its bound and its time; anything else
 * ends the run.
 */
#include "backend/frames.h"

#include <string.h>

#include "backend/seat.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "python/protocol.h"

_Static_assert((int)DISPLAY_MAX >= (int)FRAME_MAX, "a buffer for the larger takes all");

/* The JSON of a frame that is all there, or NULL if it is not what we would read. */
static json_t *frame_json(const char *text, size_t len)
{
    json_t *json;

    if (json_count_items(text, len) > FRAME_ITEMS_MAX)
        return NULL;
    json = json_loadb(text, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json) && json_depth(json) <= FRAME_DEPTH_MAX)
        return json;
    json_decref(json);
    return NULL;
}

/* Once, and only from the check: the program that it let pass has never seen the token. It waits
 * for this to have been read: once it runs it could read the pipe itself, token
 * and all, and speak for the check. */
static const char *take_checked(struct host_box *box, const struct frame *head, json_t *found,
                                const char *text)
{
    (void)text;
    if (box->is_checked || head->token != box->token)
        return "a second word on the check, or not the check's own";
    box->is_checked = true;
    if (box->is_ending)
        return NULL; /* it died waiting: nobody need be asked about it */
    box->callbacks->checked(box->callbacks->data, box, found);
    if (!box->is_held)
        host_box_send_go(box);
    return NULL;
}

/* The program is at its end and has flushed. Its exit ends the box and whatever else lives
 * there; killing it instead would lose the kernel's account of what it used. */
static const char *take_done(struct host_box *box, const struct frame *head, json_t *answer,
                             const char *text)
{
    struct timeval late = { .tv_sec = BOX_LINGER_S };

    (void)text;
    if (box->seat)
        return seat_done(box, head, answer);
    box->answer = json_incref(answer);
    box->is_verdict = head->token == box->token && !box->is_checked;
    (void)event_del(box->on_answer);
    (void)evtimer_add(box->on_late, &late);
    return NULL;
}

static const char *take_display(struct host_box *box, const struct frame *head, json_t *shown,
                                const char *text)
{
    (void)head;
    (void)text;
    box->callbacks->display(box->callbacks->data, box, shown);
    return NULL;
}

/* May it show this much more? A guest that keeps on is not read any further: that costs no more
 * than what it prints. */
static bool has_room(struct host_box *box, const struct frame *head)
{
    if (box->is_display_full)
        return false;
    box->is_display_full = box->display_things >= DISPLAY_THINGS_MAX ||
                           head->len > DISPLAY_RUN_MAX - box->display_bytes;
    if (box->is_display_full) {
        box->callbacks->display(box->callbacks->data, box, NULL);
        return false;
    }
    box->display_things++;
    box->display_bytes += head->len;
    return true;
}

static const char *take_word(struct host_box *box, const struct frame *head, json_t *json,
                             const char *text)
{
    struct run_word word = { .kind =
                                 head->kind == FRAME_TOOL_CALL ? WORD_TOOL_CALL : WORD_TOOL_CANCEL,
                             .json = json,
                             .text = text,
                             .len = head->len };

    if (!box->has_tools || head->token != box->tool_token)
        return "a tool call that did not come from the program's own runtime";
    if (box->is_ending || box->killed || (box->seat && !seat_is_running(box)))
        return NULL; /* nobody is left to hear the answer */
    return box->callbacks->word(box->callbacks->data, box, &word);
}

static const char *take_copy(struct host_box *box, const struct frame *head, json_t *json,
                             const char *text)
{
    (void)head;
    (void)text;
    return seat_copied(box, json);
}

enum sender {
    ALONE = 1, /* the program of a box that is its own */
    SEATED = 2 /* a session */
};

/* What a guest may send, and how much of it. */
static const struct frame_taker {
    enum frame_kind kind;
    unsigned from;
    uint32_t max;   /* bytes */
    bool has_begun; /* only a program that runs sends it */
    bool (*has_room)(struct host_box *box, const struct frame *head); /* NULL: always */
    const char *(*take)(struct host_box *box, const struct frame *head, json_t *json,
                        const char *text);
} takers[] = {
    { FRAME_DONE, ALONE | SEATED, FRAME_MAX, false, NULL, take_done },
    { FRAME_CHECKED, ALONE, FRAME_MAX, false, NULL, take_checked },
    { FRAME_SESSION, SEATED, FRAME_MAX, false, NULL, take_copy },
    { FRAME_TOOL_CALL, ALONE | SEATED, TOOL_CALL_MAX, true, NULL, take_word },
    { FRAME_TOOL_CANCEL, ALONE | SEATED, TOOL_CALL_MAX, true, NULL, take_word },
    { FRAME_DISPLAY, ALONE | SEATED, DISPLAY_MAX, true, has_room, take_display },
};

static bool has_begun(const struct host_box *box)
{
    return box->seat ? seat_has_cell(box) : !box->is_held;
}

static const struct frame_taker *taker_of(const struct host_box *box, const struct frame *head)
{
    unsigned from = box->seat ? SEATED : ALONE;

    for (size_t i = 0; i < ARRAY_LEN(takers) && box->state >= BOX_RUNNING; i++)
        if (takers[i].kind == head->kind && (takers[i].from & from) != 0)
            return takers[i].has_begun && !has_begun(box) ? NULL : &takers[i];
    return NULL;
}

/* Returns NULL, or what is wrong with it. */
static const char *take_content(struct host_box *box, const struct frame_taker *taker,
                                const struct frame *head, const char *text)
{
    int64_t began = clock_us();
    auto_json json_t *json = NULL;

    if (taker->has_room && !taker->has_room(box, head))
        return NULL;
    json = frame_json(text, head->len);
    box->parse_us += clock_us() - began;
    return json ? taker->take(box, head, json, text)
                : "a frame that is no JSON object, or too deep, or of too many items";
}

/* Take the frame at `text`, if it is all there. Returns its length, 0 if it is not. */
static size_t take_frame(struct host_box *box, const char *text, size_t len)
{
    const struct frame_taker *taker;
    const char *problem;
    struct frame head;

    if (len < sizeof(head))
        return 0;
    memcpy(&head, text, sizeof(head));
    taker = taker_of(box, &head);
    if (!taker)
        problem = "something that is no frame, or not of a kind that programs send";
    else if (head.len > taker->max)
        problem = "a frame that is larger than frames may be";
    else if (len < sizeof(head) + head.len)
        return 0;
    else
        problem = take_content(box, taker, &head, text + sizeof(head));
    if (problem)
        host_box_forged(box, problem);
    return problem ? 0 : sizeof(head) + head.len;
}

void frames_take(struct host_box *box)
{
    size_t at = 0, n;

    do {
        n = take_frame(box, box->in.data + at, box->in.len - at);
        at += n;
    } while (n > 0 && !host_box_has_answered(box));
    box->in.len -= at;
    memmove(box->in.data, box->in.data + at, box->in.len);
}
