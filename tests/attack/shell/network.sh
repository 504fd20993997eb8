# bash has sockets of its own.
(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo "ESCAPED: a port of the host"
(exec 3<>/dev/tcp/1.1.1.1/53) 2>/dev/null && echo "ESCAPED: the internet"
(echo x > /dev/udp/1.1.1.1/53) 2>/dev/null && [ "$(ip route 2>/dev/null | grep -c default)" != 0 ] && echo "ESCAPED: datagrams"
for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket; do
    [ -S "$s" ] && [ -r "$s" ] && python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect('$s'); print('ESCAPED: $s')" 2>/dev/null
done
echo HELD
