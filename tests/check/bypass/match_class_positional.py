# A class whose __match_args__ name forbidden attributes.
# reaches: builtins.__dict__
# needs: 3.10
# proof: REACHED["eval"] is eval
class Meta(type):
    def __instancecheck__(cls, other):
        return True


class Any(metaclass=Meta):
    __match_args__ = ("__self__",)


match print:
    case Any(module):
        match module:
            case object(__dict__=d):
                REACHED = d
