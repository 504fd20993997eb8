# A forbidden attribute whose letters are mathematical.
# reaches: builtins.object.__subclasses__
# proof: REACHED() == type.__subclasses__(object)
REACHED = object.__𝓈ubclasses__
