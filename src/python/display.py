"""Rich output: the forms of a thing, figures, and what to do with what is too large to send.

Compiled into the interpreter extension, and into a guest when it first displays something. It runs
in the box, beside the code that it serves, and nothing on the engine's side relies on it.

A form is a media type and its content: text, or bytes where the type is not one of text.
"""

import sys

send = room = workspace = FORMS_MAX = None  # display.c puts its own here
REPR_MAX = 64 << 10
METHODS = (
    ("text/html", "_repr_html_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("application/pdf", "_repr_pdf_"),
    ("text/markdown", "_repr_markdown_"),
    ("text/latex", "_repr_latex_"),
    ("application/javascript", "_repr_javascript_"),
    ("application/json", "_repr_json_"),
)
EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "application/pdf": "pdf",
    "application/json": "json",
    "text/html": "html",
}

shown = {}  # the picture last displayed of each open figure, as a hash, by the figure's id


def warn(what, exc):
    """Rendering is not the program's work: what goes wrong is said, and the program goes on."""
    try:
        print(f"display: {what}: {type(exc).__name__}: {exc}", file=sys.stderr)
    except Exception:
        pass


# ---- the forms of a thing ----


def is_text(mime):
    return mime.startswith("text/") or mime.endswith(("/json", "+json", "/xml", "+xml", "/javascript"))


def text_of(content, mime):
    if isinstance(content, (bytes, bytearray, memoryview)):
        content = bytes(content).decode("utf-8", "replace")
    elif not isinstance(content, str):
        if not mime.endswith("json"):
            raise TypeError(f"{mime} must be text, not {type(content).__name__}")
        import json

        content = json.dumps(content)
    return content.encode("utf-8", "replace").decode()  # no lone surrogates


def bytes_of(content, mime):
    if isinstance(content, str):  # as notebooks keep it
        import binascii

        return binascii.a2b_base64(content)
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"{mime} must be bytes, not {type(content).__name__}")
    return bytes(content)


def add_form(forms, mime, content):
    """Add what an object gave; it may come with metadata, and may be nothing."""
    if isinstance(content, tuple) and len(content) == 2:
        content = content[0]
    if content is not None and mime not in forms and len(forms) < FORMS_MAX:
        mime = mime.lower()
        forms[mime] = text_of(content, mime) if is_text(mime) else bytes_of(content, mime)


def ask(obj, method, **options):
    """What a method of the object's type gives, if it has it."""
    if getattr(type(obj), method, None) is None:
        return None
    try:
        return getattr(obj, method)(**options)
    except NotImplementedError:
        return None
    except Exception as exc:
        warn(f"{method} of {type(obj).__name__}", exc)
        return None


