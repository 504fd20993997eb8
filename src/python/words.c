#include "python/words.h"

#include <stdbool.h>
#include <string.h>

enum {
    TABLE_SIZE = 2048 /* a power of two, well above the number of words */
};

static const struct group {
    uint32_t word;
    const char *list;
} groups[] = {
    { WORD_DUNDER_READ,
      "__name__ __qualname__ __doc__ __class__ __module__ __init__ __new__ __post_init__ __del__ "
      "__str__ __repr__ __bytes__ __format__ __bool__ __hash__ __len__ __length_hint__ "
      "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__ __iter__ __next__ __reversed__ "
      "__aiter__ __anext__ __await__ __call__ __enter__ __exit__ __aenter__ __aexit__ "
      "__getitem__ __setitem__ __delitem__ __missing__ __class_getitem__ __init_subclass__ "
      "__int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__ "
      "__abs__ __neg__ __pos__ __invert__ __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ "
      "__mul__ __rmul__ __imul__ __matmul__ __rmatmul__ __imatmul__ __truediv__ __rtruediv__ "
      "__itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__ __divmod__ "
      "__rdivmod__ __pow__ __rpow__ __ipow__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ "
      "__xor__ __rxor__ __ixor__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ "
      "__irshift__ __cause__ __context__ __suppress_context__ __notes__ __members__ __wrapped__ "
      "__slots__ __match_args__ __all__ __version__ __author__ __copy__ "
      "__deepcopy__ __fspath__ __concat__ __prepare__ __total__ __required_keys__ "
      "__optional_keys__ __instancecheck__ __subclasscheck__ __setattr__ __delattr__" },
    { WORD_DUNDER_WRITE,
      "__name__ __qualname__ __doc__ __module__ __wrapped__ __cause__ __context__ "
      "__suppress_context__ __notes__ __version__ __author__" },
    { WORD_DUNDER_DEFINE,
      "__init__ __new__ __post_init__ __del__ __str__ __repr__ __bytes__ __format__ __bool__ "
      "__hash__ __len__ __length_hint__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__ "
      "__iter__ __next__ __reversed__ __aiter__ __anext__ __await__ __call__ __enter__ __exit__ "
      "__aenter__ __aexit__ __getitem__ __setitem__ __delitem__ __missing__ __class_getitem__ "
      "__init_subclass__ __set_name__ __get__ __set__ __delete__ __getattr__ __getattribute__ "
      "__setattr__ __delattr__ __dir__ __int__ __float__ __complex__ __index__ __round__ "
      "__trunc__ __floor__ __ceil__ __abs__ __neg__ __pos__ __invert__ __add__ __radd__ __iadd__ "
      "__sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __matmul__ __rmatmul__ __imatmul__ "
      "__truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ "
      "__rmod__ __imod__ __divmod__ __rdivmod__ __pow__ __rpow__ __ipow__ __and__ __rand__ "
      "__iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__ __lshift__ __rlshift__ "
      "__ilshift__ __rshift__ __rrshift__ __irshift__ __slots__ __match_args__ __doc__ "
      "__version__ __author__ __copy__ __deepcopy__ __fspath__ __sizeof__ __subclasshook__ "
      "__instancecheck__ __subclasscheck__ __prepare__ __mro_entries__ __name__ __qualname__ "
      "__all__ __test__ __wrapped__ __getstate__ __setstate__ __buffer__ "
      "__release_buffer__ __replace__" },
    { WORD_DUNDER_NAME, "__name__ __doc__ __file__ __debug__ __class__ __all__ __version__ "
                        "__author__ __slots__ __match_args__ __test__ __license__ __email__ "
                        "__date__ __qualname__ __module__" },
    { WORD_MODULE_READ, "__name__ __doc__ __version__ __author__" },
    { WORD_SUNDER, "_asdict _replace _fields _make _field_defaults _field_types _value_ _name_ "
                   "_missing_ _generate_next_value_ _ignore_ _order_ _numeric_repr_" },
    { WORD_INTERNAL,
      "gi_frame gi_code gi_yieldfrom gi_suspended cr_frame cr_code cr_await cr_origin ag_frame "
      "ag_code ag_await tb_frame tb_next tb_lasti tb_lineno f_back f_builtins f_code f_globals "
      "f_locals f_trace f_lasti f_lineno f_generator co_code co_consts co_names co_varnames "
      "co_freevars co_cellvars co_filename co_flags co_name co_qualname co_stacksize co_argcount "
      "co_posonlyargcount co_kwonlyargcount co_nlocals co_firstlineno co_lnotab co_linetable "
      "co_exceptiontable co_lines co_positions func_globals func_code func_closure func_defaults "
      "im_func im_self mro cell_contents _convert_" },
    { WORD_LOOP,
      "subprocess_exec subprocess_shell create_connection create_server create_unix_connection "
      "create_unix_server create_datagram_endpoint connect_read_pipe connect_write_pipe "
      "connect_accepted_socket sock_connect sock_accept sock_recv sock_recv_into sock_recvfrom "
      "sock_recvfrom_into sock_sendall sock_sendto sock_sendfile add_reader add_writer "
      "remove_reader remove_writer getaddrinfo getnameinfo start_tls sendfile get_extra_info "
      "create_subprocess_exec create_subprocess_shell get_stack get_child_watcher "
      "set_child_watcher" },
    { WORD_MODULE, "os sys subprocess socket builtins importlib ctypes shutil posix nt posixpath "
                   "ntpath genericpath pathmod runpy zipimport linecache sre_compile sre_parse "
                   "pickle marshal multiprocessing" },
    /* For an interpreter that does not say (3.9). */
    { WORD_STANDARD,
      "abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop "
      "base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath "
      "cmd code codecs codeop collections colorsys compileall concurrent configparser "
      "contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm "
      "decimal difflib dis distutils doctest email encodings ensurepip enum errno "
      "faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc "
      "genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http "
      "idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword "
      "lib2to3 linecache locale logging lzma macpath mailbox mailcap marshal math mimetypes "
      "mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path "
      "numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools "
      "pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd "
      "py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib "
      "resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal "
      "site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants "
      "sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol "
      "symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap "
      "this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc "
      "tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings "
      "wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile "
      "zipimport zlib zoneinfo" },
    { WORD_LEXICAL, "join split splitext splitdrive splitroot basename dirname normpath normcase "
                    "isabs commonpath commonprefix relpath sep altsep extsep pathsep curdir pardir "
                    "defpath devnull" },
    { WORD_IMPLICIT, "object super property staticmethod classmethod complex NotImplemented "
                     "Ellipsis __debug__ True False None" },
    { WORD_READER, "get items keys values copy __contains__ __getitem__ __len__ __iter__" },
    { WORD_INTROSPECT, "__dict__ __class__ __bases__ __base__ __mro__ __subclasses__ __globals__ "
                       "__code__ __builtins__" },
    { WORD_ESCAPE, "__subclasses__ __globals__ __code__ __builtins__" },
    { WORD_ROAD_PATHLIB, "parser _flavour pathmod _accessor _globber _raw_path" },
    { WORD_ROAD_ASYNCIO,
      "_ssock _csock _selector _sock _sockets _proc _popen _transport _extra "
      "_make_socket_transport "
      "_make_subprocess_transport _make_ssl_transport _make_datagram_transport "
      "_make_read_pipe_transport _make_write_pipe_transport _create_connection_transport "
      "_connect_sock _sock_connect _sock_recv _sock_sendall _sock_accept _accept_connection "
      "_accept_connection2 _start_serving _getaddrinfo_debug _ensure_resolved _add_reader "
      "_add_writer _child_watcher_callback _signal_handlers" },
    { WORD_ROAD_TYPING, "_evaluate evaluate _inst" },
    { WORD_ROAD_ERROR, "obj" },
    { WORD_ROAD_FIELD, "_field_type" },
    { WORD_ROAD_VIEW, "_mapping _data" },
    { WORD_TOLD, "format format_map register __setattr__ __delattr__" },
    { WORD_KEY, "__builtins__ __import__ __globals__ __subclasses__ __loader__ __spec__ "
                "__build_class__ __mro__ __bases__ __base__ __code__ __closure__ "
                "__getattribute__ __self__ __dict__" },
    { WORD_ATTRIBUTE_FN, "getattr setattr delattr hasattr" },
};

