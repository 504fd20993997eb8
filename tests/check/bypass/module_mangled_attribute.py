# An attribute whose name a class mangles.
# reaches: builtins.license
class Printer:
    def change(self, thing):
        thing.__filenames = ["/etc/hostname"]
        return thing


REACHED = Printer().change(license)
