# Here-documents and here-strings that grow: bash keeps them in memory or in files of the box.
#: options: -t 1.5
#: expect: limit | error | crashed | timeout | silent
x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
for i in $(seq 40); do x="$x$x"; cat <<END >/dev/null
$x
END
done
