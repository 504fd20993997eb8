# Words that multiply: brace expansion and globs over and over.
#: expect: limit | error | crashed | timeout | silent
echo {1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9} > /dev/null