static struct {
    const char *text;
    size_t len;
    uint32_t words;
} table[TABLE_SIZE];

static uint32_t slot_of(const char *text, size_t len)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    hash &= TABLE_SIZE - 1;
    while (table[hash].text && (table[hash].len != len || memcmp(table[hash].text, text, len) != 0))
        hash = (hash + 1) & (TABLE_SIZE - 1);
    return hash;
}

void words_prepare(void)
{
    static bool is_done;

    if (is_done)
        return;
    is_done = true;
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        for (const char *at = groups[g].list; *at;) {
            size_t len = strcspn(at, " ");
            uint32_t slot = slot_of(at, len);

            table[slot].text = at;
            table[slot].len = len;
            table[slot].words |= groups[g].word;
            at += len;
            at += strspn(at, " ");
        }
    }
}

uint32_t words_of(const char *text, size_t len)
{
    uint32_t words = table[slot_of(text, len)].words;

    if (len > 4 && memcmp(text, "__", 2) == 0 && memcmp(text + len - 2, "__", 2) == 0)
        words |= WORD_DUNDER;
    else if (len > 0 && text[0] == '_')
        words |= WORD_PRIVATE;
    return words;
}

bool list_has(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n == len && memcmp(at, word, n) == 0)
            return true;
        at += n;
    }
    return false;
}
