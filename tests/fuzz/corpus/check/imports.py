import os.path as p, sys
from os import environ as e, path, system
from os.path import join, exists
from typing import *
from . import x
from ..a.b import c
from pathlib import os
import xml.etree.ElementTree as ET, collections.abc
from __future__ import annotations
e |= {}
e['a'] = 1
del e['a']
p.join, p.exists, p.os
