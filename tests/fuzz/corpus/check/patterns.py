import subprocess, base64, urllib.request
from http import client
while 1:
    for a in b: break
while not 0: break
for i in range(0, 10**9, 2): pass
[j for j in range(5 * 10 ** 7)]
b'A' * (200 * 1024 * 1024)
[0] * 999999999
'rm   -rf /'; 'dd if=/dev/zero'; 'mkfs.ext4'; 'del /f /s /q'; '../../../x'
getattr(os, 'sys' + 'tem')('x')
__import__('os').system('x')
sys.modules['os'].popen
().__class__.__bases__[0].__subclasses__()
subprocess.run
bytes.fromhex('00')
base64.b64decode(x)
