ｅｖａｌ('1')
name_é = 'ü'; x.__ｇｌｏｂａｌｓ__
if a:
    '\ud800'
# -*- coding: latin-1 -*-
