/*
 * A guest sends a thing as {"forms": [{"mime", "data"}, ...]}. Whoever displays a result hands the
 * data to programs that trust its type, so each form is looked at: a type that is none, binary data
 * that is no base64. One that is wrong becomes a note, and the others stay.
 */
#include "engine/outputs.h"

#include "base/json.h"
#include "base/mime.h"
#include "base/own.h"
#include "base/parse.h"
#include "python/protocol.h"

static json_t *note(const char *why)
{
    return json_pack("{s:s,s:o}", "mime", "text/plain", "data",
                     json_sprintf("[output omitted: %s]", why));
}

static json_t *clean_form(const json_t *form)
{
    json_t *mime = json_object_get(form, "mime"), *data = json_object_get(form, "data");

    if (!json_is_string(mime) || !mime_is_valid(json_string_value(mime), json_string_length(mime)))
        return note("its type is none");
    if (!json_is_string(data))
        return note("it has no data");
    if (!mime_is_text(json_string_value(mime)) &&
        !base64_is_valid(json_string_value(data), json_string_length(data)))
        return note("it is binary, and not base64");
    return json_pack("{s:O,s:O}", "mime", mime, "data", data);
}

/* All forms of a thing, of which the first is the thing and the others say the same. */
static json_t *clean_forms(const json_t *forms)
{
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(forms) && i < DISPLAY_FORMS_MAX; i++) {
        json_t *form = clean_form(json_array_get(forms, i));

        if (i > 0)
            json_object_set_new(form, "alternative", json_true());
        json_array_append_new(list, form);
    }
    if (json_array_size(list) == 0)
        json_array_append_new(list, note("it has no form"));
    return list;
}

void outputs_add(struct gb_job *job, const json_t *shown)
{
    auto_json json_t *forms = NULL;
    auto_free char *text = NULL;

    if (shown) {
        forms = clean_forms(json_object_get(shown, "forms"));
    } else {
        forms = json_array();
        json_array_append_new(forms, note("more was displayed than a run may"));
    }
    json_array_extend(json_object_get(job->result, "outputs"), forms);
    if (!job->callbacks.display)
        return;
    text = json_text(forms);
    if (text)
        job->callbacks.display(job->callbacks.data, job, text);
}
