# A private function of a part of collections.
# reaches: collections.abc._CallableGenericAlias
import collections.abc
REACHED = collections.abc._CallableGenericAlias