def bundle_of(obj):
    bundle = ask(obj, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(bundle, tuple) and bundle:
        bundle = bundle[0]
    return bundle.items() if isinstance(bundle, dict) else ()


def plain(obj):
    text = repr(obj)
    if len(text) > REPR_MAX:
        text = f"{text[:REPR_MAX]}... ({len(text) - REPR_MAX} more characters)"
    return text


def candidates(obj):
    """Types, and what the object has to say to each, the richest first."""
    yield from bundle_of(obj)
    for mime, method in METHODS:
        yield mime, ask(obj, method)
    try:
        yield "text/plain", plain(obj)
    except Exception as exc:
        warn(f"repr of {type(obj).__name__}", exc)
        yield "text/plain", f"<{type(obj).__name__} that cannot be shown>"


def forms_of(obj):
    figure = getattr(sys.modules.get("matplotlib.figure"), "Figure", None)
    if figure is not None and isinstance(obj, figure) and has_content(obj):
        return picture_of(obj)
    forms = {}
    for mime, content in candidates(obj):
        try:
            add_form(forms, mime, content)
        except Exception as exc:
            warn(f"{mime} of {type(obj).__name__}", exc)
    plain_last = forms.pop("text/plain", None)
    if plain_last is not None:
        forms["text/plain"] = plain_last
    return forms


# ---- sending ----


def size_of(content):
    """How much of the answer it takes."""
    return len(content.encode()) if isinstance(content, str) else -(-len(content) // 3) * 4


def encoded(mime, content):
    if isinstance(content, bytes):
        import binascii

        content = binascii.b2a_base64(content, newline=False).decode()
    return {"mime": mime, "data": content}


def save(mime, content):
    """Write it to a new file in the workspace; its name."""
    import os

    extension = EXTENSIONS.get(mime, "txt" if is_text(mime) else "bin")
    data = content.encode() if isinstance(content, str) else content
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    number = 1
    while True:
        name = f"display-{number}.{extension}"
        path = os.path.join(workspace(), name)
        try:
            fd = os.open(path, flags, 0o644)
        except FileExistsError:
            number += 1
            continue
        try:
            with open(fd, "wb") as file:
                file.write(data)
        except OSError:
            os.unlink(path)  # half a picture is none
            raise
        return name


def omitted(mime, content):
    """A note instead of the form, which becomes a file."""
    note = f"[output omitted: {mime} of {size_of(content)} bytes is too large"
    try:
        return encoded("text/plain", f"{note}; written to {save(mime, content)}]")
    except Exception as exc:
        return encoded("text/plain", f"{note}, and could not be written to a file: {exc}]")


def flush():
    """What was printed before comes before."""
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except Exception:
            pass


def print_instead(forms):
    """In a process that the program started: only its first process is heard."""
    texts = [content for content in forms.values() if isinstance(content, str)]
    print(forms.get("text/plain") or (texts or [f"[{', '.join(forms)}]"])[0])


def send_last(forms):
    """There are too many: say so once, and keep pictures as files."""
    send([encoded("text/plain", "[output omitted: too many were displayed; further pictures are files]")])
    for mime, content in forms.items():
        if isinstance(content, bytes):
            try:
                save(mime, content)
            except OSError as exc:
                warn(mime, exc)


def emit(forms):
    left = room()
    if left is None:
        print_instead(forms)
        return
    things, left = left
    flush()
    if things <= 1:
        send_last(forms)
        return
    fit = {}
    for mime, content in forms.items():
        size = size_of(content)
        if size <= left:
            left -= size
            fit[mime] = encoded(mime, content)
        else:
            fit[mime] = omitted(mime, content)
    if not send(list(fit.values())):  # most of it needed escapes
        send([omitted(mime, forms[mime]) for mime, form in fit.items() if form["mime"] == mime])


def display(*objects):
    for obj in objects:
        forms = forms_of(obj)
        if forms:
            emit(forms)


def display_value(obj):
    """The last expression: its repr is the result's value already."""
    forms = forms_of(obj)
    if forms.keys() - {"text/plain"}:
        emit(forms)


# ---- figures ----


def picture_of(figure):
    import io

    file = io.BytesIO()
    try:
        figure.savefig(file, format="png", bbox_inches="tight")
    except Exception as exc:
        warn("drawing a figure", exc)
        return {}
    shown[id(figure)] = hash(file.getvalue())
    return {"image/png": file.getvalue()}


def has_content(figure):
    return len(figure.get_children()) > 1  # its background is one


def open_figures():
    """Those that pyplot keeps and that have something in them, in the order of their making."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    managers = helpers.Gcf.get_all_fig_managers() if helpers else []
    figures = [manager.canvas.figure for manager in sorted(managers, key=lambda it: it.num)]
    return [it for it in figures if has_content(it)]


def show_figures():
    """Display the open figures and close them all. One that was displayed before is displayed again
    only if it has changed since."""
    try:
        for figure in open_figures():
            before = shown.get(id(figure))
            forms = picture_of(figure)
            if forms and before != shown[id(figure)]:
                emit(forms)
        shown.clear()
        sys.modules["matplotlib.pyplot"].close("all")
    except Exception as exc:
        warn("the open figures", exc)


def find_pyplot(name, path=None, target=None):
    """The spec that the other finders have for pyplot, with something added to its loading."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(name, path, target) if find else None
        if spec is not None:
            break
    else:
        return None
    load = spec.loader.exec_module

    def exec_module(module):
        load(module)
        adopt(module)

    spec.loader.exec_module = exec_module
    return spec


def adopt(pyplot):
    """Showing a figure displays it: there is no window, and nobody to close one."""

    def show(*args, **kwargs):
        """Display all open figures, and close them."""
        show_figures()

    def show_one(manager):
        display(manager.canvas.figure)

    try:
        pyplot.show = show
        sys.modules["matplotlib.backend_bases"].FigureManagerBase.show = show_one
    except Exception as exc:
        warn("pyplot", exc)
