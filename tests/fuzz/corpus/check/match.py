from collections import namedtuple
P = namedtuple('P', 'a b')
match x:
    case P(a, b=c) | [P(), *a]: pass
    case {'k': v, **rest} if v: pass
    case object(__class__=d): pass
    case -1 | 1+2j | None | 'a': pass
    case os.sep: pass
    case _: pass
