t = 'a {0.x} {y[z].w:{v.u}} {{}}'
t.format(1)
'{}'.format
str.format('{0.__class__}', 1)
('a' + 'b{}').format(2)
f'{a!r:>{b}} {c=}'
'%s' % 1
x.format_map({})
